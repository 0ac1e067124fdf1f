import { bytesPer } from '../memory.js';
import { loadScheduler } from '../ours.js';
import { loadAsync, loadFastq, loadPQueue } from '../peers.js';
import { randomIntegers } from '../random.js';
import { atMost, type Candidate, type Row } from '../row.js';

// All tasks share one function, and the array that keeps the promises is there before the first reading, so what
// is counted is the scheduler's own record of a task, its place in the order, and the promise.
const tasks = 100_000;
const noop = async () => {};

async function pendingBytes(open: () => Promise<(priority: number) => unknown>): Promise<number> {
  const priorities = randomIntegers(tasks, 10);
  const results = new Array<unknown>(tasks).fill(undefined);
  const add = await open();
  // The first task makes what a queue makes only once.
  add(0);
  return bytesPer(tasks, () => {
    for (let i = 0; i < tasks; i++) results[i] = add(priorities[i]!);
    return [results, add];
  });
}

const candidate = (name: string, open: () => Promise<(priority: number) => unknown>): Candidate => ({
  name,
  memory: true,
  measure: () => pendingBytes(open),
});

const p5: Row = {
  id: 'P5',
  group: 'api',
  work: 'memory per pending task, 100k pending, random priority',
  unit: 'bytes',
  better: 'lower',
  candidates: [
    {
      ...candidate('precedence, with a promise', async () => {
        const scheduler = new (await loadScheduler())({ concurrency: 16 });
        return (priority) => scheduler.add(noop, { priority }).result;
      }),
      bars: [atMost(430)],
    },
    {
      ...candidate('precedence, without', async () => {
        const scheduler = new (await loadScheduler())({ concurrency: 16 });
        return (priority) => void scheduler.add(noop, { priority });
      }),
      bars: [atMost(220)],
    },
    candidate('p-queue', async () => {
      const queue = new (await loadPQueue())({ concurrency: 16, autoStart: false });
      return (priority) => queue.add(noop, { priority });
    }),
    candidate('fastq.promise', async () => {
      const queue = (await loadFastq()).promise(noop, 16);
      queue.pause();
      return (priority) => queue.push(priority);
    }),
    candidate('async.priorityQueue', async () => {
      const queue = (await loadAsync()).priorityQueue(noop, 16);
      queue.pause();
      return (priority) => queue.push(priority, priority);
    }),
  ],
};

export const rows = [p5];
