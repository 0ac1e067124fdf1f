import { type Scheduler } from '../src/index.js';
import { type Round } from './clock.js';
import { type Dag } from './dag.js';
import { loadScheduler } from './ours.js';
import { loadPGraph, loadPLimit } from './peers.js';

// Each candidate is handed the graph as arrays of numbers outside the clock; building what it wants of it (handles,
// promises, maps of nodes) is part of the measured work, as it is for whoever uses it.

const slots = 16;
const noop = async () => {};

type Shape = (nodes: number) => Dag;

const addRoot = (scheduler: Scheduler) => scheduler.add(noop);
type Handle = ReturnType<typeof addRoot>;

export const ours =
  (shape: Shape): Round =>
  async (count) => {
    const { nodes, starts, parents } = shape(count);
    const scheduler = new (await loadScheduler())({ concurrency: slots });
    return async () => {
      const handles = new Array<Handle>(nodes);
      for (let node = 0; node < nodes; node++) {
        const after: Handle[] = [];
        for (let at = starts[node]!; at < starts[node + 1]!; at++) after.push(handles[parents[at]!]!);
        handles[node] = after.length === 0 ? addRoot(scheduler) : scheduler.add(noop, { after });
      }
      await scheduler.onIdle();
      await scheduler.close();
    };
  };

/** No limit on how many run at once, which is less work than ours. */
export const barePromises =
  (shape: Shape): Round =>
  (count) => {
    const dag = shape(count);
    return () => runAsPromises(dag, noop);
  };

export const pLimit =
  (shape: Shape): Round =>
  async (count) => {
    const dag = shape(count);
    const limited = (await loadPLimit())(slots);
    return () => runAsPromises(dag, () => limited(noop));
  };

async function runAsPromises({ nodes, starts, parents }: Dag, run: () => Promise<void>): Promise<void> {
  const results = new Array<Promise<void>>(nodes);
  for (let node = 0; node < nodes; node++) {
    const after: Promise<void>[] = [];
    for (let at = starts[node]!; at < starts[node + 1]!; at++) after.push(results[parents[at]!]!);
    results[node] = after.length === 0 ? run() : Promise.all(after).then(run);
  }
  await Promise.all(results);
}

export const pGraph =
  (shape: Shape): Round =>
  async (count) => {
    const { nodes, starts, parents } = shape(count);
    const PGraph = await loadPGraph();
    return async () => {
      const named = new Map<string, { run: () => Promise<void> }>();
      const dependencies: [string, string][] = [];
      for (let node = 0; node < nodes; node++) {
        const name = String(node);
        named.set(name, { run: noop });
        for (let at = starts[node]!; at < starts[node + 1]!; at++) dependencies.push([String(parents[at]!), name]);
      }
      await new PGraph(named, dependencies).run({ concurrency: slots });
    };
  };

/** Counts of unmet parents and lists of children in arrays of numbers, a first-in-first-out array, one loop per slot. */
export const limit =
  (shape: Shape): Round =>
  (count) => {
    const { nodes, starts, parents } = shape(count);
    return async () => {
      const runs: (() => Promise<void>)[] = [];
      const unmet = new Int32Array(nodes);
      const firstChild = new Int32Array(nodes).fill(-1);
      const nextChild = new Int32Array(parents.length);
      const child = new Int32Array(parents.length);
      const ready = new Int32Array(nodes);
      let head = 0;
      let tail = 0;
      for (let node = 0; node < nodes; node++) {
        runs.push(noop);
        unmet[node] = starts[node + 1]! - starts[node]!;
        if (unmet[node] === 0) ready[tail++] = node;
        for (let at = starts[node]!; at < starts[node + 1]!; at++) {
          const parent = parents[at]!;
          child[at] = node;
          nextChild[at] = firstChild[parent]!;
          firstChild[parent] = at;
        }
      }
      const { promise: idle, resolve } = deferred();
      let busy = 0;
      const wake = () => {
        while (busy < slots && head < tail) void loop(ready[head++]!);
      };
      const loop = async (first: number) => {
        busy++;
        for (let node = first; ; node = ready[head++]!) {
          await runs[node]!();
          for (let at = firstChild[node]!; at !== -1; at = nextChild[at]!) {
            const left = --unmet[child[at]!]!;
            if (left === 0) ready[tail++] = child[at]!;
          }
          if (head === tail) break;
          if (busy < slots) wake();
          if (head === tail) break;
        }
        busy--;
        if (busy === 0 && head === nodes) resolve();
      };
      wake();
      await idle;
    };
  };

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
