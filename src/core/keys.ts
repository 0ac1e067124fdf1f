import type { Task, TaskSpec } from '../model/index.js';

/**
 * What is known of a key: the unfinished task that has it, and when the last throttled one started. It is replaced, never
 * changed: whoever has a copy of the list may read it later.
 */
interface Entry {
  readonly task: Task | undefined;
  readonly startedAt: number;
  /** Until when the last start matters to anybody, epoch milliseconds. */
  readonly until: number;
}

const NOTHING: Entry = { task: undefined, startedAt: -Infinity, until: -Infinity };

/** A key as plain data. */
export type KeyRecord = readonly [
  name: string,
  sequence: number | null,
  startedAt: number | null,
  until: number | null,
];

/**
 * The keys by which calls share tasks. A key is in use while a task with it is unfinished, and for a throttled one until
 * its period is over; it is forgotten after that.
 */
export class Keys {
  private readonly entries = new Map<string, Entry>();
  private sweepAt = 64;

  /** The unfinished task that came last with the key of the spec. */
  taskFor(spec: TaskSpec): Task | undefined {
    const name = nameOf(spec);
    return name === undefined ? undefined : this.entries.get(name)?.task;
  }

  /** When the last throttled task with the key of the spec started; `-Infinity` if its period is over, or it never did. */
  startedAt(spec: TaskSpec, wall: number): number {
    const name = nameOf(spec);
    const entry = name === undefined ? undefined : this.entries.get(name);
    return entry !== undefined && entry.until > wall ? entry.startedAt : -Infinity;
  }

  /** A task with a key has come in. */
  enter(task: Task, wall: number): void {
    const name = nameOf(task.spec);
    if (name === undefined) return;
    this.entries.set(name, { ...this.entryFor(name, wall), task });
  }

  /** Its first attempt has started. */
  began({ spec }: Task, wall: number): void {
    const name = nameOf(spec);
    const periodMs = spec.rare?.throttleMs;
    if (name === undefined || periodMs === undefined) return;
    this.entries.set(name, { ...this.entryFor(name, wall), startedAt: wall, until: wall + periodMs });
  }

  /** It has ended. */
  ended(task: Task, wall: number): void {
    const name = nameOf(task.spec);
    const entry = name === undefined ? undefined : this.entries.get(name);
    if (name === undefined || entry?.task !== task) return;
    if (entry.until <= wall) this.entries.delete(name);
    else this.entries.set(name, { ...entry, task: undefined });
  }

  /** It is unfinished again, and has its key back unless another one has it by now. */
  revived(task: Task, wall: number): void {
    if (this.taskFor(task.spec) === undefined) this.enter(task, wall);
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.entries.size;
  }

  /** What matters of this moment from then on, to be walked whenever there is time; `undefined` is a step without a key. */
  save(wall: number): Iterable<KeyRecord | undefined> {
    return recordsOf([...this.entries.keys()], [...this.entries.values()], wall);
  }

  /** Takes back what was saved. */
  load(records: readonly KeyRecord[], bySequence: (sequence: number) => Task): void {
    for (const [name, sequence, startedAt, until] of records) {
      const task = sequence === null ? undefined : bySequence(sequence);
      this.entries.set(name, { task, startedAt: startedAt ?? -Infinity, until: until ?? -Infinity });
    }
    this.sweepAt = Math.max(64, 2 * this.entries.size);
  }

  private entryFor(name: string, wall: number): Entry {
    const known = this.entries.get(name);
    if (known !== undefined && !isOver(known, wall)) return known;
    // It comes last, as if it had been forgotten: the order in which keys are saved must not depend on what was swept.
    this.entries.delete(name);
    // Sweeping each time the number has doubled keeps keys that are over from piling up at constant cost.
    if (this.entries.size >= this.sweepAt) {
      for (const [each, entry] of this.entries) if (isOver(entry, wall)) this.entries.delete(each);
      this.sweepAt = Math.max(64, 2 * this.entries.size);
    }
    return NOTHING;
  }
}

function isOver({ task, until }: Entry, wall: number): boolean {
  return task === undefined && until <= wall;
}

function* recordsOf(
  names: readonly string[],
  entries: readonly Entry[],
  wall: number,
): Iterable<KeyRecord | undefined> {
  for (const [i, name] of names.entries()) {
    const entry = entries[i] as Entry;
    const { task, startedAt, until } = entry;
    const counts = until > wall;
    if (isOver(entry, wall)) yield undefined;
    else yield [name, task?.sequence ?? null, counts ? startedAt : null, counts ? until : null];
  }
}

/** Definitions do not share keys with each other; neither may hold a line break. */
function nameOf({ type, rare }: TaskSpec): string | undefined {
  return rare?.key === undefined ? undefined : `${type}\n${rare.key}`;
}
