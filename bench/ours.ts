import type { Handle } from '../src/index.js';

// Our own code is loaded like a peer's, only by the candidate that needs it, so that no process carries what its
// candidate does not use. Peers measured lower with every row loaded; shifted garbage collection is the likely reason.
export const loadScheduler = async () => (await import('../src/index.js')).Scheduler;
export const loadFileStore = async () => (await import('../src/index.js')).FileStore;
export const loadGraph = async () => (await import('../src/core/graph.js')).Graph;
export const loadCore = async () => {
  const [{ Core }, { parseTaskOptions }] = await Promise.all([
    import('../src/core/index.js'),
    import('../src/model/index.js'),
  ]);
  return { Core, parseTaskOptions };
};

/** Awaits the result of every task by itself; a handle makes its promise when it is asked for it. */
export async function awaitResults(handles: readonly Handle<unknown>[]): Promise<void> {
  for (let i = 0; i < handles.length; i++) await handles[i]!.result;
}
