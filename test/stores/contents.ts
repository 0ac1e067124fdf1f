import type { Loaded, Store } from '../../src/index.js';

/** Everything that a store holds, which is opened and closed for that. */
export async function recordsOf(store: Store): Promise<Loaded[]> {
  await store.open();
  const pieces: Loaded[] = [];
  for await (const piece of store.load()) pieces.push(piece);
  await store.close();
  return pieces;
}

/** The records after the snapshot. */
export async function bodiesOf(store: Store): Promise<string[]> {
  const pieces = await recordsOf(store);
  return pieces.flatMap((piece) => (piece.kind === 'records' ? piece.bodies : []));
}

export async function* partsOf(...parts: readonly string[]): AsyncIterable<string> {
  await Promise.resolve();
  yield* parts;
}
