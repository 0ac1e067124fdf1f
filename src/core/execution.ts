import { Attempt, InvalidConfigError, extraOf, type AttemptEnd, type Task, type TaskSpec } from '../model/index.js';
import { holdingAttempts } from './attempts.js';
import { forgetImpossible, forgetRoom } from './making-way.js';
import { finite } from './resources.js';
import type { State } from './state.js';
import { awaitTimeout, brokenOff, giveBackKept } from './suspension.js';
import { move } from './transitions.js';
import type { Worker } from './worker.js';

/*
 * What happens to attempts: they start, hold what they took, and give it back.
 */

/** Types whose usual duration is remembered. */
const MEANS_KEPT = 4096;

/** The task is granted to a worker. */
export function started(state: State, task: Task, worker: Worker, leaseMs: number): Attempt {
  const place = state.places.at(task.place);
  const workerId = worker.spec.id;
  if (state.preemption.rooms.size > 0) forgetRoom(state, task);
  state.index.starting(task);
  move(state, task, 'running');
  state.waits.record(task.ready, state.mono);
  task.attempts += 1;
  if (task.extra !== undefined) task.extra.bypasses = 0;
  const attempt = new Attempt(task, task.attempts, state.epoch, workerId, state.now, leaseMs);
  task.attempt = attempt;
  state.running += 1;
  // An attempt keeps its place alive by itself: it may outlive its task.
  place.tasks += 1;
  place.channel.claims += 1;
  if (task.spec.rare !== undefined && task.attempts === 1) state.keys.began(task, state.wall);
  state.resources.take(place, task.spec.needs);
  if (!place.channel.isOpen()) state.index.channelClosed(place.channel);
  chargeTurn(state, attempt);
  worker.running += 1;
  worker.lastStart = state.starts += 1;
  if (task.spec.timeoutMs !== Infinity) awaitTimeout(state, attempt);
  if (leaseMs !== Infinity) awaitLease(state, attempt);
  if (task.spec.preemptible) state.preemption.runs(attempt);
  if (task.spec.needs.length > 0) {
    state.lending.heldChanged(task.spec.needs);
    state.lending.tell();
  }
  state.emit?.({
    kind: 'attempt.started',
    task: task.id,
    attempt: attempt.number,
    epoch: attempt.epoch,
    workerId,
    channel: task.spec.channel,
    level: task.urgency,
    leaseMs: finite(leaseMs),
    wall: state.wall,
    mono: state.mono,
  });
  return attempt;
}

/** Channels that pay by time are charged their usual duration ahead, so that nobody fills all slots unpaid. */
function chargeTurn(state: State, attempt: Attempt): void {
  if (!state.index.countsTurns) return;
  const { task } = attempt;
  const amount = state.charge === 'turns' ? turnsOf(task) : Math.max(1, meanOf(state, task.spec.type) ?? 1);
  attempt.charged = { level: task.urgency, amount };
  state.index.charge(task, amount, state.mono);
}

/** One, unless an attempt that was stopped for others has paid it already. */
function turnsOf({ extra }: Task): number {
  if (extra?.turnPaid !== true) return 1;
  extra.turnPaid = false;
  return 0;
}

/** How long tasks of this type have taken on average; `undefined` when none has ended yet. */
export function meanOf(state: State, type: string): number | undefined {
  const mean = state.means.get(type);
  return mean === undefined ? undefined : mean.totalMs / mean.count;
}

/** How long such a task is expected to take: as it says, else as others of its type have taken; `undefined` where nobody knows. */
export function expectedMs(state: State, { type, estimateMs }: TaskSpec): number | undefined {
  return estimateMs ?? (type === '' ? undefined : meanOf(state, type));
}

/** The attempt no longer counts; unless it is abandoned, it gives back what it held. */
export function ended(state: State, attempt: Attempt, how: AttemptEnd): void {
  const { task } = attempt;
  state.table.changing(task);
  if (task.spec.preemptible) state.preemption.stops(attempt);
  if (attempt.wait !== undefined) brokenOff(state, attempt);
  if (task.attempt === attempt) task.attempt = undefined;
  if (how === 'abandoned') {
    attempt.abandoned = true;
    state.abandoned.add(attempt);
  } else {
    if (how === 'succeeded') {
      noteDuration(state, attempt);
      // Nobody goes on from where it was.
      if (task.extra !== undefined) task.extra.checkpoint = undefined;
    }
    if (how === 'preempted' && attempt.charged !== undefined && state.charge === 'turns') extraOf(task).turnPaid = true;
    giveBack(state, attempt);
  }
  if (attempt.wait !== undefined) state.inheritance.tell();
  else if (task.spec.needs.length > 0) state.lending.tell();
  state.emit?.({
    kind: 'attempt.ended',
    task: task.id,
    attempt: attempt.number,
    workerId: attempt.workerId,
    how,
    wall: state.wall,
    mono: state.mono,
  });
}

/** The task's next attempt, if there is one, goes on from here. */
export function checkpointed(state: State, { task, number }: Attempt, checkpoint: unknown): void {
  state.table.changing(task);
  extraOf(task).checkpoint = checkpoint;
  const { wall, mono } = state;
  state.emit?.({ kind: 'task.checkpointed', task: task.id, attempt: number, checkpoint, wall, mono });
}

/** An abandoned attempt has settled at last, or its lease has ended. */
export function settledLate(state: State, attempt: Attempt): void {
  state.abandoned.delete(attempt);
  giveBack(state, attempt);
  state.lending.tell();
  state.emit?.({
    kind: 'attempt.settledLate',
    task: attempt.task.id,
    sequence: attempt.task.sequence,
    attempt: attempt.number,
    wall: state.wall,
    mono: state.mono,
  });
}

function giveBack(state: State, attempt: Attempt): void {
  const { task } = attempt;
  const place = state.places.at(task.place);
  const wasOpen = place.channel.isOpen();
  attempt.over = true;
  state.running -= 1;
  if (attempt.wait === undefined) {
    state.resources.release(place, task.spec.needs);
    const worker = state.workers.get(attempt.workerId);
    if (worker !== undefined) worker.running -= 1;
  } else {
    giveBackKept(state, attempt);
  }
  const { charged } = attempt;
  if (charged !== undefined && state.charge === 'time' && state.index.countsTurns) {
    state.index.turns.correct(charged.level, task.spec.channel, charged.amount, attempt.ranMs(state.mono));
  }
  if (!wasOpen && place.channel.isOpen()) state.index.channelOpened(place.channel);
  state.places.leave(task.place);
  if (task.spec.needs.length > 0) state.lending.heldChanged(task.spec.needs);
}

function noteDuration(state: State, attempt: Attempt): void {
  const { type } = attempt.task.spec;
  const tookMs = attempt.ranMs(state.mono);
  state.totals.ranMs += tookMs;
  if (type === '') return;
  const mean = state.means.get(type);
  if (mean === undefined) addMean(state, type, tookMs);
  else {
    mean.count += 1;
    mean.totalMs += tookMs;
  }
}

/** Beyond a number, the type first seen longest ago makes room; snapshots keep that order. */
function addMean(state: State, type: string, tookMs: number): void {
  const [oldest] = state.means.size < MEANS_KEPT ? [] : state.means.keys();
  if (oldest !== undefined) state.means.delete(oldest);
  state.means.set(type, { count: 1, totalMs: tookMs });
}

/** A lease time as a user gives it: `Infinity` for none. */
export function checkLease(leaseMs: number): void {
  if (typeof leaseMs === 'number' && leaseMs > 0) return;
  throw new InvalidConfigError({ field: 'lease', value: leaseMs, expected: 'a duration above 0, or Infinity' });
}

/** The attempt's worker is alive. */
export function leaseExtended(state: State, attempt: Attempt, leaseEndsAt: number): void {
  const before = attempt.leaseEndsAt;
  state.table.changing(attempt.task);
  attempt.leaseEndsAt = leaseEndsAt;
  // A later end is found when the old one comes up; an earlier one must be on the timeline itself.
  if (attempt.leaseEndsAt < before) awaitLease(state, attempt);
  state.emit?.({
    kind: 'lease.extended',
    task: attempt.task.id,
    attempt: attempt.number,
    leaseEndsAt: finite(leaseEndsAt),
    wall: state.wall,
    mono: state.mono,
  });
}

/** The resource has had no rate so far: no attempt was charged for it, and none has anything to be given back. */
export function nothingCharged(state: State, resource: string): void {
  for (const attempt of holdingAttempts(state)) {
    const uses = attempt.costs?.has(resource) === true || needOf(attempt, resource) > 0;
    if (!uses) continue;
    state.table.changing(attempt.task);
    (attempt.costs ??= new Map()).set(resource, 0);
  }
}

/** The attempt has told what its use of a resource really costs: the bucket is corrected by the difference. */
export function costReported(state: State, attempt: Attempt, resource: string, cost: number): void {
  const { task } = attempt;
  const before = attempt.costs?.get(resource) ?? needOf(attempt, resource);
  state.table.changing(task);
  (attempt.costs ??= new Map()).set(resource, cost);
  state.resources.flowOf(resource).take(cost - before);
  forgetImpossible(state);
  const { wall, mono } = state;
  state.emit?.({ kind: 'cost.reported', task: task.id, attempt: attempt.number, resource, cost, wall, mono });
}

function needOf({ task }: Attempt, resource: string): number {
  return task.spec.needs.find((need) => need.resource === resource)?.amount ?? 0;
}

/** The attempt was asked to leave the resource alone until then; the longest such wish counts. */
export function resourceClosed(state: State, attempt: Attempt, resource: string, untilMono: number): void {
  const flow = state.resources.flowOf(resource);
  flow.closedUntil = Math.max(flow.closedUntil, untilMono);
  forgetImpossible(state);
  const { wall, mono } = state;
  const { task, number } = attempt;
  state.emit?.({ kind: 'resource.closed', task: task.id, attempt: number, resource, untilMono, wall, mono });
}

function awaitLease(state: State, attempt: Attempt): void {
  state.monoLine.add(attempt.leaseEndsAt, 'lease', attempt.task.sequence, attempt, attempt.number);
}
