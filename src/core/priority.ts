import { extraOf, type Task } from '../model/index.js';
import type { State } from './state.js';

/*
 * What changes about a task without moving it.
 */

/** The user's own level for the task. */
export function prioritySet(state: State, task: Task, level: number): void {
  state.table.changing(task);
  extraOf(task).level = level;
  state.lending.levelSet();
  state.inheritance.recompute(task);
  state.emit?.({ kind: 'priority.set', task: task.id, level, wall: state.wall, mono: state.mono });
}

/** The task has not ended in time; that is told once. */
export function deadlineMissed(state: State, task: Task): void {
  state.table.changing(task);
  extraOf(task).deadlineMissed = true;
  state.emit?.({ kind: 'deadline.missed', task: task.id, wall: state.wall, mono: state.mono });
}
