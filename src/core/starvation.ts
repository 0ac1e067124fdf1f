import { extraOf, type Task } from '../model/index.js';
import type { State } from './state.js';

/*
 * The bound on a ready task's wait, and what is told when it is exceeded.
 *
 *   bound = W + (B / m + 1) × S
 *
 * W is how long newcomers may still go before the task, which follows from the order. After that only those can start
 * first that are there already: B unfinished tasks at that moment, on the m slots of the workers that would take it, each
 * for the service time S at the most. S is what the user says; without it nothing is watched.
 *
 * A task is looked at twice, by an entry on the timeline each: when W has passed, and B is known, and when the rest has.
 */

/** How long newcomers may go before this task, from when it became ready on; `Infinity` where the order has no bound. */
function passableMs(state: State, task: Task): number {
  const { aging, main } = state.index;
  const { everyMs, maxBoost, maxWaitMs } = aging;
  switch (main.choice) {
    case 'fifo':
      return 0;
    case 'priority':
    case 'critical-path':
      if (everyMs === Infinity || maxBoost !== Infinity) return maxWaitMs;
      return Math.min(maxWaitMs, (task.urgency - state.mostUrgent + 1) * everyMs);
    default:
      return maxWaitMs;
  }
}

/** When the task is looked at next; `undefined` when there is nothing to look for. */
export function starvationAt(state: State, task: Task): number | undefined {
  const { extra } = task;
  if (task.state !== 'ready' || extra?.starved === true || state.places.at(task.place).channel.paused) return undefined;
  if (extra !== undefined && extra.startsBy !== -Infinity) return extra.startsBy;
  const at = task.ready + passableMs(state, task);
  return at === Infinity ? undefined : at;
}

/** The task's wait counts from now on, or by other values. */
export function watch(state: State, task: Task): void {
  if (state.options.serviceMs === Infinity) return;
  if (task.urgency < state.mostUrgent) state.mostUrgent = task.urgency;
  const at = starvationAt(state, task);
  if (at !== undefined) state.monoLine.add(at, 'starvation', task.sequence, task);
}

/** Another order is in force: every wait is bounded by that from now on. */
export function watchAll(state: State): void {
  if (state.options.serviceMs === Infinity) return;
  for (const task of state.index.all()) watch(state, task);
}

/** The moment has come at which the task is looked at. */
export function starvationDue(state: State, task: Task): void {
  if (task.extra !== undefined && task.extra.startsBy !== -Infinity) {
    starved(state, task);
    return;
  }
  const ahead = state.pending - 1;
  const { serviceMs } = state.options;
  startExpected(state, task, state.mono + Math.ceil((ahead / slotsFor(state, task) + 1) * serviceMs));
}

/** All slots of those that would take it; where there is none, as if there were one. */
function slotsFor(state: State, task: Task): number {
  const place = state.places.at(task.place);
  let slots = 0;
  for (const { matches, view, spec } of state.workers.values()) {
    if (matches(place.shape) && view?.takes(place) !== false) slots += spec.slots;
  }
  return Math.max(1, slots);
}

/** Nobody new goes before the task any more: it starts by then, unless something else is wrong. */
export function startExpected(state: State, task: Task, byMono: number): void {
  extraOf(task).startsBy = byMono;
  state.monoLine.add(byMono, 'starvation', task.sequence, task);
  state.emit?.({ kind: 'task.startExpected', task: task.id, byMono, wall: state.wall, mono: state.mono });
}

/** The task has waited beyond its bound; that is told once. */
export function starved(state: State, task: Task): void {
  extraOf(task).starved = true;
  const waitedMs = state.mono - task.ready;
  state.emit?.({ kind: 'task.starved', task: task.id, waitedMs, wall: state.wall, mono: state.mono });
}
