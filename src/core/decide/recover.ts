import { settledLate } from '../execution.js';
import type { State } from '../state.js';
import { lose } from './settle.js';
import { tick } from './tick.js';

/**
 * The first command after a restart: a new epoch, so that outcomes from before are stale; what ran is lost, and
 * whatever came due meanwhile happens now.
 */
export function recover(state: State): void {
  state.epoch += 1;
  state.emit?.({ kind: 'recovered', epoch: state.epoch, wall: state.wall, mono: state.mono });
  for (const attempt of [...state.abandoned]) settledLate(state, attempt);
  for (const task of [...state.table.all()]) if (task.attempt !== undefined) lose(state, task.attempt);
  tick(state);
}
