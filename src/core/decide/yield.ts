import { IllegalTransitionError, keptNeeds, type Attempt, type Task } from '../../model/index.js';
import { askedBy, heldBy } from '../attempts.js';
import { hasRoomFor, hasSlot, roomKept } from '../making-way.js';
import { stale } from './settle.js';
import type { State } from '../state.js';
import { gaveWay } from '../suspension.js';
import { ready } from '../transitions.js';

/** What an attempt does at a yield: it goes on, it gives way and goes on later, or it had better stop there. */
export type Verdict = 'goOn' | 'giveWay' | 'stop';

/**
 * Whom the attempt's worker would take now in its place. One that claims for itself and does not ask for a task may not
 * do so before this attempt has ended: until then only attempts that it has already can go on there (`returning`). While
 * nothing new is started at all only what has `begun` goes on, and ending would help nobody.
 */
export type Takes = 'anybody' | 'returning' | 'begun';

/**
 * The attempt is at a yield. One that was asked to make way does so there, as long as that frees all it holds; with what
 * it would keep, or where its worker takes nobody new before its end, it has to stop. Otherwise it gives way once its
 * slice is used up, to the holder of the reservation, or to the longest wait among the most urgent: of those that are at
 * least as urgent as it is, and as whoever lacks what it keeps, and could start in its place. What it hands back is kept for
 * that one.
 */
export function atYield(state: State, attempt: Attempt, takes: Takes = 'anybody'): Verdict {
  const { task } = attempt;
  if (attempt.over || attempt.abandoned) {
    throw stale(task.id, attempt.number);
  }
  if (attempt.wait !== undefined) throw new IllegalTransitionError({ taskId: task.id, from: task.state, to: 'ready' });
  if (attempt.stopBy !== undefined && state.mono <= attempt.stopBy) {
    if (takes === 'begun' && !isRoomKeptForBegun(state)) return 'goOn';
    if (keptNeeds(task.spec).length > 0) return 'stop';
    if (takes === 'returning' && isSlotKeptForNew(state, attempt.workerId)) return 'stop';
    gaveWay(state, attempt);
  } else {
    if (state.mono - attempt.runningSince < state.options.sliceMs) return 'goOn';
    const next = nextInPlaceOf(state, attempt, takes);
    if (next === undefined) return 'goOn';
    gaveWay(state, attempt);
    // The holder of the reservation goes before all others as it is, and must not lose what is kept for it.
    if (next !== state.preemption.rooms.reserved) roomKept(state, next, attempt.workerId, Infinity);
  }
  ready(state, task);
  return 'giveWay';
}

/** Whether a yield now may end in anything but going on: what is asked of others is asked only then. */
export function mayGiveWay(state: State, attempt: Attempt, mono: number): boolean {
  const { over, abandoned, wait, stopBy, runningSince } = attempt;
  return (
    over || abandoned || wait !== undefined || stopBy !== undefined || mono - runningSince >= state.options.sliceMs
  );
}

/** Whether something is kept for an attempt that waits to go on. */
function isRoomKeptForBegun(state: State): boolean {
  return [...state.preemption.rooms.all()].some(([task]) => task.attempt !== undefined);
}

/** Whether a slot of the worker is kept for a task that has no attempt yet. */
function isSlotKeptForNew(state: State, id: string): boolean {
  return [...state.preemption.rooms.all()].some(([task, room]) => room.workerId === id && task.attempt === undefined);
}

/** Who could start on the same worker if the attempt handed back what it does not keep. */
function nextInPlaceOf(state: State, attempt: Attempt, takes: Takes): Task | undefined {
  // Whoever lacks what it keeps would have to wait for all that goes before it.
  const urgency = state.lending.urgencyOf(attempt);
  const { reserved } = state.preemption.rooms;
  const mayTake = (task: Task): boolean => takes === 'anybody' || task.attempt !== undefined;
  if (reserved !== undefined && reserved.urgency <= urgency && mayTake(reserved)) {
    if (fitsInPlaceOf(state, attempt, reserved)) return reserved;
  }
  const waiting = state.preemption.ready();
  let next: Task | undefined;
  for (const level of waiting.inUse()) {
    if (level > urgency) break;
    waiting.offer(level, (task) => {
      if (next === undefined && mayTake(task) && fitsInPlaceOf(state, attempt, task)) next = task;
      return false;
    });
    if (next !== undefined) break;
  }
  return next;
}

function fitsInPlaceOf(state: State, attempt: Attempt, task: Task): boolean {
  const place = state.places.of(task);
  const worker = state.workers.get(attempt.workerId);
  if (worker?.takes(place) !== true) return false;
  const { rooms } = state.preemption;
  const room = rooms.of(task);
  const asks = askedBy(state, task);
  const isNew = task.attempt === undefined;
  if (isNew && !asks.every(({ pool, amount }) => pool.hasTokens(room === undefined ? amount + pool.kept : amount))) {
    return false;
  }
  const isHeldUp = !asks.every((ask) => hasRoomFor(room, ask));
  const others = [...state.workers.values()];
  // Whoever can start as it is needs nobody to give way.
  if (!isHeldUp && others.some((each) => each.takes(place) && hasSlot(state, each))) return false;
  const kept = keptNeeds(attempt.task.spec).map(({ resource }) => state.resources.pools.get(resource));
  const freed = new Map(
    heldBy(state, attempt).flatMap(({ pool, amount }) => (kept.includes(pool) ? [] : [[pool, amount]])),
  );
  const slots = worker.running - 1 + rooms.slotsKept(worker.id);
  if (slots >= worker.spec.slots) return false;
  return asks.every(({ pool, amount }) => hasRoomFor(room, { pool, amount: amount - (freed.get(pool) ?? 0) }));
}
