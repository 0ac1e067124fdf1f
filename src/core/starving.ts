import { extraOf, type Task } from '../model/index.js';
import type { State } from './state.js';

/** The moment has come at which the task is looked at: newcomers no longer go before it, or it should have started. */
export function starvationDue(state: State, task: Task): void {
  if (task.extra !== undefined && task.extra.startsBy !== -Infinity) {
    starved(state, task);
    return;
  }
  const ahead = state.pending - 1;
  const { serviceMs } = state.starvation;
  startExpected(state, task, state.mono + Math.ceil((ahead / slotsFor(state, task) + 1) * serviceMs));
}

/** All slots of those that would take it; where there is none, as if there were one. */
function slotsFor(state: State, task: Task): number {
  const place = state.places.of(task);
  let slots = 0;
  for (const worker of state.workers.values()) if (worker.takes(place)) slots += worker.spec.slots;
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
