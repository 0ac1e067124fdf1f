import { expect, test } from 'vitest';
import { DeposedError, MemoryStore, type Loaded } from '../../src/index.js';
import { expectRestart, expectTakeover } from './restart-story.js';

async function loaded(store: MemoryStore): Promise<Loaded[]> {
  const pieces: Loaded[] = [];
  for await (const piece of store.load()) pieces.push(piece);
  return pieces;
}

async function* partsOf(...parts: string[]): AsyncIterable<string> {
  await Promise.resolve();
  yield* parts;
}

test('what was appended is loaded, after the snapshot only what it does not hold', async () => {
  const store = new MemoryStore();
  const { epoch } = await store.open();
  await store.append(0, epoch, '[1]');
  await store.append(1, epoch, '[2]');
  await store.append(2, epoch, '[3]');
  expect(await loaded(store)).toEqual([{ kind: 'records', first: 1, bodies: ['[1]', '[2]', '[3]'] }]);
  await store.saveSnapshot({ sequence: 2, parts: partsOf('["a"]', '["b"]') }, epoch);
  const after = [
    { kind: 'snapshot', sequence: 2, parts: ['["a"]', '["b"]'] },
    { kind: 'records', first: 3, bodies: ['[3]'] },
  ];
  expect(await loaded(store)).toEqual(after);
  await store.compact(epoch);
  expect(await loaded(store)).toEqual(after);
});

test('G5: whoever opens it deposes the one before, and a number that is taken is refused', async () => {
  const store = new MemoryStore();
  const first = await store.open();
  const second = await store.open();
  expect(second.epoch).toBeGreaterThan(first.epoch);
  await expect(store.append(0, first.epoch, '[1]')).rejects.toThrow(DeposedError);
  await store.append(0, second.epoch, '[2]');
  await expect(store.append(0, second.epoch, '[3]')).rejects.toThrow(DeposedError);
  expect(await loaded(store)).toEqual([{ kind: 'records', first: 1, bodies: ['[2]'] }]);
});

test('B4.1 B5.1 a scheduler goes on in memory where the one before was', async () => {
  const store = new MemoryStore();
  await expectRestart({ store: () => store });
});

test('B5.1 G5 a scheduler that another one has deposed does not close the store that both were given', async () => {
  const store = new MemoryStore();
  await expectTakeover({ store: () => store });
});
