import { compareFifo, extraOf, keptNeeds, yieldedNeeds, type Attempt, type Task } from '../model/index.js';
import type { Pool } from '../ready/index.js';
import { askedBy, resourcesAskedBy, type Holding } from './attempts.js';
import { finite } from './resources.js';
import type { Room } from './rooms.js';
import type { State } from './state.js';
import type { Worker } from './worker.js';

/*
 * How running attempts make way for a more urgent task. They are asked to, and from then on all that the task needs is
 * kept for it: what is free already, and what they free. Once it fits, it is the first to start. If they take longer
 * than they are given, nothing is kept any more.
 */

/** The attempt was asked to make way; it is not asked again. */
export function askedToStop(state: State, attempt: Attempt, by: string, stopBy: number): void {
  const { task, workerId, number } = attempt;
  state.table.changing(task);
  state.preemption.stops(attempt);
  attempt.stopBy = stopBy;
  extraOf(task).preemptions += 1;
  state.preemption.runs(attempt);
  state.emit?.({
    kind: 'task.preempted',
    task: task.id,
    attempt: number,
    workerId,
    by,
    stopByMono: stopBy,
    wall: state.wall,
    mono: state.mono,
  });
}

/** From now on what the task needs is kept for it, until then at the latest: without a worker its resources alone. */
export function roomKept(state: State, task: Task, workerId: string | undefined, until: number): void {
  const { channel } = state.places.of(task);
  const wasOpen = channel.isOpen();
  const { rooms } = state.preemption;
  rooms.drop(task);
  const asks = workerId === undefined ? resourcesAskedBy(state, task) : askedBy(state, task);
  rooms.keep(task, { workerId, asks, until });
  if (workerId === undefined) state.reservations += 1;
  if (wasOpen && !channel.isOpen()) state.index.channelClosed(channel);
  if (until !== Infinity) state.monoLine.add(until, 'grace', task.sequence, task);
  state.emit?.({
    kind: 'room.kept',
    task: task.id,
    ...(workerId === undefined ? {} : { workerId }),
    untilMono: finite(until),
    wall: state.wall,
    mono: state.mono,
  });
}

/** The time has come by which others should have made way for the task. */
export function graceOver(state: State, task: Task): void {
  const room = state.preemption.rooms.of(task);
  if (room === undefined) return;
  if (workerFor(state, task, room, [...state.workers.values()]) === undefined) roomDropped(state, task);
  else roomKept(state, task, room.workerId, Infinity);
}

/** Others did not make way for the task. */
export function roomDropped(state: State, task: Task): void {
  forgetRoom(state, task);
  state.emit?.({ kind: 'room.dropped', task: task.id, wall: state.wall, mono: state.mono });
}

/** The task starts, or does not stand in line any more, or what was kept will never do: it is free for all. */
export function forgetRoom(state: State, task: Task): void {
  const { rooms } = state.preemption;
  if (rooms.of(task) === undefined) return;
  const { channel } = state.places.of(task);
  const wasOpen = channel.isOpen();
  rooms.drop(task);
  if (!wasOpen && channel.isOpen()) state.index.channelOpened(channel);
  state.preemption.waits(task);
}

/** Something else than the tasks has changed: rooms for which this holds are none any more. */
export function forgetRooms(state: State, isLost: (task: Task, room: Room) => boolean): void {
  const { rooms } = state.preemption;
  if (rooms.size === 0) return;
  for (const [task, room] of [...rooms.all()]) if (isLost(task, room)) forgetRoom(state, task);
}

/** The worker has gone, or is another one: slots of it are not kept, nor is anything for a task that nobody takes now. */
export function forgetRoomsAt(state: State, id: string): void {
  forgetRooms(state, (task, { workerId }) => (workerId === undefined ? !isServed(state, task) : workerId === id));
}

/** Whether there is a worker, with slots at all, that would take the task. */
export function isServed(state: State, task: Task): boolean {
  const place = state.places.of(task);
  for (const worker of state.workers.values()) if (worker.spec.slots > 0 && worker.takes(place)) return true;
  return false;
}

/** Less is there than before: what could never be had is not waited for, and no slot lies idle until there are tokens. */
export function forgetImpossible(state: State): void {
  forgetRooms(state, (task, { workerId }) => {
    const asks = askedBy(state, task);
    if (asks.some(({ pool, amount }) => amount > pool.capacity)) return true;
    if (workerId === undefined) return !canBeMet(state, task);
    return task.attempt === undefined && !asks.every(({ pool, amount }) => pool.hasTokens(amount));
  });
}

/**
 * Whether the task could start once all that runs has ended. What attempts keep that wait for others may not come free
 * before this task has started: those others may be the ones that a reservation keeps from starting.
 */
export function canBeMet(state: State, task: Task): boolean {
  return resourcesAskedBy(state, task).every(({ pool, amount }) => {
    const burst = pool.flow?.rate?.burst ?? Infinity;
    if (amount > burst || amount > pool.capacity) return false;
    return pool.covers(state.lending.unitsKept(pool.name) + amount) || pool.covers(keptForLong(state, pool) + amount);
  });
}

/** How much of it attempts keep that may be unable to go on while something is reserved. */
function keptForLong(state: State, { name }: Pool): number {
  let units = 0;
  for (const task of state.lending.keepersOf(name)) {
    if (isFreeToGoOn(task)) continue;
    units += keptNeeds(task.spec).find(({ resource }) => resource === name)?.amount ?? 0;
  }
  return units;
}

/**
 * Whether the attempt waits for nobody, and for nothing but a slot and places under limits, which all that runs gives
 * back and no reservation keeps: it gave way at a yield, or what it waited for has ended.
 */
function isFreeToGoOn({ spec, state, attempt }: Task): boolean {
  return yieldedNeeds(spec).length === 0 && (state === 'ready' || attempt?.wait?.on === undefined);
}

/** Whether the worker has a slot that is kept for nobody. */
export function hasSlot(state: State, { id, running, spec }: Worker): boolean {
  return running + state.preemption.rooms.slotsKept(id) < spec.slots;
}

/** The most urgent task for which something is kept that can start now on one of these workers, and on which. */
export function nextWithRoom(
  state: State,
  workers: readonly Worker[],
  among: 'all' | 'returning' = 'all',
): [task: Task, worker: Worker] | undefined {
  let best: [Task, Worker] | undefined;
  for (const [task, room] of state.preemption.rooms.all()) {
    if (among === 'returning' && task.attempt === undefined) continue;
    if (best !== undefined && !goesBefore(task, best[0])) continue;
    const worker = workerFor(state, task, room, workers);
    if (worker !== undefined) best = [task, worker];
  }
  return best;
}

function goesBefore(x: Task, y: Task): boolean {
  return (x.urgency - y.urgency || compareFifo(x, y)) < 0;
}

/** A worker that could start the task now: the first of these that takes it and has the slot, be it kept for it or free. */
function workerFor(state: State, task: Task, room: Room, workers: readonly Worker[]): Worker | undefined {
  const goesOn = task.attempt !== undefined;
  const fits = askedBy(state, task).every((ask) => hasRoomFor(room, ask) && (goesOn || ask.pool.hasTokens(ask.amount)));
  if (!fits) return undefined;
  const place = state.places.of(task);
  return workers.find((worker) => worker.takes(place) && hasSlotFor(state, worker, room));
}

/** Whether so much of the pool is free, or kept for whoever has this room. */
export function hasRoomFor(room: Room | undefined, { pool, amount }: Holding): boolean {
  const isKept = room?.asks.some((each) => each.pool === pool) === true;
  return isKept ? pool.hasUnits(amount) : pool.hasRoom(amount);
}

/** Whether the worker has a slot that is free, or that is kept for whoever has this room. */
export function hasSlotFor(state: State, worker: Worker, room: Room | undefined): boolean {
  return worker.id === room?.workerId ? worker.running < worker.spec.slots : hasSlot(state, worker);
}
