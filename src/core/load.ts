import type { State } from './state.js';
import type { WaitSummary } from './wait-statistics.js';

/** How much of something is in use: 1 is all of it, and of what has no limit nothing ever is. */
export interface Utilisation {
  readonly used: number;
  readonly capacity: number;
  readonly share: number;
}

/** How busy a core is. */
export interface CoreLoad {
  /** Unfinished tasks that do not run. */
  readonly pending: number;
  /** Those of them that could be claimed, were there a slot and all they need. */
  readonly ready: number;
  readonly running: number;
  /** How long the ready task that has waited for longest has been ready. */
  readonly oldestWaitMs: number;
  /** How long tasks had been ready that started in the latest one to two minutes. */
  readonly waits: WaitSummary;
  /** The slots of all workers together. */
  readonly slots: Utilisation;
  /** By name. */
  readonly resources: ReadonlyMap<string, Utilisation>;
}

/** How busy the core is now. Costs as much as there are workers and resources, and O(log n) for the oldest wait. */
export function loadOf(state: State, mono: number): CoreLoad {
  const workers = [...state.workers.values()];
  const slots = workers.reduce((sum, { spec }) => sum + spec.slots, 0);
  const oldest = state.oldestReady();
  return {
    pending: state.unstarted,
    ready: state.index.size,
    running: state.running,
    oldestWaitMs: oldest === undefined ? 0 : mono - oldest.ready,
    waits: state.waits.summary(mono),
    slots: utilisation(
      workers.reduce((sum, { running }) => sum + running, 0),
      slots,
    ),
    resources: new Map(
      [...state.resources.pools.values()].map((pool) => [pool.name, utilisation(pool.held, pool.capacity)] as const),
    ),
  };
}

function utilisation(used: number, capacity: number): Utilisation {
  if (used === 0) return { used, capacity, share: 0 };
  // What was taken away while it was held is all in use.
  return { used, capacity, share: capacity === 0 ? 1 : used / capacity };
}
