import { rmSync } from 'node:fs';
import { Core, type CoreSnapshot } from '../../src/core/index.js';
import type { Fact } from '../../src/model/index.js';
import { SnapshotReader } from '../../src/runtime/snapshot-text.js';
import { copyOf, storeAt, type StoreKind } from './store-kinds.js';

/** What a store holds after its process has died. */
export interface Left {
  /** Of the last record. */
  readonly sequence: number;
  readonly snapshot: CoreSnapshot | undefined;
  /** The records after it, by number. */
  readonly tail: ReadonlyMap<number, string>;
}

/** Looks without a trace: the next process finds everything as the dead one has left it. */
export async function leftIn(kind: StoreKind, directory: string, scratch: string): Promise<Left> {
  const store = storeAt(kind, copyOf(directory, scratch));
  try {
    const { sequence } = await store.open();
    const reader = new SnapshotReader(kind, () => undefined);
    const tail = new Map<number, string>();
    for await (const loaded of store.load()) {
      if (loaded.kind === 'snapshot') for (const part of loaded.parts) reader.add(part);
      else for (const [at, body] of loaded.bodies.entries()) tail.set(loaded.first + at, body);
    }
    return { sequence, snapshot: reader.snapshot, tail };
  } finally {
    await store.close();
    rmSync(scratch, { recursive: true });
  }
}

/** The first entry of a journal. */
interface Begun {
  readonly kind: 'begun';
  readonly snapshot: CoreSnapshot;
}

/** What a record says. */
export function entriesOf(body: string): readonly (Fact | Begun)[] {
  return (JSON.parse(body) as unknown[]).slice(1) as (Fact | Begun)[];
}

/** The state that a snapshot and records make; `undefined` when there are neither. */
export function replayed(snapshot: CoreSnapshot | undefined, bodies: Iterable<string>): Core | undefined {
  let core = snapshot === undefined ? undefined : Core.restore(snapshot);
  for (const body of bodies) {
    for (const entry of entriesOf(body)) {
      if (entry.kind === 'begun') core = Core.restore(entry.snapshot);
      else core?.apply(entry);
    }
  }
  return core;
}
