import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LimitsLoad, ResourceLoad } from '../../src/core/index.js';
import { WaitStatistics } from '../../src/core/wait-statistics.js';
import type { Attempt } from '../../src/model/index.js';
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
  expect(load.workers).toEqual(new Map([['w', { used: 1, capacity: 4, share: 0.25 }]]));
  const units = { kept: 0, rate: undefined, pausedForMs: 0 };
  expect(load.resources.get('gpu')).toEqual({ used: 1, capacity: 4, share: 0.25, ...units });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 0 });
  expect(s.core.load(s.now).resources.get('gpu')).toEqual({ used: 1, capacity: 0, share: 1, ...units });
});

test('C8.4 C6.6 F8.1 of a rate resource one sees its rate, its tokens at any moment, debts, pauses and changes', () => {
  const s = sim();
  const api = (): ResourceLoad | undefined => s.core.load(s.now).resources.get('api');
  const minute = { rate: 60, perMs: 60_000, burst: 10 };
  s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: minute });
  s.worker('w', { slots: 9 });
  expect(api()?.rate).toEqual({ ...minute, tokens: 10 });
  s.add('a', { needs: { api: 4 } });
  s.claim(1, 'w');
  expect(api()).toEqual({
    ...{ used: 4, capacity: Infinity, share: 0, kept: 0, pausedForMs: 0 },
    rate: { ...minute, tokens: 6 },
  });
  // No command has come in since: what is shown is of now all the same.
  const later = { wall: s.now.wall + 2_000, mono: s.now.mono + 2_000 };
  expect(s.core.load(later).resources.get('api')?.rate?.tokens).toBe(8);
  expect(s.core.load({ wall: later.wall, mono: later.mono + 9_999 }).resources.get('api')?.rate?.tokens).toBe(10);
  const { token } = s.task('a').attempt as Attempt;
  s.send({ kind: 'report', task: 'a', token, resource: 'api', cost: 15 });
  expect(api()?.rate?.tokens).toBe(-5);
  s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: { ...minute, burst: 4 } });
  expect(api()?.rate).toEqual({ ...minute, burst: 4, tokens: -11 });
  s.send({ kind: 'report', task: 'a', token, resource: 'api', retryAfterMs: 3_000 });
  s.advance(1_000);
  expect(api()).toMatchObject({ pausedForMs: 2_000, rate: { tokens: -10 } });
  s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: undefined });
  expect(api()).toMatchObject({ rate: undefined, pausedForMs: 2_000 });
});

test('C8.4 C7.2 one sees how many units are kept for a task with a reservation', () => {
  const s = sim({ maxBypasses: 1 });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 4 });
  s.worker('w', { slots: 9 });
  s.add('small', { needs: { gpu: 1 } });
  s.claim(1, 'w');
  s.add('large', { needs: { gpu: 4 } });
  s.add('other', { needs: { gpu: 1 } });
  s.claim(1, 'w');
  expect(s.core.load(s.now).resources.get('gpu')).toMatchObject({ used: 2, capacity: 4, kept: 4 });
});

test('C8.4 C6.2 C6.4 of limits one sees global, type and channel ones, what is held of them, and changes', () => {
  const s = sim();
  const limits = (): LimitsLoad => s.core.load(s.now).limits;
  s.worker('w', { slots: 9 });
  expect(limits()).toEqual({
    global: { used: 0, capacity: Infinity, share: 0 },
    perType: new Map(),
    perChannel: new Map(),
  });
  s.send({ kind: 'setLimit', scope: 'global', key: '', limit: 8 });
  s.send({ kind: 'setLimit', scope: 'type', key: 'render', limit: 2 });
  s.send({ kind: 'setLimit', scope: 'channel', key: '*', limit: 4 });
  s.send({ kind: 'setLimit', scope: 'channel', key: 'gold', limit: 5 });
  const rate = { rate: 1, perMs: 1_000, burst: 3 };
  s.send({ kind: 'setRate', scope: 'type', key: 'mail', rate });
  expect([...limits().perType.keys()]).toEqual(['render', 'mail']);
  expect(limits().perType.get('mail')).toEqual({ used: 0, capacity: Infinity, share: 0, rate: { ...rate, tokens: 3 } });
  s.add('a', { type: 'render', channel: 'gold' });
  s.add('b', { type: 'mail', channel: 'acme' });
  s.add('c', { type: 'free', channel: 'acme' });
  s.claim(3, 'w');
  expect(limits()).toEqual({
    global: { used: 3, capacity: 8, share: 3 / 8 },
    perType: new Map([
      ['render', { used: 1, capacity: 2, share: 0.5, rate: undefined }],
      ['mail', { used: 1, capacity: Infinity, share: 0, rate: { ...rate, tokens: 2 } }],
    ]),
    perChannel: new Map([
      ['*', { used: 0, capacity: 4, share: 0 }],
      ['gold', { used: 1, capacity: 5, share: 0.2 }],
      ['acme', { used: 2, capacity: 4, share: 0.5 }],
    ]),
  });
  s.send({ kind: 'setLimit', scope: 'channel', key: '*', limit: Infinity });
  s.send({ kind: 'setLimit', scope: 'type', key: '*', limit: 7 });
  s.send({ kind: 'setLimit', scope: 'type', key: 'render', limit: 0 });
  expect([...limits().perChannel.keys()]).toEqual(['gold']);
  expect([...limits().perType].map(([type, { used, capacity }]) => [type, used, capacity])).toEqual([
    ['render', 1, 0],
    ['*', 0, 7],
    ['mail', 1, 7],
    ['free', 1, 7],
  ]);
});

test('C8.4 types without end under a rate leave nothing behind by being looked at', () => {
  const s = sim();
  s.send({ kind: 'setRate', scope: 'type', key: '*', rate: { rate: 1, perMs: 1_000, burst: 3 } });
  const before = JSON.stringify(s.core.snapshot());
  expect([...s.core.load(s.now).limits.perType.keys()]).toEqual(['*']);
  expect(JSON.stringify(s.core.snapshot())).toBe(before);
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

test('without an estimate of its own a task is expected to take what those of its type took on average', () => {
  const s = sim({ slots: 1 });
  for (const [id, ms] of [
    ['a', 100],
    ['b', 500],
  ] as const) {
    s.add(id, { type: 'work' });
    s.advance(ms);
    s.complete(`${id}#1`);
  }
  s.add('c', { type: 'work' });
  s.add('d', { type: 'work', estimate: 7 });
  s.add('e', { type: 'other' });
  const expected = s.facts.flatMap((fact) => (fact.kind === 'task.submitted' ? [[fact.task, fact.estimateMs]] : []));
  expect(expected).toEqual([
    ['a', 1],
    ['b', 100],
    ['c', 300],
    ['d', 7],
    ['e', 1],
  ]);
});
