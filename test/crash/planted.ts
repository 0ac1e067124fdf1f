import { setImmediate as breathe } from 'node:timers/promises';
import type { Loaded, Store } from '../../src/index.js';

/** Stores that are wrong in a way that only a kill brings to light: whoever looks for such things must find them. */
export const PLANTED = ['acknowledges early', 'forgets the last record', 'counts a snapshot short'] as const;
export type Planted = (typeof PLANTED)[number];

/** The store, with something wrong about it. */
export function planted(store: Store, what: Planted): Store {
  switch (what) {
    case 'acknowledges early':
      return acknowledgesEarly(store);
    case 'forgets the last record':
      return changed(store, { load: () => withoutLast(store) });
    case 'counts a snapshot short':
      return changed(store, {
        saveSnapshot: ({ sequence, parts }, epoch) => store.saveSnapshot({ sequence: sequence - 1, parts }, epoch),
      });
  }
}

function acknowledgesEarly(store: Store): Store {
  let turn = Promise.resolve();
  return changed(store, {
    append(sequence, epoch, body) {
      turn = turn.then(() => breathe()).then(() => store.append(sequence, epoch, body));
      return Promise.resolve();
    },
    async saveSnapshot(snapshot, epoch) {
      await turn;
      return store.saveSnapshot(snapshot, epoch);
    },
    async close() {
      await turn;
      return store.close();
    },
  });
}

async function* withoutLast(store: Store): AsyncIterable<Loaded> {
  const all: Loaded[] = [];
  for await (const loaded of store.load()) all.push(loaded);
  const last = all.pop();
  yield* all;
  if (last !== undefined) yield last.kind === 'records' ? { ...last, bodies: last.bodies.slice(0, -1) } : last;
}

/** The same store but for these methods. */
export function changed(store: Store, methods: Partial<Store>): Store {
  return {
    name: store.name,
    durability: store.durability,
    open: () => store.open(),
    load: () => store.load(),
    append: (sequence, epoch, body) => store.append(sequence, epoch, body),
    saveSnapshot: (snapshot, epoch) => store.saveSnapshot(snapshot, epoch),
    compact: (epoch) => store.compact(epoch),
    close: () => store.close(),
    ...methods,
  };
}
