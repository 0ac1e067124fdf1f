import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SumTree } from '../../src/ready/sum-tree.js';

const ascending = (a: number, b: number): number => a - b;
const identity = (item: number): number => item;

function treeOf(weights: ReadonlyMap<number, number>, hash = identity): SumTree<number> {
  const tree = new SumTree<number>({ compare: ascending, hash });
  for (const [item, weight] of weights) tree.insert(item, weight);
  return tree;
}

const inOrder = (model: ReadonlyMap<number, number>): [number, number][] =>
  [...model].sort(([a], [b]) => ascending(a, b));

const sumOf = (model: ReadonlyMap<number, number>): number =>
  [...model.values()].reduce((sum, weight) => sum + weight, 0);

/** What nobody could get wrong: walk from the left until the weights passed exceed x. */
function naivePick(model: ReadonlyMap<number, number>, x: number): number | undefined {
  let passed = 0;
  for (const [item, weight] of inOrder(model)) {
    passed += weight;
    if (passed > x) return item;
  }
  return undefined;
}

// A linear congruential generator, so that the statistics come out the same every time.
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const item = fc.integer({ min: 0, max: 40 });
/** Multiples of an eighth: their sums are exact in whatever order they are added. */
const dyadic = fc.integer({ min: 0, max: 24 }).map((eighths) => Math.max(0, eighths - 8) / 8);
const rounding = fc.oneof(fc.constantFrom(0, 0.1, 0.2, 0.3, 1e16, 1e-16), fc.double({ min: 0, max: 1, noNaN: true }));
/** Every item alike and every third alike exercise equal priorities; the last one has nothing but an upper half. */
const hashes = fc.constantFrom(
  identity,
  () => 7,
  (n: number) => n % 3,
  (n: number) => n * 2 ** 32,
);
const operation = fc.oneof(
  { weight: 15, arbitrary: fc.record({ kind: fc.constant('insert' as const), item, weight: dyadic }) },
  { weight: 9, arbitrary: fc.record({ kind: fc.constant('remove' as const), item }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('setWeight' as const), item, weight: dyadic }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never;

function applyToBoth(tree: SumTree<number>, model: Map<number, number>, step: Operation): void {
  switch (step.kind) {
    case 'insert':
      expect(tree.insert(step.item, step.weight)).toBe(!model.has(step.item));
      if (!model.has(step.item)) model.set(step.item, step.weight);
      return;
    case 'remove':
      expect(tree.remove(step.item)).toBe(model.delete(step.item));
      return;
    case 'setWeight':
      expect(tree.setWeight(step.item, step.weight)).toBe(model.has(step.item));
      if (model.has(step.item)) model.set(step.item, step.weight);
  }
}

describe('a sum tree', () => {
  test('agrees with a sorted array after every operation', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 100, size: 'max' }), hashes, (steps, hash) => {
        const tree = treeOf(new Map(), hash);
        const model = new Map<number, number>();
        for (const step of steps) {
          applyToBoth(tree, model, step);
          expect(tree.size).toBe(model.size);
          expect(tree.total).toBe(sumOf(model));
          expect([...tree]).toEqual(inOrder(model).map(([key]) => key));
          expect(tree.has(20)).toBe(model.has(20));
        }
        // Every border between two items is a multiple of an eighth, so that sixteenths try both sides of each.
        for (let x = 0; x < tree.total; x += 1 / 16) expect(tree.pick(x)).toBe(naivePick(model, x));
        expect(tree.pick(tree.total)).toBe(inOrder(model).findLast(([, weight]) => weight > 0)?.[0]);
      }),
    );
  });

  test('agrees with a sorted array when what was picked changes or goes next', () => {
    const before = fc.option(operation, { nil: undefined, freq: 2 });
    const onPicked = fc.record({
      before,
      x: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      between: before,
      kind: fc.constantFrom('insert' as const, 'remove' as const, 'setWeight' as const),
      weight: dyadic,
    });
    const items = fc.uniqueArray(fc.tuple(item, dyadic), { selector: ([key]) => key, maxLength: 40, size: 'max' });
    fc.assert(
      fc.property(items, fc.array(onPicked, { maxLength: 40, size: 'max' }), hashes, (pairs, steps, hash) => {
        const model = new Map(pairs);
        const tree = treeOf(model, hash);
        for (const step of steps) {
          if (step.before !== undefined) applyToBoth(tree, model, step.before);
          const picked = tree.pick(step.x * tree.total);
          expect(picked).toBe(naivePick(model, step.x * tree.total));
          if (step.between !== undefined) applyToBoth(tree, model, step.between);
          if (picked !== undefined) applyToBoth(tree, model, { kind: step.kind, item: picked, weight: step.weight });
          expect(tree.size).toBe(model.size);
          expect(tree.total).toBe(sumOf(model));
          expect([...tree]).toEqual(inOrder(model).map(([key]) => key));
        }
      }),
    );
  });

  test('never picks an item without weight, however the sums are rounded', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(item, rounding)), fc.double({ min: 0, max: 1, noNaN: true }), (pairs, fraction) => {
        const model = new Map(pairs);
        const tree = treeOf(model);
        const last = inOrder(model).findLast(([, weight]) => weight > 0)?.[0];
        const justBelow = tree.total * (1 - Number.EPSILON / 2);
        for (const x of [0, tree.total * fraction, justBelow, tree.total]) {
          const picked = tree.pick(x);
          if (last === undefined) expect(picked).toBeUndefined();
          else expect(model.get(picked!)).toBeGreaterThan(0);
        }
        expect(tree.pick(Infinity)).toBe(last);
      }),
    );
  });

  test('depends on its content alone, to the last bit, and not on its history', () => {
    const pairs = fc.uniqueArray(fc.tuple(item, rounding), { selector: ([key]) => key, maxLength: 40, size: 'max' });
    const others = fc.array(fc.integer({ min: 41, max: 80 }));
    const xs = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 10 });
    const shuffled = pairs.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, others, xs, hashes, ([pairsInOneOrder, pairsInAnother], passing, fractions, hash) => {
        const model = new Map(pairsInOneOrder);
        const direct = treeOf(model, hash);
        const eventful = treeOf(new Map(passing.map((key) => [key, 0.7])), hash);
        for (const [key] of pairsInAnother) eventful.insert(key, 0.3);
        for (const key of new Set(passing)) eventful.remove(key);
        for (const [key, weight] of pairsInAnother) eventful.setWeight(key, weight);
        expect(eventful.total).toBe(direct.total);
        for (const fraction of fractions) {
          const x = fraction * direct.total;
          expect(eventful.pick(x)).toBe(direct.pick(x));
        }
      }),
    );
  });

  test('picks every item as often as its weight says', () => {
    const random = generator(42);
    const model = new Map(Array.from({ length: 50 }, (_, key) => [key, key % 10 === 3 ? 0 : 0.1 + (key % 7)]));
    const tree = treeOf(model);
    const draws = 200_000;
    const counts = new Map<number, number>();
    for (let draw = 0; draw < draws; draw += 1) {
      const picked = tree.pick(random() * tree.total)!;
      counts.set(picked, (counts.get(picked) ?? 0) + 1);
    }
    let chiSquare = 0;
    for (const [key, weight] of model) {
      const expected = (draws * weight) / tree.total;
      const count = counts.get(key) ?? 0;
      if (weight === 0) expect(count).toBe(0);
      else chiSquare += (count - expected) ** 2 / expected;
    }
    // 45 items have a weight: with 44 degrees of freedom, one run in a thousand of a true generator exceeds 78.7.
    expect(chiSquare).toBeLessThan(78.7);
  });

  test.each([
    ['sequence numbers', identity],
    ['multiples of 2 ** 32', (n: number) => n * 2 ** 32],
    ['sequence numbers far above 2 ** 32', (n: number) => n + 2 ** 50],
  ])('stays shallow when the hashes are %s', (_, hash) => {
    let comparisons = 0;
    const compare = (a: number, b: number): number => {
      comparisons += 1;
      return a - b;
    };
    const tree = new SumTree<number>({ compare, hash });
    for (let key = 0; key < 10_000; key += 1) tree.insert(key, 1);
    comparisons = 0;
    for (let key = 0; key < 10_000; key += 1) tree.has(key);
    // The mean depth of a random search tree of this size is about 16.
    expect(comparisons / 10_000).toBeLessThan(25);
  });

  test('holds a chain, the worst form there is, without recursion', () => {
    const tree = treeOf(new Map(), () => 0);
    // Each goes above all before it.
    for (let key = 19_999; key >= 0; key -= 1) tree.insert(key, 0.5);
    expect(tree.total).toBe(10_000);
    expect(tree.pick(9_999.9)).toBe(19_999);
    expect(tree.remove(19_998)).toBe(true);
    expect([...tree].length).toBe(19_999);
  });

  test.each([-1, NaN, Infinity])('refuses the weight %d and stays as it was', (weight) => {
    const tree = treeOf(new Map([[1, 2]]));
    const message = `A weight in a sum tree must be a finite number of at least 0, got ${weight}.`;
    expect(() => tree.insert(5, weight)).toThrow(message);
    expect(() => tree.setWeight(1, weight)).toThrow(message);
    expect([[...tree], tree.size, tree.total]).toEqual([[1], 1, 2]);
  });
});
