import { DependencyFailedError, ExpiredError, recordOwnError, type FinalState, type Task } from '../model/index.js';
import { occurrenceEnded } from './recur.js';
import type { Fallout, State } from './state.js';
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
  cancelled(state, task, recordOwnError(new ExpiredError({ taskId: task.id, expires: task.spec.expires })));
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
    for (let next = 0; next < fallout.length; next += 1) carryOn(state, fallout[next] as Fallout);
  } finally {
    // Emptied one by one: cutting an array's length gives its memory away, which the next end has to get back.
    while (fallout.length > 0) fallout.pop();
    state.advancing = false;
  }
}

function carryOn(state: State, { task, met, doomed }: Fallout): void {
  // The edges' order depends on how they came about; the sequence is the same in every process.
  if (met.length > 1) met.sort(bySequence);
  for (const dependant of met) if (dependant.state === 'waiting') passGates(state, dependant);
  if (doomed.length > 1) doomed.sort(([x], [y]) => bySequence(x, y));
  for (const [dependant, verdict] of doomed) {
    if (dependant.state === 'waiting') doom(state, dependant, task.id, task.state as FinalState, verdict);
  }
  if (task.extra?.series !== undefined) occurrenceEnded(state, task);
}

/** Ends a task whose dependency did not complete. */
export function doom(state: State, task: Task, dependencyId: string, how: FinalState, verdict: 'fail' | 'skip'): void {
  if (verdict === 'skip') {
    skipped(state, task, dependencyId);
    return;
  }
  failed(state, task, DependencyFailedError.record({ taskId: task.id, dependencyId, state: how }));
}

function bySequence(x: Task, y: Task): number {
  return x.sequence - y.sequence;
}
