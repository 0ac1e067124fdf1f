/**
 * Where a task is in its life.
 *
 * `waiting` (for dependencies) and `delayed` (for a time) are both pending; `ready` tasks can be claimed;
 * `completed`, `failed`, `cancelled` and `skipped` are final.
 */
export type TaskState = 'waiting' | 'delayed' | 'ready' | 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped';

/** The four states a task never leaves by itself. */
export type FinalState = Extract<TaskState, 'completed' | 'failed' | 'cancelled' | 'skipped'>;

/** Whether a task in this state has ended. */
export function isFinal(state: TaskState): state is FinalState {
  return state === 'completed' || state === 'failed' || state === 'cancelled' || state === 'skipped';
}
