import { isFinal, type ErrorRecord, type FinalState } from '../model/index.js';
import type { State } from './state.js';

/** How a task has ended. */
export interface Ending {
  readonly how: FinalState;
  readonly error?: ErrorRecord;
  /** What was thrown, when it was thrown in this process. */
  readonly thrown?: unknown;
}

/** How a dependency ended that did not complete, as far as that is known still. */
export function endOf(state: State, dependency: string): Ending {
  const task = state.table.byId(dependency);
  if (task === undefined || !isFinal(task.state)) return { how: state.table.tombstone(dependency) ?? 'failed' };
  const error = task.extra?.error;
  return error === undefined ? { how: task.state } : { how: task.state, error, thrown: task.value };
}
