import { expect, test } from 'vitest';
import { Scheduler, type Clock, type Timer } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

const nothing = (): void => undefined;
const DAY = 86_400_000;

/** A virtual clock that counts how often a timer was set, and how often one rang. */
class CountingClock extends VirtualClock {
  set = 0;
  rang = 0;

  override setTimer(ring: () => void, waitMs: number): Timer {
    this.set += 1;
    return super.setTimer(() => {
      this.rang += 1;
      ring();
    }, waitMs);
  }
}

test('E5.3 there is one timer, set to the next moment, and none while nothing is due', async () => {
  const clock = new CountingClock();
  const scheduler = new Scheduler({ clock });
  await scheduler.add(nothing);
  expect([clock.timers, clock.set]).toEqual([[], 0]);
  const late = scheduler.add(nothing, { delay: '60s' });
  const soon = scheduler.add(nothing, { delay: '20s' });
  await clock.settle();
  expect(clock.timers).toEqual([{ waitMs: 20_000, keepsAlive: true }]);
  soon.cancel();
  await clock.settle();
  expect(clock.timers).toEqual([{ waitMs: 60_000, keepsAlive: true }]);
  await clock.advance('59s');
  expect([late.state, clock.rang]).toEqual(['delayed', 0]);
  await clock.advance('1s');
  expect([late.state, clock.rang]).toEqual(['completed', 1]);
  expect(clock.timers).toEqual([]);
  await scheduler.close();
});

test('E5.3 the timer follows whatever is nearer: a timeout, a backoff, a lease', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  const wait = async (): Promise<number | undefined> => {
    await clock.settle();
    return clock.timers[0]?.waitMs;
  };
  scheduler.add(nothing, { delay: '60s' });
  expect(await wait()).toBe(60_000);
  scheduler.add(() => new Promise(nothing), { timeout: '50s' });
  expect(await wait()).toBe(50_000);
  scheduler.add(() => Promise.reject(new Error('no')), { retry: { attempts: 2, backoff: 'fixed', base: '40s' } });
  expect(await wait()).toBe(40_000);
  scheduler.add(nothing, { capabilities: { remote: true } });
  const claim = await scheduler.worker({ capabilities: { remote: true }, lease: '30s' }).claim();
  expect(await wait()).toBe(30_000);
  await claim?.extend('55s');
  await claim?.complete();
  expect(await wait()).toBe(40_000);
  expect(clock.timers).toHaveLength(1);
});

test('E5.3 row 14 a moment further away than a timer can count is not early, and costs one more ring', async () => {
  const clock = new CountingClock();
  const scheduler = new Scheduler({ clock });
  const far = 2 ** 31 + 5;
  const handle = scheduler.add(nothing, { delay: far });
  await clock.settle();
  expect(clock.timers).toEqual([{ waitMs: 2 ** 31 - 1, keepsAlive: true }]);
  await clock.advance(far - 1);
  expect([handle.state, clock.rang, clock.timers]).toEqual(['delayed', 1, [{ waitMs: 1, keepsAlive: true }]]);
  await clock.advance(1);
  expect([handle.state, clock.rang]).toEqual(['completed', 2]);
  await scheduler.close();
});

test('E5.3 closing leaves no timer behind', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  scheduler.add(nothing, { delay: '1h' });
  scheduler.repeat(nothing, { every: '1m' });
  await clock.settle();
  expect(clock.timers).toHaveLength(1);
  await scheduler.close();
  expect(clock.timers).toEqual([]);
});

test('E5.2 the timer keeps the process alive for one-shot work, and not when only series are left', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  const isAlive = async (): Promise<boolean | undefined> => {
    await clock.settle();
    return clock.timers[0]?.keepsAlive;
  };
  const series = scheduler.repeat(nothing, { every: '10s' });
  scheduler.repeat(nothing, { cron: '0 9 * * *' });
  expect(await isAlive()).toBe(false);
  // The series' tick comes first, and the process stays all the same: the task comes after it.
  const later = scheduler.add(nothing, { delay: '25s' });
  expect([await isAlive(), clock.timers[0]?.waitMs]).toEqual([true, 10_000]);
  await clock.advance('10s');
  expect(await isAlive()).toBe(true);
  later.cancel();
  expect(await isAlive()).toBe(false);
  scheduler.add(() => Promise.reject(new Error('no')), { retry: { attempts: 2, backoff: 'fixed', base: '5s' } });
  expect(await isAlive()).toBe(true);
  await clock.advance('5s');
  expect(await isAlive()).toBe(false);
  series.cancel();
  expect(await isAlive()).toBe(false);
  await scheduler.close();
});

test('E5.2 a retry of an occurrence is part of its series, and a claim with a lease is not', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  scheduler.repeat(() => Promise.reject(new Error('no')), {
    every: '1h',
    retry: { attempts: 2, backoff: 'fixed', base: '10s' },
  });
  await clock.settle();
  expect(clock.timers).toEqual([{ waitMs: 10_000, keepsAlive: false }]);
  scheduler.add(nothing, { capabilities: { remote: true } });
  const claim = await scheduler.worker({ capabilities: { remote: true } }).claim();
  await clock.settle();
  expect(clock.timers).toEqual([{ waitMs: 10_000, keepsAlive: true }]);
  await claim?.complete();
  await clock.settle();
  expect(clock.timers).toEqual([{ waitMs: 10_000, keepsAlive: false }]);
  await scheduler.close();
});

/** Timers that the event loop of this thread stays for. */
function heldTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('E5.2 on the machine’s own clock the event loop stays for a task due later, and not for a series', async () => {
  const scheduler = new Scheduler();
  const before = heldTimers();
  scheduler.repeat(nothing, { every: '1h' });
  await turn();
  expect(heldTimers() - before).toBe(0);
  const later = scheduler.add(nothing, { delay: '2h' });
  await turn();
  expect(heldTimers() - before).toBe(1);
  later.cancel();
  await turn();
  expect(heldTimers() - before).toBe(0);
  await scheduler.close();
});

test.each([
  ['no object', 7],
  ['an object that cannot wake', { now: () => ({ wall: 2 * 10 ** 12, mono: 0 }) }],
  ['a time that is none', { now: () => ({ wall: Number.NaN, mono: 0 }), setTimer: nothing }],
  ['a fraction of a millisecond', { now: () => ({ wall: 2 * 10 ** 12, mono: 0.5 }), setTimer: nothing }],
])('E5.3 bad input: a clock that is %s is refused', (_, clock) => {
  expect(() => new Scheduler({ clock: clock as unknown as Clock })).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', field: expect.stringMatching(/^clock/) as string }),
  );
});

test('E4 E5.3 a cron series keeps to the wall clock of the given clock', async () => {
  const clock = new VirtualClock(Date.parse('2030-03-01T08:59:00Z'));
  const scheduler = new Scheduler({ clock });
  const ran: string[] = [];
  scheduler.repeat(() => ran.push(new Date(clock.now().wall).toISOString()), { cron: '0 9 * * *' });
  await clock.advance(DAY + 60_000);
  expect(ran).toEqual(['2030-03-01T09:00:00.000Z', '2030-03-02T09:00:00.000Z']);
  await scheduler.close();
});
