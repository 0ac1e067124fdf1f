import { isFinal, keptNeeds, yieldedNeeds, type Attempt, type Need, type Task } from '../model/index.js';
import type { Place } from '../ready/index.js';
import { forgetImpossible, forgetRoom } from './making-way.js';
import type { State } from './state.js';
import { move } from './transitions.js';

/*
 * An attempt that waits for another task, or gives way at a yield: what it hands back meanwhile, and how it goes on or
 * ends.
 *
 * It hands back its slot, its places under limits and the needs marked as yieldable, and keeps its other needs. Its
 * timeout stands still. Its lease does not: that says that its worker lives, which must be heard of while it waits too,
 * as only that worker can go on with it. Once the awaited task has ended it stands in line like any ready task, at a
 * place of its own that asks for no more than was handed back.
 */

/** The attempt waits from now on; that it does is already an edge of the graph. */
export function suspended(state: State, attempt: Attempt, awaited: Task): void {
  const { task, workerId, number } = attempt;
  stand(state, attempt, awaited);
  state.path.mark(awaited);
  state.inheritance.extend(task, awaited);
  state.inheritance.tell();
  state.emit?.({
    kind: 'attempt.waiting',
    task: task.id,
    attempt: number,
    workerId,
    awaited: awaited.id,
    wall: state.wall,
    mono: state.mono,
  });
}

/** The attempt gives way at a yield; it is ready to go on as soon as that is told. What it was asked, it has done. */
export function gaveWay(state: State, attempt: Attempt): void {
  const { task, workerId, number } = attempt;
  stand(state, attempt, undefined);
  attempt.stopBy = undefined;
  state.inheritance.tell();
  state.emit?.({
    kind: 'attempt.gaveWay',
    task: task.id,
    attempt: number,
    workerId,
    wall: state.wall,
    mono: state.mono,
  });
}

/** Hands back what the attempt does without while it does not run. */
function stand(state: State, attempt: Attempt, on: Task | undefined): void {
  const { task, workerId } = attempt;
  const { spec } = task;
  const yielded = yieldedNeeds(spec);
  const place = state.places.enterReturn(spec, yielded, workerId);
  if (spec.preemptible) state.preemption.stops(attempt);
  move(state, task, 'waiting');
  attempt.wait = { on, since: state.mono, place: place.index };
  state.suspended.add(attempt);
  state.running -= 1;
  const worker = state.workers.get(workerId);
  if (worker !== undefined) worker.running -= 1;
  handBack(state, place, yielded);
  state.lending.keep(task);
  state.lending.heldChanged(spec.needs);
  forgetImpossible(state);
}

function handBack(state: State, place: Place, needs: readonly Need[]): void {
  const { channel } = place;
  const wasOpen = channel.isOpen();
  state.resources.release(place, needs);
  if (!wasOpen && channel.isOpen()) state.index.channelOpened(channel);
}

/** The same attempt goes on at its worker: no new number, and no second turn for its channel. */
export function resumed(state: State, attempt: Attempt): Attempt {
  const { task, workerId, wait } = attempt;
  const place = state.places.of(task);
  if (state.preemption.rooms.size > 0) forgetRoom(state, task);
  state.index.starting(task);
  move(state, task, 'running');
  state.running += 1;
  state.resources.hold(place, yieldedNeeds(task.spec));
  if (!place.channel.isOpen()) state.index.channelClosed(place.channel);
  const worker = state.workers.get(workerId);
  if (worker !== undefined) worker.running += 1;
  attempt.waitedMs += state.mono - (wait?.since ?? state.mono);
  attempt.resumptions += 1;
  attempt.runningSince = state.mono;
  waitOver(state, attempt);
  attempt.wait = undefined;
  if (task.spec.timeoutMs !== Infinity) awaitTimeout(state, attempt);
  if (task.spec.preemptible) state.preemption.runs(attempt);
  state.lending.heldChanged(task.spec.needs);
  state.inheritance.tell();
  state.outbox.resumed.push(attempt);
  state.emit?.({
    kind: 'attempt.resumed',
    task: task.id,
    attempt: attempt.number,
    workerId,
    channel: task.spec.channel,
    level: task.urgency,
    wall: state.wall,
    mono: state.mono,
  });
  return attempt;
}

/**
 * The attempt ends where it waits: it leaves the line and the graph, and holds what it kept until that is given back.
 * For the moment its task counts as running, from where every end of an attempt leads on.
 */
export function brokenOff(state: State, attempt: Attempt): void {
  move(state, attempt.task, 'running');
  state.running += 1;
  waitOver(state, attempt);
  if (attempt.wait !== undefined) attempt.wait.place = -1;
}

/** Gives back what an attempt kept that ended where it waited. */
export function giveBackKept(state: State, { task }: Attempt): void {
  state.resources.releaseNeeds(keptNeeds(task.spec));
}

/** When the attempt's time is up, as things stand. */
export function awaitTimeout(state: State, attempt: Attempt): void {
  state.monoLine.add(attempt.timesOutAt, 'timeout', attempt.task.sequence, attempt, attempt.number);
}

function waitOver(state: State, attempt: Attempt): void {
  const { task, wait } = attempt;
  if (wait === undefined) return;
  const { on: awaited } = wait;
  state.suspended.delete(attempt);
  state.places.leave(wait.place);
  state.lending.keepNoMore(task);
  if (awaited === undefined) return;
  state.dependencies.endWait(awaited, task);
  state.inheritance.letGo(task, awaited);
  state.path.mark(awaited);
  if (isFinal(awaited.state) && !state.dependencies.isPinned(awaited)) state.retention.unpinned(awaited);
}
