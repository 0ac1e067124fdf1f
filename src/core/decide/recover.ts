import { CancelledError, isFinal, type Attempt, type Task } from '../../model/index.js';
import { advance } from '../advance.js';
import { settledLate } from '../execution.js';
import { seriesEnded } from '../recur.js';
import type { State } from '../state.js';
import { cancelled } from '../transitions.js';
import { abandon, lose } from './settle.js';
import { tick } from './tick.js';

/**
 * The first command after a restart: a new epoch, so that outcomes from before are stale; what was not to be kept is
 * dropped, what ran is lost, and whatever came due meanwhile happens now.
 */
export function recover(state: State, epoch: number): void {
  state.epoch = Math.max(state.epoch + 1, epoch);
  state.emit?.({ kind: 'recovered', epoch: state.epoch, wall: state.wall, mono: state.mono });
  for (const series of [...state.series.values()]) {
    if (series.spec.rare?.durable === false) seriesEnded(state, series, 'cancelled');
  }
  const passing = tasksThat(state, ({ spec }) => spec.rare?.durable === false);
  for (const task of passing) if (!isFinal(task.state)) drop(state, task);
  advance(state);
  for (const attempt of [...state.abandoned]) settledLate(state, attempt);
  // One that is lost may take others along.
  for (const task of tasksThat(state, isRunning)) if (isRunning(task)) lose(state, task.attempt);
  for (const task of passing) state.retention.forgetNow(task);
  tick(state);
}

/** It alone: its children may well be such that are kept. */
function drop(state: State, task: Task): void {
  const error = CancelledError.record({ taskId: task.id, reason: 'it was not kept over a restart' });
  if (task.attempt !== undefined) abandon(state, task.attempt, error);
  cancelled(state, task, error);
}

type Running = Task & { readonly attempt: Attempt };

function isRunning(task: Task): task is Running {
  return task.attempt !== undefined;
}

/** A list of their own, as what is done with them changes the table; most of the table is in none. */
function tasksThat(state: State, is: (task: Task) => boolean): Task[] {
  const tasks: Task[] = [];
  for (const page of state.table.pagesInOrder()) {
    for (const task of page) if (task !== undefined && is(task)) tasks.push(task);
  }
  return tasks;
}
