import {
  DeadlockError,
  IllegalTransitionError,
  UnknownTaskError,
  isFinal,
  type Attempt,
  type Task,
} from '../../model/index.js';
import { circleOf, findDeadlock } from '../deadlock.js';
import { stale } from './settle.js';
import type { State } from '../state.js';
import { suspended } from '../suspension.js';

/**
 * Lets a running attempt wait until another task has ended; `false` when it has ended already. A wait that would close
 * a circle, also one through what waiting attempts keep, is refused with that circle.
 */
export function waitFor(state: State, attempt: Attempt, awaitedId: string): boolean {
  const { task } = attempt;
  if (attempt.over || attempt.abandoned) {
    throw stale(task.id, attempt.number);
  }
  if (attempt.wait !== undefined) {
    throw new IllegalTransitionError({ taskId: task.id, from: task.state, to: 'waiting' });
  }
  const awaited = state.table.byId(awaitedId);
  if (awaited === undefined && state.table.tombstone(awaitedId) === undefined) {
    throw new UnknownTaskError({ taskId: awaitedId });
  }
  if (awaited === undefined || isFinal(awaited.state)) return false;
  const cycle = state.dependencies.beginWait(awaited, task);
  // The graph's path leads from the awaited to the waiting; the error's goes the way tasks wait.
  if (cycle !== undefined) throw new DeadlockError({ taskId: task.id, ...circleOf(task, [...cycle].reverse()) });
  const deadlock = findDeadlock(state, [task], task);
  if (deadlock !== undefined) {
    const error = new DeadlockError({ taskId: task.id, ...deadlock.circle(task) });
    state.dependencies.endWait(awaited, task);
    throw error;
  }
  suspended(state, attempt, awaited);
  return true;
}

/** The tasks whose attempts wait, in order of submission. */
export function waitingTasks(state: State): Task[] {
  const tasks = [...state.suspended].map(({ task }) => task);
  return tasks.sort((x, y) => x.sequence - y.sequence);
}
