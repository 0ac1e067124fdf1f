import type { Handle } from '../../src/index.js';
import { awaitEach, perSecond, type Round } from '../clock.js';
import { awaitResults, loadScheduler } from '../ours.js';
import { loadAsync, loadFastq, loadPLimit, loadPQueue } from '../peers.js';
import { ahead, type Row } from '../row.js';

const slots = 16;
const tasks = 100_000;
const noop = async () => {};
/** Queues with one worker for all tasks are handed functions, as the others are. */
const runIt = async (run: unknown) => (run as () => Promise<void>)();

/** Every candidate has a function that takes a task and promises its result; the rest is the same for all. */
const awaited =
  (open: () => Promise<(index: number) => Promise<unknown>>): Round =>
  async (count) => {
    const results = new Array<Promise<unknown>>(count);
    const add = await open();
    return async () => {
      for (let i = 0; i < count; i++) results[i] = add(i);
      await awaitEach(results);
    };
  };

const ours: Round = async (count) => {
  const handles = new Array<Handle<void>>(count);
  const scheduler = new (await loadScheduler())({ concurrency: slots });
  return async () => {
    for (let i = 0; i < count; i++) handles[i] = scheduler.add(noop);
    await awaitResults(handles);
    await scheduler.close();
  };
};

const oursAtOnce: Round = async (count) => {
  const results = new Array<Promise<void>>(count);
  const scheduler = new (await loadScheduler())({ concurrency: slots });
  return async () => {
    for (let i = 0; i < count; i++) results[i] = scheduler.add(noop).result;
    await awaitEach(results);
    await scheduler.close();
  };
};

const asyncAwaited = awaited(async () => {
  const queue = (await loadAsync()).queue(runIt, slots);
  return () => queue.push(noop);
});

const asyncDrained: Round = async (count) => {
  const queue = (await loadAsync()).queue(runIt, slots);
  return async () => {
    for (let i = 0; i < count; i++) void queue.push(noop);
    await queue.drain();
  };
};

/** With a callback it makes no promises. */
const asyncCallback: Round = async (count) => {
  const queue = (await loadAsync()).queue(runIt, slots);
  const ignore = () => {};
  return async () => {
    for (let i = 0; i < count; i++) queue.push(noop, ignore);
    await queue.drain();
  };
};

const fastq = awaited(async () => {
  const queue = (await loadFastq()).promise(runIt, slots);
  return () => queue.push(noop);
});

const pQueue = awaited(async () => {
  const queue = new (await loadPQueue())({ concurrency: slots });
  return () => queue.add(noop);
});

const pLimit = awaited(async () => {
  const limited = (await loadPLimit())(slots);
  return () => limited(noop);
});

/** Two arrays, a head, one promise per task, one loop per slot. */
const limit: Round = (count) => {
  const results = new Array<Promise<void>>(count);
  const runs: (() => Promise<void>)[] = [];
  const resolvers: (() => void)[] = [];
  let head = 0;
  const add = (run: () => Promise<void>): Promise<void> => {
    runs.push(run);
    return new Promise((resolve) => {
      resolvers.push(resolve);
    });
  };
  const loop = async () => {
    while (head < runs.length) {
      const sequence = head++;
      await runs[sequence]!();
      resolvers[sequence]!();
    }
  };
  return async () => {
    for (let i = 0; i < count; i++) results[i] = add(noop);
    for (let i = 0; i < slots; i++) void loop();
    await awaitEach(results);
  };
};

const p2: Row = {
  id: 'P2',
  group: 'api',
  work: '100k no-op async tasks, first in first out, 16 at once, every result awaited',
  unit: 'tasks/s',
  better: 'higher',
  candidates: [
    { name: 'precedence', measure: perSecond(tasks, ours) },
    { name: 'precedence, results asked for at once', measure: perSecond(tasks, oursAtOnce) },
    { name: 'async.queue', measure: perSecond(tasks, asyncAwaited), bars: [ahead(1.1)] },
    { name: 'async.queue, drained', measure: perSecond(tasks, asyncDrained) },
    { name: 'async.queue, callback, drained', measure: perSecond(tasks, asyncCallback) },
    { name: 'fastq.promise', measure: perSecond(tasks, fastq) },
    { name: 'p-queue', measure: perSecond(tasks, pQueue), bars: [ahead(1.6)] },
    { name: 'p-limit', measure: perSecond(tasks, pLimit) },
    { name: 'limit', measure: perSecond(tasks, limit) },
  ],
};

export const rows = [p2];
