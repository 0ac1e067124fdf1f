import type { Attempt } from '../model/index.js';
import type { State } from './state.js';

/** Every attempt that holds something: those that count, in order of submission, then the abandoned ones. */
export function holdingAttempts(state: State): Attempt[] {
  const attempts: Attempt[] = [];
  for (const task of state.table.all()) if (task.attempt !== undefined) attempts.push(task.attempt);
  attempts.push(...state.abandoned);
  return attempts;
}
