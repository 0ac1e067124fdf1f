import {
  DeadlockError,
  StaleLeaseError,
  TimeoutError,
  UnknownTaskError,
  failureShown,
  recordOwnError,
  type Attempt,
  type ErrorRecord,
  type Failure,
  type FencingToken,
  type Outcome,
  type SchedulerError,
  type Task,
} from '../../model/index.js';
import { advance, passGates } from '../advance.js';
import { backoffMs } from '../backoff.js';
import { findDeadlock } from '../deadlock.js';
import { checkLease, checkpointed, ended, leaseExtended, settledLate } from '../execution.js';
import type { State } from '../state.js';
import { completed, failed, retryScheduled } from '../transitions.js';

/** The attempt that an outcome from outside is about; a stale token is refused. */
export function attemptFor(state: State, taskId: string, token: FencingToken): Attempt {
  const task = state.table.byId(taskId);
  const current = task?.attempt;
  if (current !== undefined && isNamedBy(token, current)) return current;
  // One that was abandoned still holds what it took, however long ago its task was forgotten.
  for (const attempt of state.abandoned) if (attempt.task.id === taskId && isNamedBy(token, attempt)) return attempt;
  if (task === undefined && state.table.tombstone(taskId) === undefined) throw new UnknownTaskError({ taskId });
  throw stale(taskId, token.attempt);
}

function isNamedBy(token: FencingToken, attempt: Attempt): boolean {
  if (attempt.number !== token.attempt || attempt.epoch !== token.epoch) return false;
  return token.sequence === undefined || token.sequence === attempt.task.sequence;
}

/**
 * The outcome of an attempt. That of an abandoned one is refused as stale, but gives back what the attempt held.
 */
export function settle(state: State, attempt: Attempt, outcome: Outcome): void {
  if (attempt.over) throw stale(attempt.task.id, attempt.number);
  if (attempt.abandoned) {
    settledLate(state, attempt);
    throw stale(attempt.task.id, attempt.number);
  }
  switch (outcome.kind) {
    case 'succeeded':
      ended(state, attempt, 'succeeded');
      completed(state, attempt.task, outcome.value);
      advance(state);
      return;
    case 'failed':
      if (makesWay(attempt, outcome.error, state.mono)) release(state, attempt);
      else failedWith(state, attempt, outcome);
      return;
    case 'aborted':
      release(state, attempt);
      return;
    case 'lost':
      lose(state, attempt, outcome);
      return;
  }
}

function failedWith(state: State, attempt: Attempt, failure: Extract<Outcome, { kind: 'failed' }>): void {
  const next = judged(state, attempt, failure);
  if (!counts(attempt)) {
    if (!attempt.over) settledLate(state, attempt);
    throw stale(attempt.task.id, attempt.number);
  }
  ended(state, attempt, 'failed');
  failOrRetry(state, attempt, failure, next);
}

/**
 * One that was asked to stop may well do so by throwing, whatever that is. Past its time only what it was asked with counts
 * as stopping: that it came late is no fault of the work.
 */
function makesWay({ stopBy }: Attempt, { code }: ErrorRecord, mono: number): boolean {
  return stopBy !== undefined && (mono <= stopBy || code === 'PREEMPTED');
}

/** The worker gives the task back unharmed, by itself or to make way: that costs it nothing. */
function release(state: State, attempt: Attempt): void {
  ended(state, attempt, attempt.stopBy === undefined ? 'released' : 'preempted');
  goAgain(state, attempt.task);
}

/** The worker is gone with its attempt; why, where somebody knows. */
export function lose(state: State, attempt: Attempt, why: { error?: ErrorRecord; cause?: unknown } = {}): void {
  const { task } = attempt;
  ended(state, attempt, 'lost');
  const losses = (task.extra?.losses ?? 0) + 1;
  const gone = stale(task.id, attempt.number);
  const error = why.error ?? recordOwnError(gone);
  // Should the worker be there after all, it had better stop.
  state.outbox.aborted.push({ attempt, error, cause: gone });
  if (losses >= state.options.maxLosses) {
    fail(state, task, error, why.cause);
    return;
  }
  retryScheduled(state, task, state.mono, 'loss', error);
  goAgain(state, task);
}

/** The attempt has taken too long: its task goes on without it. */
export function timeOut(state: State, attempt: Attempt): void {
  const { task } = attempt;
  const error = new TimeoutError({ taskId: task.id, attempt: attempt.number, timeoutMs: task.spec.timeoutMs });
  giveUp(state, attempt, error);
}

/** The attempt is given up as failed; whoever was asked about that may have taken it back meanwhile. */
function giveUp(state: State, attempt: Attempt, cause: SchedulerError): void {
  const failure = { error: recordOwnError(cause), retryable: true, cause };
  const next = judged(state, attempt, failure);
  if (!counts(attempt)) return;
  abandon(state, attempt, failure.error, cause);
  failOrRetry(state, attempt, failure, next);
}

/** Its result no longer counts; whoever runs it is told to stop. */
export function abandon(state: State, attempt: Attempt, error: ErrorRecord, cause?: SchedulerError): void {
  ended(state, attempt, 'abandoned');
  state.outbox.aborted.push(cause === undefined ? { attempt, error } : { attempt, error, cause });
}

/** A heartbeat: the lease counts anew from now; an attempt that has none is given none. */
export function extend(state: State, attempt: Attempt, leaseMs: number): void {
  checkCounts(attempt);
  checkLease(leaseMs);
  if (attempt.leaseEndsAt !== Infinity) leaseExtended(state, attempt, state.mono + leaseMs);
}

/** Keeps how far the attempt has come; one that no longer counts must not overwrite what its successor has kept. */
export function checkpoint(state: State, attempt: Attempt, reached: unknown): void {
  checkCounts(attempt);
  checkpointed(state, attempt, reached);
}

function checkCounts(attempt: Attempt): void {
  if (!counts(attempt)) throw stale(attempt.task.id, attempt.number);
}

function counts(attempt: Attempt): boolean {
  return !attempt.over && !attempt.abandoned;
}

/** A lease has run out. */
export function leaseEnded(state: State, attempt: Attempt): void {
  if (attempt.abandoned) settledLate(state, attempt);
  else lose(state, attempt);
}

/** The task will run again, for which it needs again what its attempt gave back: waiting attempts may keep that. */
function goAgain(state: State, task: Task): void {
  passGates(state, task);
  breakDeadlocks(state, [task]);
}

/**
 * Something else than a wait may have closed a circle of waits around these tasks: a capacity that was lowered, a
 * retry. As nobody can be refused then, the last to wait of those that are in the way has failed, as if by a timeout.
 */
export function breakDeadlocks(state: State, tasks: readonly Task[]): void {
  if (state.breaking || state.suspended.size === 0) return;
  const around = [...tasks];
  while (findDeadlock(state, around) !== undefined) {
    // Others may be caught too; whose wait is to fail must not depend on who was looked at first.
    const deadlock = findDeadlock(state, [...around, ...[...state.suspended].map(({ task }) => task)]);
    if (deadlock === undefined) return;
    const attempt = deadlock.lastInTheWay();
    const error = new DeadlockError({ taskId: attempt.task.id, ...deadlock.circle(attempt.task) });
    state.breaking = true;
    giveUp(state, attempt, error);
    state.breaking = false;
    around.push(attempt.task);
  }
}

/** How an attempt failed. */
type Failed = Omit<Extract<Outcome, { kind: 'failed' }>, 'kind'>;

/**
 * How long the task waits for its next attempt; `undefined` when there is none.
 *
 * Asked before anything changes: functions of the user's are asked, and those may well do something to the scheduler, such
 * as taking back the very task.
 */
function judged(state: State, attempt: Attempt, { error, retryable, cause }: Failed): number | undefined {
  const { task } = attempt;
  const policy = task.spec.retry;
  const failures = (task.extra?.failures ?? 0) + 1;
  const allowed = policy?.attempts ?? 1 + (state.workers.get(attempt.workerId)?.spec.retries ?? 0);
  if (!retryable || failures >= allowed) return undefined;
  const shown = failureShown(error, cause);
  if (!wants(policy?.retryIf, shown)) return undefined;
  return policy === undefined ? 0 : backoffMs(policy, failures, shown, state.random);
}

function failOrRetry(state: State, { task }: Attempt, { error, cause }: Failed, waitMs: number | undefined): void {
  if (waitMs === undefined) {
    fail(state, task, error, cause);
    return;
  }
  retryScheduled(state, task, state.mono + waitMs, 'failure', error);
  goAgain(state, task);
}

/** A predicate of the user's that throws must not lose the task: it then counts as a yes. */
function wants(retryIf: ((error: Failure) => boolean) | undefined, error: Failure): boolean {
  if (retryIf === undefined) return true;
  try {
    return retryIf(error);
  } catch {
    return true;
  }
}

function fail(state: State, task: Task, error: ErrorRecord, cause: unknown): void {
  failed(state, task, error, cause);
  advance(state);
}

/** The refusal of what an attempt sends that no longer counts. */
export function stale(taskId: string, attempt: number): StaleLeaseError {
  return new StaleLeaseError({
    taskId,
    attempt,
    reason: 'it has ended, or was taken back, timed out or lost its lease',
  });
}
