import { setImmediate } from 'node:timers/promises';
import { microsecondsPerTask, type Round } from '../clock.js';
import { bytesPer } from '../memory.js';
import { loadScheduler } from '../ours.js';
import { randomIntegers } from '../random.js';
import { growth, type Candidate, type Row } from '../row.js';

const timers = 100_000;
const hourMs = 3_600_000;
const noop = () => {};

/** How long until each is due: between one and two hours, so that none comes due while it is measured. */
const waits = (count: number): number[] => randomIntegers(count, hourMs, 15).map((ms) => hourMs + ms);

const schedulerRound: Round = async (count) => {
  const scheduler = new (await loadScheduler())({ concurrency: 16 });
  const now = Date.now();
  const etas = waits(count).map((waitMs) => now + waitMs);
  return async () => {
    const handles = etas.map((eta) => scheduler.add(noop, { eta }));
    await setImmediate();
    for (const handle of handles) handle.cancel();
    await scheduler.close();
  };
};

const setTimeoutRound: Round = (count) => {
  const waitsMs = waits(count);
  return async () => {
    const armed = waitsMs.map((waitMs) => setTimeout(noop, waitMs));
    await setImmediate();
    for (const timer of armed) clearTimeout(timer);
  };
};

const speed: Row = {
  id: 'P15 speed',
  group: 'api',
  work: '100k timers, due at random within an hour: each is added, then each is cancelled',
  unit: 'µs/timer',
  better: 'lower',
  candidates: [
    { name: 'precedence', measure: microsecondsPerTask(timers, schedulerRound), bars: [growth('setTimeout', 0.3)] },
    { name: 'setTimeout', measure: microsecondsPerTask(timers, setTimeoutRound) },
  ],
};

const memoryCandidate = (name: string, open: () => Promise<(waitMs: number) => unknown>): Candidate => ({
  name,
  memory: true,
  measure: async () => {
    const waitsMs = waits(timers);
    const kept = new Array<unknown>(timers).fill(undefined);
    const add = await open();
    // The first one makes what is made only once.
    add(hourMs);
    return bytesPer(timers, () => {
      for (let i = 0; i < timers; i++) kept[i] = add(waitsMs[i]!);
      return [kept, add];
    });
  },
});

const memory: Row = {
  id: 'P15 memory',
  group: 'api',
  work: 'memory per timer, 100k of them, with what cancels it',
  unit: 'bytes',
  better: 'lower',
  candidates: [
    memoryCandidate('precedence', async () => {
      const scheduler = new (await loadScheduler())({ concurrency: 16 });
      const now = Date.now();
      return (waitMs) => scheduler.add(noop, { eta: now + waitMs });
    }),
    memoryCandidate('setTimeout', () => Promise.resolve((waitMs) => setTimeout(noop, waitMs))),
  ],
};

const dueTasks = 1_000;
const dueWithinMs = 2_000;
const turnMs = 0.5;

/** Some work that keeps the event loop from doing anything else, then a turn of the loop. */
async function busyTurn(): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < turnMs);
  await setImmediate();
}

/** Calls `note` at so many milliseconds from now. */
type Arm = (note: () => void, waitMs: number) => unknown;

/** The 99th percentile of how late something runs that is due while tasks of one scheduler keep the loop busy. */
const lateness = (open: (scheduler: InstanceType<Awaited<ReturnType<typeof loadScheduler>>>) => Arm) => async () => {
  const scheduler = new (await loadScheduler())({ concurrency: 4, aging: false });
  const load = { over: false };
  const busy = async (): Promise<void> => {
    await busyTurn();
    if (!load.over) scheduler.add(busy);
  };
  // More than there are slots for, so that there is always one that waits for a slot.
  for (let i = 0; i < 16; i++) scheduler.add(busy);
  for (let i = 0; i < 200; i++) await setImmediate();
  const lateMs: number[] = [];
  const arm = open(scheduler);
  await new Promise<void>((resolve) => {
    for (const waitMs of randomIntegers(dueTasks, dueWithinMs, 16)) {
      const dueAt = performance.now() + waitMs;
      const note = (): void => {
        if (lateMs.push(performance.now() - dueAt) === dueTasks) resolve();
      };
      arm(note, waitMs);
    }
  });
  load.over = true;
  await scheduler.close();
  return lateMs.sort((x, y) => x - y)[Math.floor(0.99 * dueTasks)]!;
};

const onTime: Row = {
  id: 'P15 late',
  group: 'api',
  work: '1,000 urgent tasks due within 2 s while others fill all slots and the event loop: how late, 99th percentile',
  unit: 'ms',
  better: 'lower',
  candidates: [
    {
      name: 'precedence',
      measure: lateness((scheduler) => (note, delay) => scheduler.add(note, { delay, priority: 'critical' })),
      bars: [growth('setTimeout beside them', 2)],
    },
    // It needs no slot and starts at once, so it is what the event loop allows at the best.
    { name: 'setTimeout beside them', measure: lateness(() => (note, waitMs) => setTimeout(note, waitMs)) },
  ],
};

export const rows = [speed, memory, onTime];
