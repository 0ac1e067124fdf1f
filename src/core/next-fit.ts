import type { State } from './state.js';

/**
 * When a claim that would be refused now, because what waits lacks tokens alone, would be granted; `Infinity` for never.
 *
 * It follows from what waits and is worked out when it is asked for: kept on a timeline it would have to be a fact, or a
 * replayed core would not know it. Asks each shape once for each worker with a free slot, never a task that waits.
 */
export function nextFit(state: State): number {
  const { index, mono } = state;
  index.prepare(mono);
  let soonest = Infinity;
  for (const worker of state.workers.values()) {
    if (worker.running >= worker.spec.slots) continue;
    soonest = Math.min(soonest, index.soonest(worker.view ?? index.main, mono, worker.matches));
  }
  return soonest;
}
