import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FitNode, FitTree } from '../../../src/ready/amounts/fit-tree.js';
import { FittingSums, SumNode } from '../../../src/ready/amounts/fitting-sums.js';
import { scramble } from '../../../src/ready/sum-nodes.js';

class Item extends FitNode<Item> {
  constructor(
    readonly key: number,
    amounts: readonly number[],
  ) {
    super(scramble(key), amounts);
  }
}

class Share extends SumNode<Share> {
  readonly ownLeast: readonly number[];

  constructor(
    readonly key: number,
    public weight: number,
    amounts: readonly number[],
  ) {
    super(scramble(key), amounts.length);
    this.ownLeast = amounts;
  }

  get ownMost(): readonly number[] {
    return this.ownLeast;
  }
}

const weightOf = ({ weight }: Share): number => weight;

const fitsIn =
  (free: readonly number[]) =>
  (amounts: readonly number[]): boolean =>
    amounts.every((amount, i) => amount <= (free[i] as number));

const amount = fc.nat(6);
const step = fc.record({
  act: fc.constantFrom('insert', 'insert', 'insert', 'remove'),
  key: fc.nat(40),
  amounts: fc.tuple(amount, amount, amount),
  weight: fc.constantFrom(0, 0.25, 1, 4),
  free: fc.tuple(amount, amount, amount),
});
const resources = fc.integer({ min: 1, max: 3 });

describe('the first that fits', () => {
  test('C7.3 a tree finds what an array sorted by rank finds, with one resource and with several', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), resources, (steps, count) => {
        const tree = new FitTree<Item>((x, y) => x.key - y.key);
        const model = new Map<number, Item>();
        for (const { act, key, amounts, free } of steps) {
          const item = new Item(key, amounts.slice(0, count));
          if (act === 'insert') {
            expect(tree.insert(item)).toBe(!model.has(key));
            if (!model.has(key)) model.set(key, item);
          } else {
            expect(tree.remove(item)).toBe(model.delete(key));
          }
          const sorted = [...model.values()].sort((x, y) => x.key - y.key);
          const fits = fitsIn(free);
          expect([...tree]).toEqual(sorted);
          expect(tree.size).toBe(sorted.length);
          expect(tree.first()).toBe(sorted[0]);
          expect([...tree.fitting(fits)]).toEqual(sorted.filter((each) => fits(each.amounts)));
          expect(tree.firstFitting(fits)).toBe(sorted.find((each) => fits(each.amounts)));
          const momentOf = (needed: readonly number[]): number =>
            Math.max(...needed.map((each, i) => (each <= (free[i] as number) ? 0 : each)));
          // What is odd does not count, as if it had left already.
          const exact = (each: Item): number => (each.key % 2 === 0 ? momentOf(each.amounts) : Infinity);
          expect(tree.soonest(momentOf, exact)).toBe(Math.min(Infinity, ...sorted.map(exact)));
        }
      }),
    );
  });

  test('C7.3 with one resource the way to it is as short as the tree is deep, however many do not fit', () => {
    const looks = [1_000, 100_000].map((size) => {
      const tree = new FitTree<Item>((x, y) => x.key - y.key);
      for (let key = 0; key < size; key += 1) tree.insert(new Item(key, [2 + ((key * 7_919) % size)]));
      tree.insert(new Item(size / 2 + 0.5, [1]));
      let count = 0;
      const found = tree.firstFitting((amounts) => {
        count += 1;
        return (amounts[0] as number) <= 1;
      });
      expect(found?.amounts).toEqual([1]);
      return count;
    });
    expect(looks[1]).toBeLessThan(150);
  });
});

describe('a weighted choice among those that fit', () => {
  test('C7.3 A7.1 a sum over those that fit is exact, and a draw finds the one in whose stretch it falls', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        resources,
        fc.double({ min: 0, max: 0.999 }),
        (steps, count, draw) => {
          const compare = (x: Share, y: Share): number =>
            (x.ownLeast[0] as number) - (y.ownLeast[0] as number) || x.key - y.key;
          const tree = new FittingSums<Share>(compare);
          const model = new Map<number, Share>();
          for (const { act, key, amounts, weight, free } of steps) {
            const known = model.get(key);
            if (act === 'remove' && known !== undefined) {
              tree.remove(known);
              model.delete(key);
            } else if (known !== undefined) {
              known.weight = weight;
              tree.refresh(known);
            } else {
              const item = new Share(key, weight, amounts.slice(0, count));
              tree.insert(item);
              model.set(key, item);
            }
            const fits = fitsIn(free);
            const fitting = [...model.values()].sort(compare).filter((each) => fits(each.ownLeast));
            const total = fitting.reduce((sum, each) => sum + each.weight, 0);
            expect(tree.total(fits, weightOf)).toBe(total);
            let from = 0;
            const expected = fitting.find((each) => {
              from += each.weight;
              return draw * total < from;
            });
            const picked = tree.pick(draw * total, fits, weightOf);
            expect(picked?.node).toBe(total === 0 ? undefined : expected);
            // A draw that rounding has pushed too far falls to the last that has a weight.
            expect(tree.pick(total, fits, weightOf)?.node).toBe(fitting.findLast((each) => each.weight > 0));
          }
        },
      ),
    );
  });

  test('F9 the sums depend on what is there, not on how it came', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(90), { minLength: 30 }), fc.array(fc.nat(90)), (keys, gone) => {
        const make = (order: readonly number[]): FittingSums<Share> => {
          const tree = new FittingSums<Share>((x, y) => x.key - y.key);
          for (const key of order) tree.insert(new Share(key, 1 / (key + 0.1), [key % 7]));
          return tree;
        };
        const straight = make(keys.filter((key) => !gone.includes(key)).sort((x, y) => x - y));
        const winding = make([...keys].reverse());
        for (const key of new Set(gone)) winding.remove(new Share(key, 0, [0]));
        for (const free of [0, 3, 6]) {
          const fits = fitsIn([free]);
          expect(winding.total(fits, weightOf)).toBe(straight.total(fits, weightOf));
        }
      }),
    );
  });
});
