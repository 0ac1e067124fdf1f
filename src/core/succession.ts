import { extraOf, isFinal, type Task } from '../model/index.js';
import type { State } from './state.js';
import { move } from './transitions.js';

/*
 * A task that takes the place of another, and one whose work is exchanged for other work. Of a replaced task the facts
 * are, in this order: that it is replaced, its end unless it has ended, and the submission of the one with its id.
 */

/** The task gives its id to one that follows; if it has ended, it is gone with that. */
export function replaced(state: State, task: Task): void {
  state.emit?.({ kind: 'task.replaced', task: task.id, wall: state.wall, mono: state.mono });
  state.predecessors.set(task.id, task);
  if (!isFinal(task.state)) return;
  state.retention.release(task);
  state.table.remove(task);
}

/** The new task has come in: whoever has not begun and came after the one with its id before comes after it from now on. */
export function takePlace(state: State, task: Task): void {
  const before = state.predecessors.get(task.id);
  if (before === undefined) return;
  state.predecessors.delete(task.id);
  const dependants = state.dependencies.takePlace(before, task);
  for (const each of dependants) if (each.state !== 'waiting') waiting(state, each);
  if (dependants.length === 0) return;
  for (const each of dependants) state.inheritance.extend(each, task);
  state.path.mark(task);
  state.lending.tell();
}

/** The task could have started, and waits again. */
function waiting(state: State, task: Task): void {
  move(state, task, 'waiting');
  state.emit?.({ kind: 'task.waiting', task: task.id, wall: state.wall, mono: state.mono });
}

/** The task will do other work, which its owner knows, and not before that time where there is one. */
export function renewed(state: State, task: Task, payload: unknown, eta: number | undefined): void {
  state.outbox.renewed.push({ before: task.payload, after: payload });
  state.table.changing(task);
  task.payload = payload;
  state.emit?.({
    kind: 'task.renewed',
    task: task.id,
    payload,
    eta: eta ?? null,
    wall: state.wall,
    mono: state.mono,
  });
  if (eta === undefined) return;
  extraOf(task).eta = eta;
  if (task.state === 'ready') move(state, task, 'waiting');
  else if (task.state === 'delayed') state.wallLine.add(eta, 'eta', task.sequence, task);
}
