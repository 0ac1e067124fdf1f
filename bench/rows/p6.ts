import { setImmediate } from 'node:timers/promises';
import { loadScheduler } from '../ours.js';
import { loadHeap } from '../peers.js';
import { randomIntegers } from '../random.js';
import { atMost, growth, type Row } from '../row.js';

const slots = 16;
const noop = async () => {};

/** Cancels tasks picked at random among `ready` ones and returns the microseconds per cancel. */
type CancelSome = (ready: number, cancels: number) => Promise<number>;

const ours: CancelSome = async (ready, cancels) => {
  const scheduler = new (await loadScheduler())({ concurrency: slots });
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  // With every slot taken, what follows stays ready.
  for (let i = 0; i < slots; i++) scheduler.add(() => gate);
  // They must have started: what is added in the same turn is ordered by priority first.
  await setImmediate();
  const priorities = randomIntegers(ready, 10);
  const handles = priorities.map((priority) => scheduler.add(noop, { priority }));
  const victims = pick(ready, cancels).map((index) => handles[index]!);
  await setImmediate();
  const startedAt = performance.now();
  for (const victim of victims) victim.cancel();
  const elapsedMs = performance.now() - startedAt;
  open();
  await scheduler.onIdle();
  await scheduler.close();
  return (elapsedMs * 1e3) / cancels;
};

const heapJs: CancelSome = async (ready, cancels) => {
  const heap = new (await loadHeap())<{ priority: number; sequence: number }>(
    (a, b) => a.priority - b.priority || a.sequence - b.sequence,
  );
  const tasks = randomIntegers(ready, 10).map((priority, sequence) => ({ priority, sequence }));
  heap.init([...tasks]);
  const victims = pick(ready, cancels).map((index) => tasks[index]!);
  const startedAt = performance.now();
  for (const victim of victims) heap.remove(victim);
  return ((performance.now() - startedAt) * 1e3) / cancels;
};

function pick(ready: number, cancels: number): number[] {
  const chosen = new Set<number>();
  if (cancels === ready) return Array.from({ length: ready }, (_, index) => index);
  for (const index of randomIntegers(10 * cancels, ready, 2)) if (chosen.size < cancels) chosen.add(index);
  return [...chosen];
}

/** Warmed up like every other row, with two rounds of 30,000 tasks: ours are cancelled to the last, of which one takes next to nothing. */
const measured = (cancelSome: CancelSome, ready: number, cancels: number, warmUp: number) => async () => {
  await cancelSome(30_000, warmUp);
  await cancelSome(30_000, warmUp);
  return cancelSome(ready, cancels);
};

const p6: Row = {
  id: 'P6',
  group: 'core',
  work: 'cancel one of 100k ready tasks, and one of 10k',
  unit: 'µs',
  better: 'lower',
  candidates: [
    {
      name: 'precedence, 100k',
      measure: measured(ours, 100_000, 1_000, 30_000),
      bars: [atMost(1), growth('precedence, 10k', 2)],
    },
    { name: 'precedence, 10k', measure: measured(ours, 10_000, 1_000, 30_000) },
    // One takes tens of milliseconds.
    { name: 'heap-js remove, 100k', measure: measured(heapJs, 100_000, 10, 10) },
    { name: 'heap-js remove, 10k', measure: measured(heapJs, 10_000, 10, 10), against: 'precedence, 10k' },
  ],
};

export const rows = [p6];
