import { compareFifo, extraOf, type Attempt, type Task } from '../model/index.js';
import { askedBy } from './attempts.js';
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

/** From now on all that the task needs is kept for it, until then at the latest. */
export function roomKept(state: State, task: Task, workerId: string, until: number): void {
  const { channel } = state.places.of(task);
  const wasOpen = channel.isOpen();
  const { rooms } = state.preemption;
  rooms.drop(task);
  rooms.keep(task, { workerId, asks: askedBy(state, task), until });
  if (wasOpen && !channel.isOpen()) state.index.channelClosed(channel);
  if (until !== Infinity) state.monoLine.add(until, 'grace', task.sequence, task);
  state.emit?.({
    kind: 'room.kept',
    task: task.id,
    workerId,
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

/** Less is there than before: what could never be had is not waited for. */
export function forgetImpossible(state: State): void {
  forgetRooms(state, (_task, { asks }) => asks.some(({ pool, amount }) => amount > pool.capacity));
}

/** Whether the worker has a slot that is kept for nobody. */
export function hasSlot(state: State, { id, running, spec }: Worker): boolean {
  return running + state.preemption.rooms.slotsKept(id) < spec.slots;
}

/** The most urgent task for which something is kept that can start now on one of these workers, and on which. */
export function nextWithRoom(state: State, workers: readonly Worker[]): [task: Task, worker: Worker] | undefined {
  let best: [Task, Worker] | undefined;
  for (const [task, room] of state.preemption.rooms.all()) {
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
  const fits = room.asks.every(({ pool, amount }) => pool.hasUnits(amount) && (goesOn || pool.hasTokens(amount)));
  if (!fits) return undefined;
  const place = state.places.of(task);
  return workers.find((worker) => worker.takes(place) && hasSlotFor(state, worker, room));
}

/** Whether the worker has a slot that is free, or that is kept for whoever has this room. */
export function hasSlotFor(state: State, worker: Worker, room: Room | undefined): boolean {
  return worker.id === room?.workerId ? worker.running < worker.spec.slots : hasSlot(state, worker);
}
