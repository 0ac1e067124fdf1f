import { DependencyFailedError, ExpiredError, type FinalState, type Task } from '../model/index.js';
import { endOf } from './ending.js';
import type { Consequence } from './fallout.js';
import { occurrenceEnded } from './recur.js';
import type { State } from './state.js';
import { cancelled, delayed, failed, ready, skipped } from './transitions.js';

/** Lets a pending task through the gates that are open: its dependencies first, then its time. */
export function passGates(state: State, task: Task): void {
  if (state.dependencies.unmetOf(task) > 0) return;
  if (task.attempt !== undefined) {
    // Its attempt waited for another task, and has passed all gates before it began.
    ready(state, task);
    return;
  }
  if (task.spec.expires <= state.wall) {
    expire(state, task);
    return;
  }
  const { extra } = task;
  if (extra !== undefined && (extra.eta > state.wall || extra.backoffUntil > state.mono)) {
    delayed(state, task);
    return;
  }
  ready(state, task);
}

/** The task's last useful start has passed. */
export function expire(state: State, task: Task): void {
  cancelled(state, task, ExpiredError.record({ taskId: task.id, expires: task.spec.expires }));
  advance(state);
}

/**
 * Carries the ends of tasks to those that waited for them: they pass their gates, or end too, by the edge's policy.
 * Iterative, as a chain may be as long as memory allows: an end on the way joins the queue.
 */
export function advance(state: State): void {
  const { fallout } = state;
  if (fallout.length === 0 || state.advancing) return;
  state.advancing = true;
  try {
    for (let next = 0; next < fallout.length; next += 1) {
      carryOut(state, fallout.taskAt(next), fallout.consequenceAt(next), fallout.causeAt(next));
    }
  } finally {
    fallout.clear();
    state.advancing = false;
  }
}

function carryOut(state: State, task: Task, consequence: Consequence, cause: Task): void {
  if (consequence === 'ended') {
    occurrenceEnded(state, task);
  } else if (task.state === 'waiting') {
    if (consequence === 'met') passGates(state, task);
    else doom(state, task, cause.id, cause.state as FinalState, consequence);
  }
}

/** Ends a task whose dependency did not complete. */
export function doom(state: State, task: Task, dependencyId: string, how: FinalState, verdict: 'fail' | 'skip'): void {
  if (verdict === 'skip') {
    skipped(state, task, dependencyId);
    return;
  }
  const { error, thrown } = endOf(state, dependencyId);
  failed(state, task, DependencyFailedError.record({ taskId: task.id, dependencyId, state: how }, error), thrown);
}
