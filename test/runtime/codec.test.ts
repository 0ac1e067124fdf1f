import { expect, test } from 'vitest';
import { MemoryStore, Scheduler, type Codec } from '../../src/index.js';
import { JSON_CODEC } from '../../src/runtime/codec.js';
import { VirtualClock } from '../../src/testing/index.js';

const through = (value: unknown): unknown =>
  JSON_CODEC.decode(JSON.parse(JSON.stringify(JSON_CODEC.encode(value))) as unknown);

test.each([
  ['plain data', { a: [1, 'x', null, true, { b: {} }] }],
  ['numbers that JSON lacks', [NaN, Infinity, -Infinity, -0, 0]],
  ['dates', { at: new Date(0), never: new Date(NaN) }],
  [
    'maps and sets',
    new Map<unknown, unknown>([
      ['a', new Set([1, new Map()])],
      [{ key: 1 }, undefined],
    ]),
  ],
  ['big integers', 12345678901234567890n],
  ['undefined in lists', [undefined, 1]],
  ['what looks like a tag', { $: 'date', is: 5, deep: [{ $: undefined }, { $: { $: 'map' } }] }],
])('what is kept comes back as it was: %s', (_, value) => {
  expect(through(value)).toEqual(value);
});

test('a field that is undefined counts as absent', () => {
  expect(Object.keys(through({ a: undefined, b: 1 }) as object)).toEqual(['b']);
});

test.each([
  ['a function', { f: () => 1 }, 'f is'],
  ['a symbol', [Symbol('s')], '[0] is'],
  ['a symbol as a key', { a: { [Symbol('s')]: 1 } }, 'a has a symbol'],
  ['an object of a class', { at: [new URL('http://x')] }, 'at[0] is'],
  ['an error', new Error('x'), 'it is'],
  ['the value of a map', new Map([['k', () => 1]]), 'values[0] is'],
])('what would not come back is refused with its path: %s', (_, value, path) => {
  expect(() => through(value)).toThrow(path);
});

test('what is nested too deeply is refused, and what is in two places is not taken for a circle', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 300; level += 1) deep = [deep];
  expect(() => through(deep)).toThrow(/levels deep/);
  const shared = { a: 1 };
  expect(through([shared, shared])).toEqual([shared, shared]);
});

test('a codec of one’s own writes inputs and results', async () => {
  const codec: Codec = {
    encode: (value) => Buffer.from(JSON.stringify(value)).toString('base64'),
    decode: (data) => JSON.parse(Buffer.from(data as string, 'base64').toString()) as unknown,
  };
  const [store, clock] = [new MemoryStore(), new VirtualClock()];
  const first = new Scheduler({ store, clock, codec });
  first.define('echo', (input: object) => input);
  expect(await first.add('echo', { secret: 1 }, { id: 'a' })).toEqual({ secret: 1 });
  await first.close();
  const texts: string[] = [];
  await store.open();
  for await (const loaded of store.load()) texts.push(...(loaded.kind === 'snapshot' ? loaded.parts : loaded.bodies));
  expect(texts.join()).not.toContain('secret');
  const second = new Scheduler({ store, clock, codec });
  await second.start();
  expect(await second.handle('a')).toEqual({ secret: 1 });
  await second.close();
});

test.each([
  [{ store: {} }, /store/],
  [{ store: new MemoryStore(), codec: {} }, /codec/],
  [{ store: new MemoryStore(), maxPayloadBytes: 0 }, /maxPayloadBytes/],
  [{ store: new MemoryStore(), snapshotEvery: { facts: 0 } }, /snapshotEvery\.facts/],
  [{ store: new MemoryStore(), snapshotEvery: { fact: 1 } }, /snapshotEvery\.fact/],
  [{ maxPayloadBytes: 5 }, /without a store/],
])('options of a store that make no sense are refused by name: %#', (options, message) => {
  expect(() => new Scheduler(options as never)).toThrow(message);
});
