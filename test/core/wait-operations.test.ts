import { expect, test } from 'vitest';
import type { Sim } from '../../src/testing/index.js';
import { beyond, counted, type Law } from '../counting.js';

const { operations, sim } = counted();

const SIZES = [500, 4_000, 32_000];

function expectGrowth(law: Law, costOf: (size: number) => number): void {
  expect(beyond(law, SIZES, costOf)).toEqual([]);
}

/** One task keeps the only unit and waits; so many others are blocked by that. */
function blocked(size: number): Sim {
  const s = sim({ slots: 3, check: false, retain: { count: 100, ageMs: Infinity } });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
  s.add('keeper', { priority: 'idle', needs: { gpu: 1 } });
  s.add('awaited', { priority: 'idle', delay: 1_000 });
  for (let i = 0; i < size; i += 1)
    s.add(`t${String(i).padStart(6, '0')}`, { needs: { gpu: 1 }, priority: 1 + (i % 3) });
  s.waitFor('keeper', 'awaited');
  return s;
}

test('C12.3 lending a level through a resource costs the same however many are blocked by it', () => {
  expectGrowth('logarithmic', (size) => {
    const s = blocked(size);
    const cost = operations(() => {
      s.add('urgent', { needs: { gpu: 1 }, priority: 'critical' });
    });
    expect(s.task('awaited').urgency).toBe(0);
    return cost;
  });
});

test('C12.3 taking it back does too', () => {
  expectGrowth('logarithmic', (size) => {
    const s = blocked(size);
    s.add('urgent', { needs: { gpu: 1 }, priority: 'critical' });
    const cost = operations(() => {
      s.cancel('urgent');
    });
    expect(s.task('awaited').urgency).toBe(1);
    return cost;
  });
});

test('C12.2 C12.1 beginning and ending a wait costs the same however many are blocked', () => {
  expectGrowth('logarithmic', (size) => {
    const s = blocked(size);
    s.add('parent');
    s.add('child', { delay: 10 });
    const began = operations(() => {
      s.waitFor('parent', 'child');
    });
    return (
      began +
      operations(() => {
        s.cancel('child');
      })
    );
  });
});

test('C12.2 row 26 waiting for the end of a long chain looks at each of its tasks once, without deep recursion', () => {
  expectGrowth('constant', (size) => {
    const s = sim({ slots: 1, check: false });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    s.add('parent', { needs: { gpu: 1 } });
    for (let i = 0; i < size; i += 1) {
      s.add(`t${String(i).padStart(6, '0')}`, {
        needs: { gpu: 2 },
        after: i === 0 ? [] : [`t${String(i - 1).padStart(6, '0')}`],
      });
    }
    const cost = operations(() => {
      expect(() => {
        s.waitFor('parent', `t${String(size - 1).padStart(6, '0')}`);
      }).toThrow(/would wait for itself/);
    });
    return cost / size;
  });
});
