import type { CoreSnapshot } from './snapshot-format.js';

/** The entries of what may be long in a snapshot. */
export interface SnapshotLists {
  readonly specs: CoreSnapshot['specs'][number];
  readonly tasks: CoreSnapshot['tasks'][number];
  readonly strays: CoreSnapshot['strays'][number];
  readonly edges: CoreSnapshot['edges'][number];
  readonly kept: CoreSnapshot['kept'][number];
  readonly series: CoreSnapshot['series'][number];
  readonly keys: NonNullable<CoreSnapshot['keys']>[number];
  /** Final states of forgotten tasks. */
  readonly named: CoreSnapshot['tombstones']['named'][number];
  readonly numbered: CoreSnapshot['tombstones']['numbered'][number];
  /** Ready tasks of paused channels, by the place of the channel among these. */
  readonly held: readonly [channel: number, sequence: number];
}

/** What may be long in a snapshot, by name. */
export type ListName = keyof SnapshotLists;

/** A piece of one of the lists: it comes after all earlier pieces of the same list. */
export type SnapshotPart = {
  readonly [List in ListName]: { readonly list: List; readonly entries: readonly SnapshotLists[List][] };
}[ListName];

/** Puts a snapshot together from its head, which may hold some of it already, and its parts. */
export class SnapshotPuzzle {
  private readonly lists: { readonly [List in ListName]: SnapshotLists[List][] } = {
    ...{ specs: [], tasks: [], strays: [], edges: [], kept: [] },
    ...{ series: [], keys: [], named: [], numbered: [], held: [] },
  };

  /** Whether there is a list with this name. */
  hasList(name: unknown): name is ListName {
    return typeof name === 'string' && Object.hasOwn(this.lists, name);
  }

  add({ list, entries }: SnapshotPart): void {
    const all: unknown[] = this.lists[list];
    for (const entry of entries) all.push(entry);
  }

  whole(head: CoreSnapshot): CoreSnapshot {
    const { keys, named, numbered, held, ...lists } = this.lists;
    const paused = head.paused.map(([name, sequences]): [string, number[]] => [name, [...sequences]]);
    for (const [channel, sequence] of held) paused[channel]?.[1].push(sequence);
    return {
      ...head,
      ...lists,
      paused,
      keys: [...(head.keys ?? []), ...keys],
      tombstones: {
        named: [...head.tombstones.named, ...named],
        numbered: [...head.tombstones.numbered, ...numbered],
      },
    };
  }
}
