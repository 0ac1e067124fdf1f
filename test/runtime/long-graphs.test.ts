import { afterEach, expect, test } from 'vitest';
import { Scheduler, type Handle } from '../../src/index.js';

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

test('tasks that add tasks without end leave timers their turn, and a scheduler can be closed meanwhile', async () => {
  const scheduler = new Scheduler({ concurrency: 2 });
  let ran = 0;
  const again = (): void => {
    ran += 1;
    scheduler.add(again);
  };
  again();
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(ran).toBeGreaterThan(0);
  await scheduler.close();
  expect(scheduler.running).toBe(0);
});
