import { expect, test } from 'vitest';
import { beyond, operationsOf } from './counting.js';

/** Something to walk, in two sizes. */
const setup = (n: number): string => `
  const list = Array.from({ length: ${String(n)} }, (_, i) => i);
  const map = new Map(list.map((i) => [i, i]));
  const numbers = new Int32Array(${String(n)});
  let sum = 0;
`;

test.each([
  ['for (let i = 0; i < list.length; i += 1) sum += 1;'],
  ['let i = 0; while (i < list.length) i += 1;'],
  ['let i = 0; do { i += 1 } while (i < list.length);'],
  ['for (const each of map.values()) sum += each;'],
  ['for (const i in list) sum += 1;'],
  ['list.forEach((each) => { sum += each; });'],
  ['list.indexOf(-1);'],
  ['map?.size && list?.includes(-1);'],
  ['numbers.fill(7);'],
  ['numbers.slice();'],
  ['new Float64Array(list.length);'],
  ['new Set(list);'],
  ['numbers.set(list);'],
  ['[...map];'],
  ['Math.max(...list);'],
  ['Math.max(...map.keys());'],
  ['new Set(map.values());'],
  ['Object.keys(list);'],
  ['list.shift();'],
  ['class A { #n = 0; get size() { for (const each of list) this.#n += each; return this.#n; } } void new A().size;'],
  ['function* all() { for (const each of list) yield each; } for (const each of all()) sum += each;'],
  ['const down = (n: number): number => n === 0 ? 0 : down(n - 1); down(list.length);'],
])('what walks a collection is counted: %s', (line) => {
  const cost = (n: number): number => operationsOf(setup(n) + line) - operationsOf(setup(n));
  expect(cost(1_000)).toBeGreaterThanOrEqual(1_000);
  expect(beyond('logarithmic', [100, 1_000], cost)).toHaveLength(1);
});

test.each([
  ['list.push(1); list.pop();'],
  ['map.get(7); map.delete(7);'],
  ['numbers[5] = list[7] ?? 0;'],
  ['map.keys().next();'],
])('what walks nothing is not: %s', (line) => {
  const cost = (n: number): number => operationsOf(setup(n) + line) - operationsOf(setup(n));
  expect(beyond('constant', [100, 1_000], cost)).toEqual([]);
});

test('a cost is held to its law', () => {
  const sizes = [1_000, 10_000, 100_000];
  expect(beyond('constant', sizes, () => 50)).toEqual([]);
  expect(beyond('constant', sizes, (n) => 10 * Math.log2(n))).toHaveLength(2);
  expect(beyond('logarithmic', sizes, (n) => 40 + 10 * Math.log2(n))).toEqual([]);
  expect(beyond('logarithmic', sizes, (n) => 40 + Math.sqrt(n))).toHaveLength(2);
  expect(beyond('logarithmic', sizes, (n) => 200 + n / 500)).toHaveLength(1);
});
