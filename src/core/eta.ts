import type { TaskSpec } from '../model/index.js';
import type { State } from './state.js';

/** When a task that is added now starts at the earliest, epoch milliseconds: by what it says, and by the pace of its key. */
export function etaOf(state: State, spec: TaskSpec): number {
  const eta = spec.delayMs > 0 ? Math.max(spec.eta, state.wall + spec.delayMs) : spec.eta;
  if (spec.rare === undefined) return eta;
  const { debounceMs, throttleMs } = spec.rare;
  if (debounceMs !== undefined) return Math.max(eta, state.wall + debounceMs);
  if (throttleMs === undefined) return eta;
  // A clock that was set back must not make the period any longer.
  return Math.max(eta, Math.min(state.keys.startedAt(spec, state.wall), state.wall) + throttleMs);
}
