import { afterEach, expect, test } from 'vitest';
import { InProcess, Scheduler, type Handle, type SchedulerOptions } from '../../src/index.js';

const MANY = 100_000;
const turning = { on: false };

/** Counts how often the event loop goes round from now on. */
function countTurns(): { turns: number } {
  const count = { turns: 0 };
  const turn = (): void => {
    count.turns += 1;
    if (turning.on) setImmediate(turn);
  };
  turning.on = true;
  setImmediate(turn);
  return count;
}

afterEach(() => {
  performance.now = machineTime;
  passed.ms = 0;
  turning.on = false;
});

function chain(scheduler: Scheduler): Handle<number>[] {
  const handles = [scheduler.add(() => 1)];
  for (let i = 1; i < MANY; i += 1) {
    handles.push(scheduler.add((task) => task.dependencies[0] + 1, { after: [handles[i - 1] as Handle<number>] }));
  }
  return handles;
}

test('row 26 a chain of 100,000 runs to its end, and the event loop breathes meanwhile', async () => {
  const scheduler = new Scheduler({ retain: { count: 10 } });
  const handles = chain(scheduler);
  const count = countTurns();
  expect(await handles.at(-1)?.result).toBe(MANY);
  expect(count.turns).toBeGreaterThan(0);
  await scheduler.close();
});

test('row 26 one task, then 100,000 after it, then one after all of these', async () => {
  const scheduler = new Scheduler({ retain: { count: 10 } });
  const root = scheduler.add(() => 1);
  const leaves = Array.from({ length: MANY }, () => scheduler.add((task) => task.dependencies[0], { after: [root] }));
  const sink = scheduler.add((task) => task.dependencies.reduce((sum, one) => sum + one, 0), { after: leaves });
  const count = countTurns();
  expect(await sink.result).toBe(MANY);
  expect(count.turns).toBeGreaterThan(0);
  expect(root.state).toBe('completed');
  await scheduler.close();
});

test('row 26 cancelling the root of a chain of 100,000 with all that comes after it settles every one', async () => {
  const scheduler = new Scheduler({ retain: { count: 10 } });
  const handles = chain(scheduler);
  const results = Promise.allSettled(handles.map(({ result }) => result));
  const [root, last] = [handles[0] as Handle<number>, handles.at(-1) as Handle<number>];
  expect(scheduler.cancel(root.id, { reason: 'not wanted', cascade: true })).toBe(MANY);
  expect((await results).filter(({ status }) => status === 'rejected')).toHaveLength(MANY);
  await expect(last.result).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(scheduler.size).toBe(0);
  await scheduler.close();
});

/** Beyond the time that passes by itself. */
const passed = { ms: 0 };
const machineTime = performance.now.bind(performance);

/** Work that takes so long, as far as the machine's clock tells. */
function busy(ms: number): void {
  performance.now = () => machineTime() + passed.ms;
  passed.ms += ms;
}

const PLACES: readonly (readonly [where: string, options: () => SchedulerOptions])[] = [
  ['in slots', () => ({ concurrency: 2 })],
  ['beside executors', () => ({ concurrency: 2, executors: [new InProcess({ id: 'beside', slots: 1 })] })],
  ['in the loop of a worker', () => ({ concurrency: 0 })],
];

test.each(PLACES)(
  'tasks that add tasks without end, %s, leave timers their turn, and the scheduler can be closed meanwhile',
  async (_, options) => {
    const scheduler = new Scheduler(options());
    const worker = scheduler.worker({ slots: 1 });
    const loop = (async () => {
      for await (const claim of worker) await claim.run();
    })();
    let ran = 0;
    const again = (): void => {
      ran += 1;
      // Should no timer ever ring, it ends all the same.
      if (ran < 1_000_000) scheduler.add(again);
    };
    again();
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(ran).toBeGreaterThan(0);
    expect(ran).toBeLessThan(1_000_000);
    await scheduler.close();
    await loop;
    expect(scheduler.running).toBe(0);
  },
);

test('slow tasks that never wait leave others their turn too, and are told to take as long as they do', async () => {
  const scheduler = new Scheduler({ concurrency: 2 });
  const durations: (number | undefined)[] = [];
  scheduler.on('completed', ({ durationMs }) => durations.push(durationMs));
  let endedBefore = Infinity;
  setImmediate(() => (endedBefore = durations.length));
  for (let i = 0; i < 30; i += 1) {
    scheduler.add(() => {
      busy(8);
    });
  }
  await scheduler.onIdle();
  expect(endedBefore).toBeLessThan(30);
  expect(Math.min(...durations.map((each) => each ?? 0))).toBeGreaterThan(5);
  expect(scheduler.stats().durations.meanMs).toBeGreaterThan(5);
  await scheduler.close();
});

test("D12.1 with charge: 'time' channels share the time also of tasks that never wait for anything", async () => {
  const channels = { charge: 'time' } as const;
  const scheduler = new Scheduler({ concurrency: 1, strategy: 'fair', channels, aging: false });
  const order: string[] = [];
  for (let i = 0; i < 8; i += 1) {
    for (const [channel, ms] of [
      ['quick', 4],
      ['slow', 16],
    ] as const) {
      scheduler.add(
        () => {
          busy(ms);
          order.push(channel);
        },
        { channel },
      );
    }
  }
  await scheduler.onIdle();
  // In the time of the quick ones, about a quarter as many slow ones: not one of each in turn, and not only the first.
  const among = order.slice(0, order.lastIndexOf('quick')).filter((each) => each === 'slow');
  expect(among.length).toBeGreaterThan(1);
  expect(among.length).toBeLessThan(5);
  await scheduler.close();
});
