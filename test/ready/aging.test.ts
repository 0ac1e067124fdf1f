import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareFifo } from '../../src/model/index.js';
import { sim, type SimTaskOptions } from '../../src/testing/index.js';
import { channel, events, play, type Waiting } from './history.js';

test('G11 C9.2 priority with aging: nobody starts before an equally eligible task by more than the bound', () => {
  fc.assert(
    fc.property(events, fc.integer({ min: 1, max: 60 }), (happenings, every) => {
      const s = sim({ aging: { everyMs: every, maxBoost: Infinity, maxWaitMs: Infinity } });
      play(s, happenings, (started, waiting) => {
        const y = waiting.find(({ task }) => task.id === started) as Waiting;
        for (const x of waiting) {
          if (x !== y) expect(y.ready).toBeLessThan(x.ready + (x.urgency - y.urgency + 1) * every);
        }
      });
      expect(s.core.state.pending).toBe(0);
    }),
  );
});

test('C9.1 priority starts exactly the smallest of (past maxWait by r, effective level, deadline, FIFO)', () => {
  const caps = fc.oneof({ weight: 1, arbitrary: fc.constant(Infinity) }, { weight: 4, arbitrary: fc.nat(4) });
  const waits = fc.oneof(
    { weight: 2, arbitrary: fc.constant(Infinity) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 300 }) },
  );
  fc.assert(
    fc.property(events, fc.integer({ min: 1, max: 60 }), caps, waits, (happenings, every, maxBoost, maxWaitMs) => {
      const s = sim({ aging: { everyMs: every, maxBoost, maxWaitMs } });
      play(s, happenings, (started, waiting) => {
        const now = s.now.mono;
        const keys = waiting.map(({ task, ready, urgency }) => {
          const windows = Math.floor(now / every) - Math.floor(ready / every);
          const overdue = now - ready >= maxWaitMs;
          // An overdue task goes by ready time alone, so its level and deadline count as nothing.
          const rank = overdue ? [0, ready, 0] : [1, urgency - Math.min(maxBoost, windows), task.deadline];
          return { task, rank };
        });
        const [first] = keys.toSorted((x, y) => {
          for (const [i, value] of x.rank.entries()) {
            const other = y.rank[i] as number;
            if (value !== other) return value < other ? -1 : 1;
          }
          return compareFifo(x.task, y.task);
        });
        expect(started).toBe(first?.task.id);
      });
    }),
    { numRuns: 200 },
  );
});

test('C9.1 B1.3 levels with decimals rank the same whatever the types and needs, and as listed', () => {
  // Few fractions, so that tasks of different levels often come to be equally urgent.
  const decimal = fc.tuple(fc.nat(6), fc.constantFrom(0.1, 0.7, 0.9)).map(([whole, fraction]) => whole + fraction);
  const entries = fc.array(fc.tuple(decimal, fc.nat(3), channel), { minLength: 2, maxLength: 8 });
  const kinds: ((i: number) => SimTaskOptions)[] = [
    () => ({}),
    (i) => ({ type: `type ${String(i % 3)}` }),
    (i) => ({ type: `type ${String(i)}` }),
    (i) => ({ needs: { units: 1 + (i % 3) } }),
  ];
  fc.assert(
    fc.property(
      entries,
      fc.constantFrom('priority' as const, 'critical-path' as const, 'fair' as const),
      fc.constantFrom(Infinity, Infinity, 2, 2.5),
      (tasks, strategy, maxBoost) => {
        const orders = kinds.map((kind) => {
          const s = sim({ strategy, aging: { everyMs: 100, maxBoost, maxWaitMs: Infinity } });
          s.send({ kind: 'setCapacity', resource: 'units', units: Infinity });
          tasks.forEach(([priority, windows, name], i) => {
            s.advance(100 * windows);
            s.add(`t${String(i)}`, { priority, channel: name, ...kind(i) });
          });
          s.advance(100);
          const listed = s.core.pending().map(({ id }) => id);
          expect(s.claim(99)).toEqual(listed);
          return listed;
        });
        for (const order of orders) expect(order).toEqual(orders[0]);
      },
    ),
    { numRuns: 200 },
  );
});

test('row 29 the order is total for any finite levels and any moments: each task starts once, twice in the same order', () => {
  const level = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, -0, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53, -(2 ** 53)),
  );
  const strategies = ['priority', 'fifo', 'lifo', 'deadline', 'fair', 'critical-path', 'weighted-random'] as const;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(level, fc.nat(100_000), channel), { minLength: 1, maxLength: 40 }),
      fc.constantFrom(...strategies),
      fc.oneof(fc.constant(Infinity), fc.nat(3)),
      (tasks, strategy, maxBoost) => {
        const run = (): string[] => {
          const s = sim({ strategy, aging: { everyMs: 10_000, maxBoost, maxWaitMs: Infinity } });
          tasks.forEach(([priority, waitMs, name], i) => {
            s.add(`t${String(i)}`, { priority, channel: name });
            s.advance(waitMs);
          });
          return s.drain();
        };
        const order = run();
        expect(order.toSorted()).toEqual(tasks.map((_, i) => `t${String(i)}`).toSorted());
        expect(run()).toEqual(order);
      },
    ),
  );
});
