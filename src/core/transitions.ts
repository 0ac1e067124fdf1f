import {
  DependencyFailedError,
  IllegalTransitionError,
  extraOf,
  isFinal,
  type DependencyRecord,
  type ErrorRecord,
  type OccurrenceRecord,
  type Task,
  type TaskState,
} from '../model/index.js';
import { endOf } from './ending.js';
import { linkPolicy, linkedTask, type Link } from './links.js';
import { forgetRoom } from './making-way.js';
import { countRun } from './overrun.js';
import type { State } from './state.js';

/*
 * Every change of a task's state, and what it resets. Nothing else moves a task.
 *
 *   from      to         by                                    attempt   ready time   turn
 *   (new)     waiting    submitted                             -         -            -
 *   waiting   delayed    dependencies met, its time has not come
 *   waiting   ready      dependencies met
 *   delayed   ready      its time has come
 *   delayed   waiting    a dependency was added, or begins anew
 *   ready     waiting    the same, or it will do other work    -         kept         -
 *   ready     running    a claim                               new       stops        charged
 *   running   completed  its attempt succeeded                 ends
 *   running   failed     its attempt failed for good           ends
 *   running   delayed    a retry with backoff                  ends      kept         -
 *   running   ready      released, lost, or a retry at once    ends      goes on      -
 *   running   ready      it made way for a more urgent one     ends      goes on      paid
 *   running   waiting    it waits for another task             waits     kept         -
 *   waiting   ready      the awaited task has ended            waits     goes on      -
 *   ready     running    a claim of one that waited            goes on   stops        -
 *   waiting   running    its waiting attempt ends there, and is taken on at once to where that leads, as above
 *   any unfinished       cancelled, failed or skipped          a running one is abandoned
 *   failed    waiting    retried by hand                       -         kept         -
 *
 * An abandoned attempt keeps what it holds until it settles, or its lease ends.
 */
function isLegal(from: TaskState, to: TaskState): boolean {
  switch (to) {
    case 'waiting':
      return from === 'ready' || from === 'delayed' || from === 'running' || from === 'failed';
    case 'delayed':
      return from === 'waiting' || from === 'running';
    case 'ready':
      return from === 'waiting' || from === 'delayed' || from === 'running';
    case 'running':
      return from === 'ready' || from === 'waiting';
    case 'completed':
      return from === 'running';
    case 'skipped':
      return from !== 'running' && !isFinal(from);
    default:
      return !isFinal(from);
  }
}

/** Lets a task change its state, where that is legal. */
export function move(state: State, task: Task, to: TaskState): void {
  const from = task.state;
  if (!isLegal(from, to)) throw new IllegalTransitionError({ taskId: task.id, from, to });
  state.table.changing(task);
  if (from === 'ready' && state.preemption.rooms.size > 0) forgetRoom(state, task);
  task.state = to;
  if (from === 'ready') {
    state.index.remove(task, state.mono);
    if (task.spec.needs.length > 0) state.lending.leave(task);
  } else if (from === 'running') doesNotRun(state, task);
}

/** A running task does not expire, so its moment may have passed unused; nor is it dropped for others. */
function doesNotRun(state: State, task: Task): void {
  state.pressure.enter(task);
  if (task.spec.expires !== Infinity) state.wallLine.add(task.spec.expires, 'expiry', task.sequence, task);
}

/** A task has come in, with its place, its edges and its moments; it waits until {@link ready} or {@link delayed}. */
export function submitted(
  state: State,
  task: Task,
  dependencies: readonly Link[],
  occurrence: OccurrenceRecord | undefined,
): void {
  const { spec } = task;
  task.place = state.places.enter(spec).index;
  state.table.add(task);
  state.pending += 1;
  if (occurrence !== undefined) noteOccurrence(state, task, occurrence);
  if (task.extra?.parent !== undefined) state.family.join(task, task.extra.parent);
  if (spec.rare !== undefined) state.keys.enter(task, state.wall);
  if (spec.deadline !== Infinity) {
    extraOf(task).deadline = spec.deadline;
    state.wallLine.add(spec.deadline, 'deadline', task.sequence, task);
  }
  doesNotRun(state, task);
  if (dependencies.length > 0) {
    state.dependencies.attach(task, dependencies);
    state.inheritance.lend(task, dependencies);
    for (const link of dependencies) state.path.mark(linkedTask(link));
  }
  state.emit?.({
    kind: 'task.submitted',
    task: task.id,
    sequence: task.sequence,
    spec,
    payload: task.payload,
    after: dependencyRecords(state, task, dependencies),
    eta: task.extra === undefined || task.extra.eta === -Infinity ? null : task.extra.eta,
    due: task.due + state.origin.wall,
    estimateMs: task.extra?.estimateMs ?? 1,
    occurrence,
    parent: parentId(state, task),
    wall: state.wall,
    mono: state.mono,
  });
}

/** One that is forgotten gives nothing any more, and another one may have its id by now. */
function dependencyRecords(state: State, task: Task, dependencies: readonly Link[]): DependencyRecord[] {
  const known = dependencies.filter((link) => state.table.bySequence(linkedTask(link).sequence) !== undefined);
  return known.map((link) => ({ task: linkedTask(link).id, onFailure: linkPolicy(link, task) }));
}

function parentId(state: State, { extra }: Task): string | undefined {
  return extra?.parent === undefined ? undefined : state.table.bySequence(extra.parent)?.id;
}

function noteOccurrence(state: State, task: Task, occurrence: OccurrenceRecord): void {
  const extra = extraOf(task);
  extra.series = occurrence.series;
  extra.scheduledAt = occurrence.scheduledAt;
  const series = state.seriesOf(task);
  if (series === undefined) return;
  series.made += 1;
  series.active += 1;
  series.lastAt = occurrence.scheduledAt;
}

/** The task's dependencies are met, its time has not come: a backoff's, or its ETA before it was ever ready. */
export function delayed(state: State, task: Task): void {
  move(state, task, 'delayed');
  const { eta, backoffUntil } = extraOf(task);
  if (backoffUntil > state.mono) state.monoLine.add(backoffUntil, 'backoff', task.sequence, task);
  else state.wallLine.add(eta, 'eta', task.sequence, task);
  state.emit?.({ kind: 'task.delayed', task: task.id, wall: state.wall, mono: state.mono });
}

/** The task can be claimed from now on. */
export function ready(state: State, task: Task): void {
  move(state, task, 'ready');
  if (task.extra !== undefined) {
    // Passed once is passed for good: a retry after the wall clock was set back must not wait for the ETA again.
    task.extra.eta = -Infinity;
    task.extra.backoffUntil = -Infinity;
  }
  state.becameReady(task);
  if (task.spec.needs.length > 0) {
    state.lending.join(task);
    state.lending.tell();
  }
  state.emit?.({ kind: 'task.ready', task: task.id, wall: state.wall, mono: state.mono });
}

/** The task has done what it was for. */
export function completed(state: State, task: Task, value: unknown): void {
  move(state, task, 'completed');
  task.value = value;
  state.totals.completed += 1;
  state.emit?.({ kind: 'task.completed', task: task.id, value, wall: state.wall, mono: state.mono });
  finish(state, task);
}

/**
 * The task has failed for good. `cause` is what was thrown, when it was thrown in this process; by the task or, where that
 * never ran because of its dependencies, by the one with which it began.
 */
export function failed(state: State, task: Task, error: ErrorRecord, cause?: unknown): void {
  move(state, task, 'failed');
  extraOf(task).error = error;
  task.value = cause;
  state.totals.failed += 1;
  state.emit?.({ kind: 'task.failed', task: task.id, error, wall: state.wall, mono: state.mono });
  finish(state, task);
}

/** The task is no longer wanted. */
export function cancelled(state: State, task: Task, error: ErrorRecord): void {
  move(state, task, 'cancelled');
  extraOf(task).error = error;
  state.totals.cancelled += 1;
  state.emit?.({ kind: 'task.cancelled', task: task.id, error, wall: state.wall, mono: state.mono });
  finish(state, task);
}

/** The task is left out because something it depends on did not complete. */
export function skipped(state: State, task: Task, dependency: string): void {
  move(state, task, 'skipped');
  const { how, error, thrown } = endOf(state, dependency);
  const data = { taskId: task.id, dependencyId: dependency, state: how };
  extraOf(task).error = DependencyFailedError.record(data, error);
  task.value = thrown;
  state.totals.skipped += 1;
  state.emit?.({ kind: 'task.skipped', task: task.id, dependency, wall: state.wall, mono: state.mono });
  finish(state, task);
}

function finish(state: State, task: Task): void {
  state.pending -= 1;
  state.places.leave(task.place);
  const series = state.seriesOf(task);
  if (series !== undefined) series.active -= 1;
  if (task.extra?.parent !== undefined) state.family.leave(task, task.extra.parent);
  state.path.forget(task);
  state.outbox.settled.push(task);
  if (task.spec.rare !== undefined) state.keys.ended(task, state.wall);
  if (isReplaced(state, task)) state.table.remove(task);
  else state.retention.keep(task, state.mono);
  if (task.node >= 0) freeDependants(state, task);
  if (task.extra?.series !== undefined) state.fallout.add(task, 'ended', task);
  if (task.spec.needs.length > 0) state.lending.tell();
}

/** Whether another one is about to take its place: nobody draws conclusions from its end then. */
function isReplaced(state: State, task: Task): boolean {
  return state.predecessors.size > 0 && state.predecessors.get(task.id) === task;
}

/** Counts the task off for those that waited for it; what that means for them is decided afterwards. */
function freeDependants(state: State, task: Task): void {
  const start = state.fallout.length;
  if (isReplaced(state, task)) state.dependencies.countOffWaits(task, state.fallout);
  else state.dependencies.countOff(task, state.fallout);
  state.fallout.sortFrom(start);
  // The ended task needs nothing any more: no urgency for what it waited for, no results.
  if (state.dependencies.unmetOf(task) > 0) withdrawFromAll(state, task);
  state.dependencies.detach(task, state.retention);
}

function withdrawFromAll(state: State, task: Task): void {
  state.dependencies.eachUnfinishedDependency(task, (dependency) => {
    state.inheritance.withdraw(task, dependency);
    state.path.mark(dependency);
  });
}

/** The attempt did not work out; the task waits for its backoff. */
export function retryScheduled(
  state: State,
  task: Task,
  untilMono: number,
  spent: 'failure' | 'loss',
  error: ErrorRecord | undefined,
): void {
  const extra = extraOf(task);
  if (spent === 'failure') extra.failures += 1;
  else extra.losses += 1;
  extra.error = error;
  extra.backoffUntil = untilMono;
  state.totals.retries += 1;
  state.emit?.({
    kind: 'task.retryScheduled',
    task: task.id,
    untilMono,
    spent,
    error,
    wall: state.wall,
    mono: state.mono,
  });
}

/** A failed task is pending again, with all its attempts before it. */
export function revived(state: State, task: Task): void {
  move(state, task, 'waiting');
  const extra = extraOf(task);
  extra.failures = 0;
  extra.losses = 0;
  extra.error = undefined;
  extra.backoffUntil = -Infinity;
  task.value = undefined;
  task.place = state.places.enter(task.spec).index;
  state.pending += 1;
  state.retention.release(task);
  const series = state.seriesOf(task);
  if (series !== undefined) series.active += 1;
  if (extra.parent !== undefined) state.family.join(task, extra.parent);
  if (task.spec.rare !== undefined) state.keys.revived(task, state.wall);
  // Its moments may have been swept away while it was final.
  const { deadline } = task.spec;
  if (deadline !== Infinity) state.wallLine.add(deadline, 'deadline', task.sequence, task);
  doesNotRun(state, task);
  // Whoever lent it urgency has gone on without it.
  state.inheritance.recompute(task);
  state.emit?.({ kind: 'task.revived', task: task.id, wall: state.wall, mono: state.mono });
  if (series !== undefined) countRun(state, series);
}
