import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WaitStatistics } from '../../src/core/wait-statistics.js';
import { sim } from '../../src/testing/index.js';
import { eligible } from '../ready/history.js';

test('C8.4 depth, waits and utilisation can be read at any time, and looking changes nothing', () => {
  const s = sim();
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 4 });
  s.worker('w', { slots: 4 });
  s.add('a', { needs: { gpu: 1 } });
  s.add('b', { delay: 50 });
  s.advance(20);
  s.add('c');
  const before = JSON.stringify(s.core.snapshot());
  expect(s.core.load(s.now)).toMatchObject({ pending: 3, ready: 2, running: 0, oldestWaitMs: 20 });
  expect(JSON.stringify(s.core.snapshot())).toBe(before);
  s.claim(1, 'w');
  s.advance(10);
  const load = s.core.load(s.now);
  expect(load).toMatchObject({ pending: 2, ready: 1, running: 1, oldestWaitMs: 10 });
  expect(load.waits).toMatchObject({ count: 1, meanMs: 20, p50Ms: 21, p99Ms: 21 });
  expect(load.slots).toEqual({ used: 1, capacity: 4, share: 0.25 });
  expect(load.resources.get('gpu')).toEqual({ used: 1, capacity: 4, share: 0.25 });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 0 });
  expect(s.core.load(s.now).resources.get('gpu')).toEqual({ used: 1, capacity: 0, share: 1 });
});

test('C8.4 the oldest wait is that of whoever has been ready for longest, through retries, pauses and claims', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 9 }), { minLength: 30, maxLength: 120 }), (steps) => {
      const s = sim({ strategy: 'lifo', check: false });
      for (const [i, step] of steps.entries()) {
        if (step < 3) s.add(`t${i}`, { channel: step === 0 ? 'A' : 'B', retry: 9 });
        else if (step === 3) s.claim();
        else if (step === 4)
          s.running().forEach((name) => {
            s.fail(name);
          });
        else if (step === 5)
          s.running().forEach((name) => {
            s.complete(name);
          });
        else if (step === 6) s.send({ kind: 'pauseChannel', channel: 'A' });
        else if (step === 7) s.send({ kind: 'resumeChannel', channel: 'A' });
        else s.advance(step);
        const waits = eligible(s).map((task) => s.now.mono - task.ready);
        expect(s.core.load(s.now).oldestWaitMs).toBe(Math.max(0, ...waits));
      }
    }),
    { numRuns: 60 },
  );
});

test('C8.4 percentiles of waits are those of a sorted list, too large by an eighth at the most, for two minutes', () => {
  const wait = fc.oneof(
    fc.nat({ max: 20 }),
    fc.nat({ max: 5_000 }),
    fc.nat({ max: 1e9 }),
    fc.double({ min: 0, max: 1e10, noNaN: true }),
  );
  fc.assert(
    fc.property(fc.array(wait, { minLength: 1, maxLength: 200 }), (waits) => {
      const statistics = new WaitStatistics();
      for (const each of waits) statistics.record(each, 59_000);
      const sorted = [...waits].sort((x, y) => x - y);
      const { count, meanMs, p50Ms, p95Ms, p99Ms } = statistics.summary(60_500);
      expect(count).toBe(waits.length);
      expect(meanMs).toBeCloseTo(waits.reduce((sum, each) => sum + each, 0) / waits.length, 3);
      for (const [share, found] of [
        [0.5, p50Ms],
        [0.95, p95Ms],
        [0.99, p99Ms],
      ] as const) {
        const exact = Math.floor(sorted[Math.max(0, Math.ceil(share * waits.length) - 1)] as number);
        expect(found).toBeGreaterThanOrEqual(exact);
        expect(found).toBeLessThanOrEqual(exact * 1.125 + 1);
      }
      expect(statistics.summary(119_999).count).toBe(waits.length);
      expect(statistics.summary(120_000).count).toBe(0);
    }),
  );
});

test('C8.4 waits of long ago are left out, also when nothing started since', () => {
  const statistics = new WaitStatistics();
  statistics.record(10, 0);
  expect(statistics.summary(1_000_000)).toEqual({ count: 0, meanMs: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0 });
});
