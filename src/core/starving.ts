import { extraOf, needsOf, type Task } from '../model/index.js';
import type { State } from './state.js';

/** The moment has come at which the task is looked at: newcomers no longer go before it, or it should have started. */
export function starvationDue(state: State, task: Task): void {
  const { serviceMs } = state.starvation;
  if (task.extra !== undefined && task.extra.startsBy !== -Infinity) {
    const stretches = FOR_EACH_RESERVATION * reservedSince(state, task);
    if (stretches === 0) starved(state, task);
    else startExpected(state, task, state.mono + Math.ceil(stretches * serviceMs));
    return;
  }
  const ahead = state.pending - 1;
  const stretches = ahead / slotsFor(state, task) + 1 + stretchesForUnits(state, task);
  startExpected(state, task, state.mono + Math.ceil(stretches * serviceMs));
}

/** In service times: the units of a reservation, a slot for its holder, and the stretch between bypasses that it broke off. */
const FOR_EACH_RESERVATION = 3;

/** What a task may wait besides that needs resources, in service times: bypasses, its own reservation, and one that is in force. */
function stretchesForUnits(state: State, task: Task): number {
  if (needsOf(task).length === 0) return 0;
  const { reserved } = state.preemption.rooms;
  const others = reserved === undefined || reserved === task ? 0 : FOR_EACH_RESERVATION;
  return state.options.maxBypasses + 2 + others;
}

/** How many reservations others were given since it was worked out by when the task starts; only who needs units waits for them. */
function reservedSince(state: State, task: Task): number {
  if (needsOf(task).length === 0) return 0;
  const own = state.preemption.rooms.reserved === task ? 1 : 0;
  return Math.max(0, state.reservations - own - (task.extra?.reservationsSeen ?? 0));
}

/**
 * How many run at a time where the task does: all slots of those that would take it, or as many as the tightest of its
 * limits allows. Where there is none, as if there were one.
 */
function slotsFor(state: State, task: Task): number {
  const place = state.places.of(task);
  let slots = 0;
  for (const worker of state.workers.values()) if (worker.takes(place)) slots += worker.spec.slots;
  const limits = [place.channel.limit, ...place.shape.gates.single];
  return Math.max(1, Math.floor(Math.min(slots, ...limits.map(({ capacity }) => capacity))));
}

/** Nobody new goes before the task any more: it starts by then, unless something else is wrong. */
export function startExpected(state: State, task: Task, byMono: number): void {
  state.table.changing(task);
  const extra = extraOf(task);
  extra.startsBy = byMono;
  extra.reservationsSeen = state.reservations;
  state.monoLine.add(byMono, 'starvation', task.sequence, task);
  state.emit?.({ kind: 'task.startExpected', task: task.id, byMono, wall: state.wall, mono: state.mono });
}

/** The task has waited beyond its bound; that is told once. */
export function starved(state: State, task: Task): void {
  state.table.changing(task);
  extraOf(task).starved = true;
  const waitedMs = state.mono - task.ready;
  state.emit?.({ kind: 'task.starved', task: task.id, waitedMs, wall: state.wall, mono: state.mono });
}
