import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Wanted } from '../../src/core/wanted.js';
import { beyond, counted } from '../counting.js';

const { operations, sim } = counted();
const SIZES = [500, 4_000, 32_000];

test('C12.3 the most urgent level that lacks something is that of a list of all that is wanted', () => {
  const level = fc.integer({ min: -2, max: 3 });
  const amount = fc.constantFrom(0.25, 0.5, 1, 2, 7);
  const step = fc.record({ level, amount, isLeaving: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step), fc.array(fc.double({ min: 0, max: 8, noNaN: true })), (steps, free) => {
      const wanted = new Wanted();
      let list: { readonly level: number; readonly amount: number }[] = [];
      for (const { level, amount, isLeaving } of steps) {
        if (isLeaving) {
          const leaving = list.find((each) => each.level === level && each.amount === amount);
          if (leaving === undefined) continue;
          list = list.filter((each) => each !== leaving);
          wanted.remove(level, amount);
        } else {
          list.push({ level, amount });
          wanted.add(level, amount);
        }
        for (const units of [...free, 0, 0.25, 1, 7]) {
          const lacking = list.filter((each) => each.amount > units).map((each) => each.level);
          expect(wanted.lowest((asked) => asked > units)).toBe(Math.min(...lacking));
        }
      }
    }),
  );
});

/** No two tasks want the same amount, or none are of one level, and what is free suffices for few of them. */
function worldOf(size: number, differ: 'amounts' | 'levels'): ReturnType<typeof sim> {
  const s = sim({ check: false, retain: { count: 100, ageMs: Infinity }, maxBypasses: Infinity });
  s.send({ kind: 'setCapacity', resource: 'cpu', units: 100 });
  s.add('holder', { needs: { cpu: 50 } });
  s.claim();
  for (let i = 0; i < size; i += 1) {
    const cpu = differ === 'amounts' ? 51 + (40 * i) / size : 51;
    s.add(id(i), { priority: differ === 'levels' ? i : 'normal', needs: { cpu } });
  }
  return s;
}

const id = (i: number): string => `t${String(i).padStart(6, '0')}`;

test.each(['amounts', 'levels'] as const)(
  'C7.2 C12.3 taking back who wants the most costs O(log n) of %s',
  (differ) => {
    const costOf = (size: number): number => {
      const s = worldOf(size, differ);
      return operations(() => {
        for (let i = 1; i <= 100; i += 1) s.cancel(id(size - i));
      });
    };
    expect(beyond('logarithmic', SIZES, costOf)).toEqual([]);
  },
);

test.each(['amounts', 'levels'] as const)(
  'C7.2 D8.2 a start that takes a resource, and its end, cost O(log n) of the %s that are blocked',
  (differ) => {
    const costOf = (size: number): number => {
      const s = worldOf(size, differ);
      let cost = 0;
      for (let i = 0; i < 100; i += 1) {
        s.add(`small-${id(i)}`, { priority: -1, needs: { cpu: 1 } });
        cost += operations(() => {
          s.claim();
          s.complete(`small-${id(i)}`);
        });
      }
      return cost;
    };
    expect(beyond('logarithmic', SIZES, costOf)).toEqual([]);
  },
);

test('C12.3 lending through a resource costs O(log n) of the levels that lack it', () => {
  const costOf = (size: number): number => {
    const s = sim({ slots: 3, check: false, retain: { count: 100, ageMs: Infinity } });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    s.add('keeper', { priority: 1e6, needs: { gpu: 1 } });
    s.add('awaited', { priority: 1e6, delay: 1_000 });
    for (let i = 0; i < size; i += 1) s.add(id(i), { needs: { gpu: 1 }, priority: size + i });
    s.waitFor('keeper', 'awaited');
    const cost = operations(() => {
      s.add('urgent', { needs: { gpu: 1 }, priority: 1 });
      s.cancel('urgent');
    });
    expect(s.task('awaited').urgency).toBe(size);
    return cost;
  };
  expect(beyond('logarithmic', SIZES, costOf)).toEqual([]);
});
