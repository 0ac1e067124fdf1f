import { expect, test } from 'vitest';
import { SystemClock } from '../../src/runtime/clock.js';
import { SIM_START, VirtualClock } from '../../src/testing/index.js';

test('time passes only when it is told to, on both clocks, and the wall clock can jump', async () => {
  const clock = new VirtualClock();
  expect(clock.now()).toEqual({ wall: SIM_START, mono: 0 });
  await clock.advance('1m30s');
  expect(clock.now()).toEqual({ wall: SIM_START + 90_000, mono: 90_000 });
  clock.jump(-50_000);
  expect(clock.now()).toEqual({ wall: SIM_START + 40_000, mono: 90_000 });
  expect(new VirtualClock(5).now().wall).toBe(5);
});

test('timers ring in order, each at its own moment, also those that others set on the way', async () => {
  const clock = new VirtualClock();
  const rang: [string, number][] = [];
  const ring = (name: string) => (): void => {
    rang.push([name, clock.now().mono]);
  };
  clock.setTimer(ring('late'), 30);
  clock.setTimer(() => {
    ring('soon')();
    clock.setTimer(ring('between'), 15);
  }, 10);
  clock.setTimer(ring('never'), 20).cancel();
  clock.setTimer(ring('beyond'), 31);
  await clock.advance(30);
  expect(rang).toEqual([
    ['soon', 10],
    ['between', 25],
    ['late', 30],
  ]);
  expect(clock.timers).toEqual([{ waitMs: 1, keepsAlive: true }]);
});

test('what follows from one moment by promises alone has happened before the next', async () => {
  const clock = new VirtualClock();
  const seen: number[] = [];
  for (const ms of [1, 2]) {
    clock.setTimer(() => {
      void (async () => {
        for (let i = 0; i < 50; i += 1) await Promise.resolve();
        seen.push(clock.now().mono);
      })();
    }, ms);
  }
  await clock.advance(10);
  expect(seen).toEqual([1, 2]);
});

test('a timer says whether a process would stay for it', () => {
  const clock = new VirtualClock();
  const timer = clock.setTimer(() => undefined, 5);
  timer.unref();
  expect(clock.timers).toEqual([{ waitMs: 5, keepsAlive: false }]);
  timer.ref();
  expect(clock.timers).toEqual([{ waitMs: 5, keepsAlive: true }]);
});

test('bad input: a wait that no timer can count to, and a duration that is none, are refused', async () => {
  const clock = new VirtualClock();
  for (const waitMs of [2 ** 31, -1, Number.NaN]) {
    expect(() => clock.setTimer(() => undefined, waitMs)).toThrow(expect.objectContaining({ field: 'waitMs' }));
  }
  await expect(clock.advance('soon')).rejects.toMatchObject({ field: 'duration' });
});

test('the machine’s clock is read once per turn of the event loop, and anew for whoever a timer wakes', async () => {
  const clock = new SystemClock();
  const first = clock.now();
  await Promise.resolve();
  expect(clock.now()).toBe(first);
  await new Promise((resolve) => setImmediate(resolve));
  expect(clock.now()).not.toBe(first);
  // Both are due at the same time and ring in the same turn: the second must not get the time of the first.
  const told: unknown[] = [];
  await new Promise<void>((resolve) => {
    clock.setTimer(() => told.push(clock.now()), 1);
    clock.setTimer(() => {
      told.push(clock.now());
      resolve();
    }, 1);
  });
  expect(told[1]).not.toBe(told[0]);
});

test('a handler sleeps in virtual time, also for longer than timers can count to', async () => {
  const clock = new VirtualClock();
  const woken: number[] = [];
  for (const ms of [0, 70, 3e9]) void clock.sleep(ms).then(() => woken.push(clock.now().mono));
  await clock.advance(69);
  expect(woken).toEqual([0]);
  await clock.advance(3e9 - 70);
  expect(woken).toEqual([0, 70]);
  await clock.advance(1);
  expect(woken).toEqual([0, 70, 3e9]);
});

test('time passes until a promise has settled, and no further', async () => {
  const clock = new VirtualClock();
  void clock.sleep('1h');
  expect(await clock.until(clock.sleep('5s').then(() => 'done'))).toBe('done');
  expect(clock.now().mono).toBe(5_000);
  const failing = clock.sleep(1).then(() => {
    throw new Error('on purpose');
  });
  await expect(clock.until(failing)).rejects.toThrow('on purpose');
});

test('a promise that no timer could settle is refused instead of waited for', async () => {
  const clock = new VirtualClock();
  await expect(clock.until(new Promise(() => undefined))).rejects.toMatchObject({ code: 'INVALID_CONFIG' });
});
