import type { Handle } from '../../src/index.js';
import { awaitEach, perSecond, type Round } from '../clock.js';
import { awaitResults, loadScheduler } from '../ours.js';
import { loadAsync, loadPQueue } from '../peers.js';
import { randomIntegers } from '../random.js';
import { ahead, type Row } from '../row.js';

// Priorities are whole numbers from 0 to 9. p-queue runs the highest first and the others the lowest; random
// ones make that the same work.
const levels = 10;
const slots = 16;
const tasks = 100_000;
const noop = async () => {};
/** Queues with one worker for all tasks are handed functions, as the others are. */
const runIt = async (run: unknown) => (run as () => Promise<void>)();

export const ours: Round = async (count) => {
  const priorities = randomIntegers(count, levels);
  const handles = new Array<Handle<void>>(count);
  const scheduler = new (await loadScheduler())({ concurrency: slots });
  return async () => {
    for (let i = 0; i < count; i++) handles[i] = scheduler.add(noop, { priority: priorities[i]! });
    await awaitResults(handles);
    await scheduler.close();
  };
};

const oursAtOnce: Round = async (count) => {
  const priorities = randomIntegers(count, levels);
  const results = new Array<Promise<void>>(count);
  const scheduler = new (await loadScheduler())({ concurrency: slots });
  return async () => {
    for (let i = 0; i < count; i++) results[i] = scheduler.add(noop, { priority: priorities[i]! }).result;
    await awaitEach(results);
    await scheduler.close();
  };
};

const asyncAwaited: Round = async (count) => {
  const priorities = randomIntegers(count, levels);
  const results = new Array<Promise<unknown>>(count);
  const queue = (await loadAsync()).priorityQueue(runIt, slots);
  return async () => {
    for (let i = 0; i < count; i++) results[i] = queue.push(noop, priorities[i]!);
    await awaitEach(results);
  };
};

const asyncDrained: Round = async (count) => {
  const priorities = randomIntegers(count, levels);
  const queue = (await loadAsync()).priorityQueue(runIt, slots);
  return async () => {
    for (let i = 0; i < count; i++) void queue.push(noop, priorities[i]!);
    await queue.drain();
  };
};

/** With a callback it makes no promises. */
const asyncCallback: Round = async (count) => {
  const priorities = randomIntegers(count, levels);
  const queue = (await loadAsync()).priorityQueue(runIt, slots);
  const ignore = () => {};
  return async () => {
    for (let i = 0; i < count; i++) queue.push(noop, priorities[i]!, ignore);
    await queue.drain();
  };
};

export const pQueue: Round = async (count) => {
  const priorities = randomIntegers(count, levels);
  const results = new Array<Promise<void>>(count);
  const queue = new (await loadPQueue())({ concurrency: slots });
  return async () => {
    for (let i = 0; i < count; i++) results[i] = queue.add(noop, { priority: priorities[i]! });
    await awaitEach(results);
  };
};

/** One array per priority, one promise per task, one loop per slot. */
export const limit: Round = (count) => {
  const priorities = randomIntegers(count, levels);
  const results = new Array<Promise<void>>(count);
  const queues = Array.from({ length: levels }, () => ({ tasks: [] as LimitTask[], head: 0 }));
  const add = (run: () => Promise<void>, priority: number): Promise<void> => {
    const task: LimitTask = { run, resolve: undefined };
    queues[priority]!.tasks.push(task);
    return new Promise((resolve) => {
      task.resolve = resolve;
    });
  };
  const loop = async () => {
    for (const queue of queues) {
      while (queue.head < queue.tasks.length) {
        const task = queue.tasks[queue.head++]!;
        await task.run();
        task.resolve?.();
      }
    }
  };
  return async () => {
    for (let i = 0; i < count; i++) results[i] = add(noop, priorities[i]!);
    for (let i = 0; i < slots; i++) void loop();
    await awaitEach(results);
  };
};

interface LimitTask {
  readonly run: () => Promise<void>;
  resolve: (() => void) | undefined;
}

const p1: Row = {
  id: 'P1',
  group: 'api',
  work: '100k no-op async tasks, random priority, 16 at once, every result awaited',
  unit: 'tasks/s',
  better: 'higher',
  candidates: [
    { name: 'precedence', measure: perSecond(tasks, ours) },
    { name: 'precedence, results asked for at once', measure: perSecond(tasks, oursAtOnce) },
    { name: 'async.priorityQueue', measure: perSecond(tasks, asyncAwaited), bars: [ahead(1.25)] },
    { name: 'async.priorityQueue, drained', measure: perSecond(tasks, asyncDrained), bars: [ahead(1)] },
    { name: 'async.priorityQueue, callback, drained', measure: perSecond(tasks, asyncCallback) },
    { name: 'p-queue', measure: perSecond(tasks, pQueue), bars: [ahead(11)] },
    { name: 'limit', measure: perSecond(tasks, limit) },
  ],
};

export const rows = [p1];
