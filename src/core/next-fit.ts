import type { Task } from '../model/index.js';
import { askedBy } from './attempts.js';
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
  for (const [task] of state.preemption.rooms.all()) {
    const moment = momentFor(state, task);
    if (moment > mono) soonest = Math.min(soonest, moment);
  }
  return soonest;
}

/** When there are tokens enough for a task for which units are kept; `Infinity` while those are not free. */
function momentFor(state: State, task: Task): number {
  const asks = task.attempt === undefined ? askedBy(state, task) : [];
  return Math.max(
    -Infinity,
    ...asks.map(({ pool, amount }) => (pool.hasUnits(amount) ? (pool.flow?.soonest(amount) ?? -Infinity) : Infinity)),
  );
}
