import { causeRecord, type ErrorRecord } from './error-record.js';
import { SchedulerError } from './scheduler-error.js';
import { show } from './show.js';
import type { FinalState } from './state.js';

/** The task was cancelled; `cause` is the reason that was given. */
export class CancelledError extends SchedulerError {
  static {
    CancelledError.prototype.name = 'CancelledError';
  }
  readonly code = 'CANCELLED';
  readonly taskId: string;
  readonly reason: unknown;

  constructor(data: { readonly taskId: string; readonly reason?: unknown }) {
    super(cancelledText(data), data.reason === undefined ? {} : { cause: data.reason });
    this.taskId = data.taskId;
    this.reason = data.reason;
  }

  /** What is kept of the error, without making one: its stack would take longer than the cancellation. */
  static record(data: { readonly taskId: string; readonly reason?: string | undefined }): ErrorRecord {
    return { name: 'CancelledError', message: cancelledText(data), code: 'CANCELLED', data };
  }
}

function cancelledText(data: { readonly taskId: string; readonly reason?: unknown }): string {
  const why = data.reason === undefined ? '' : `: ${show(data.reason)}`;
  return `Task ${show(data.taskId)} was cancelled${why}.`;
}

/** An attempt took longer than its timeout and was aborted. */
export class TimeoutError extends SchedulerError {
  static {
    TimeoutError.prototype.name = 'TimeoutError';
  }
  readonly code = 'TIMEOUT';
  readonly taskId: string;
  readonly attempt: number;
  readonly timeoutMs: number;

  constructor(data: { readonly taskId: string; readonly attempt: number; readonly timeoutMs: number }) {
    super(
      `Attempt ${data.attempt} of task ${show(data.taskId)} ran longer than ${data.timeoutMs} ms and was aborted. ` +
        'Raise its timeout, or heed task.signal to stop sooner.',
    );
    this.taskId = data.taskId;
    this.attempt = data.attempt;
    this.timeoutMs = data.timeoutMs;
  }
}

/** An attempt was asked to stop so that a more urgent task can start; its own task goes again later. */
export class PreemptedError extends SchedulerError {
  static {
    PreemptedError.prototype.name = 'PreemptedError';
  }
  readonly code = 'PREEMPTED';
  readonly taskId: string;
  readonly attempt: number;
  /** The id of the task that is to start. */
  readonly by: string;
  /** How long the attempt has to stop before it is let be. */
  readonly graceMs: number;

  constructor(data: {
    readonly taskId: string;
    readonly attempt: number;
    readonly by: string;
    readonly graceMs: number;
  }) {
    super(
      `Attempt ${data.attempt} of task ${show(data.taskId)} is to make way for ${show(data.by)} within ` +
        `${data.graceMs} ms. Save a checkpoint and stop: the task goes again, and this costs it no attempt.`,
    );
    this.taskId = data.taskId;
    this.attempt = data.attempt;
    this.by = data.by;
    this.graceMs = data.graceMs;
  }
}

/** The task had not started when it expired. */
export class ExpiredError extends SchedulerError {
  static {
    ExpiredError.prototype.name = 'ExpiredError';
  }
  readonly code = 'EXPIRED';
  readonly taskId: string;
  /** Epoch milliseconds. */
  readonly expires: number;

  constructor(data: { readonly taskId: string; readonly expires: number }) {
    super(expiredText(data));
    this.taskId = data.taskId;
    this.expires = data.expires;
  }

  /** What is kept of the error, without making one. */
  static record(data: { readonly taskId: string; readonly expires: number }): ErrorRecord {
    const kept = { taskId: data.taskId, expires: String(data.expires) };
    return { name: 'ExpiredError', message: expiredText(data), code: 'EXPIRED', data: kept };
  }
}

function expiredText({ taskId, expires }: { readonly taskId: string; readonly expires: number }): string {
  return (
    `Task ${show(taskId)} had not started by ${showInstant(expires)}, when it expired. ` +
    'Give it more time, more urgency, or no expiry.'
  );
}

/** The task was dropped to make room for another. */
export class DroppedError extends SchedulerError {
  static {
    DroppedError.prototype.name = 'DroppedError';
  }
  readonly code = 'DROPPED';
  readonly taskId: string;
  readonly policy: 'drop-oldest' | 'drop-lowest';

  constructor(data: DroppedData) {
    super(droppedText(data));
    this.taskId = data.taskId;
    this.policy = data.policy;
  }

  /** What is kept of the error, without making one: under pressure there may be one for every task that comes. */
  static record(data: DroppedData): ErrorRecord {
    return { name: 'DroppedError', message: droppedText(data), code: 'DROPPED', data: { ...data } };
  }
}

/** Which task was dropped, and why. */
export interface DroppedData {
  readonly taskId: string;
  readonly policy: 'drop-oldest' | 'drop-lowest';
}

function droppedText({ taskId, policy }: DroppedData): string {
  return (
    `Task ${show(taskId)} was dropped because too many tasks were pending (${policy}). ` +
    'Raise maxPending, or choose another whenFull.'
  );
}

/**
 * A dependency did not complete, so the task cannot run; `cause` is the dependency's own error where that is known. If that one
 * did not run either, its error has a cause too, down to the task with which it began; of a long chain the middle is left out.
 */
export class DependencyFailedError extends SchedulerError {
  static {
    DependencyFailedError.prototype.name = 'DependencyFailedError';
  }
  readonly code = 'DEPENDENCY_FAILED';
  readonly taskId: string;
  readonly dependencyId: string;
  readonly state: FinalState;

  constructor(data: {
    readonly taskId: string;
    readonly dependencyId: string;
    readonly state: FinalState;
    readonly cause?: unknown;
  }) {
    super(dependencyFailedText(data), data.cause === undefined ? {} : { cause: data.cause });
    this.taskId = data.taskId;
    this.dependencyId = data.dependencyId;
    this.state = data.state;
  }

  /** What is kept of the error, without making one: a hundred thousand dependants may fall with one task. */
  static record(
    data: { readonly taskId: string; readonly dependencyId: string; readonly state: FinalState },
    cause: ErrorRecord | undefined,
  ): ErrorRecord {
    const record = {
      name: 'DependencyFailedError',
      message: dependencyFailedText(data),
      code: 'DEPENDENCY_FAILED',
      data,
    };
    return cause === undefined ? record : { ...record, because: causeRecord(cause) };
  }
}

function dependencyFailedText(data: {
  readonly taskId: string;
  readonly dependencyId: string;
  readonly state: FinalState;
}): string {
  const was = data.state === 'failed' || data.state === 'completed' ? data.state : `was ${data.state}`;
  return (
    `Task ${show(data.taskId)} cannot run: its dependency ${show(data.dependencyId)} ${was}. ` +
    "Use onDependencyFailure: 'skip' or 'run' if that is acceptable."
  );
}

/** One step of a circle of waits: who waits, by what, and for whom. */
export interface WaitStep {
  readonly task: string;
  readonly by: 'waitFor' | 'dependency' | 'resource';
  /** What it lacks and the next one keeps, where it waits for a resource. */
  readonly resource?: string;
  readonly next: string;
}

/** Running tasks wait for each other in a circle, directly or through what they hold. */
export class DeadlockError extends SchedulerError {
  static {
    DeadlockError.prototype.name = 'DeadlockError';
  }
  readonly code = 'DEADLOCK';
  readonly taskId: string;
  /** Each task waits for the one after it, and the last is the first again. */
  readonly path: readonly string[];
  /** The same with the reason of each step; empty where only the path is known. */
  readonly steps: readonly WaitStep[];

  constructor(data: {
    readonly taskId: string;
    readonly path: readonly string[];
    readonly steps?: readonly WaitStep[];
  }) {
    const steps = data.steps ?? [];
    const circle = steps.length === 0 ? data.path.slice(0, 12).map(show).join(' → ') : describeSteps(steps);
    super(
      `Task ${show(data.taskId)} would wait for itself: ${circle}. ` +
        'Let go of a resource before waiting (see yieldable), or declare the dependency with after.',
    );
    this.taskId = data.taskId;
    this.path = data.path;
    this.steps = steps;
  }
}

function describeSteps(steps: readonly WaitStep[]): string {
  const told = steps.slice(0, 12).map(({ task, by, resource, next }) => {
    if (by === 'resource') return `${show(task)} lacks ${show(resource)} that ${show(next)} keeps`;
    return `${show(task)} ${by === 'waitFor' ? 'waits for' : 'comes after'} ${show(next)}`;
  });
  return told.join(', ');
}

/** The scheduler is closed, or was closed before the task could run. */
export class ClosedError extends SchedulerError {
  static {
    ClosedError.prototype.name = 'ClosedError';
  }
  readonly code = 'CLOSED';
  readonly taskId: string | undefined;
  /** The worker that was closed; `undefined` when it was the whole scheduler. */
  readonly workerId: string | undefined;
  /** Whether the task is in the store, and goes on when a scheduler is started on it again. */
  readonly kept: boolean;

  constructor(
    data: {
      readonly taskId?: string | undefined;
      readonly workerId?: string | undefined;
      readonly kept?: boolean | undefined;
    } = {},
  ) {
    super(data.kept === true ? keptMessage(data.taskId) : closedMessage(data.taskId, data.workerId));
    this.taskId = data.taskId;
    this.workerId = data.workerId;
    this.kept = data.kept === true;
  }

  /** What is kept of the error, without making one: a closed scheduler may leave a million tasks behind. */
  static record(data: { readonly taskId: string }): ErrorRecord {
    return { name: 'ClosedError', message: closedMessage(data.taskId, undefined), code: 'CLOSED', data };
  }
}

function keptMessage(taskId: string | undefined): string {
  const what = taskId === undefined ? 'What was waited for' : `Task ${show(taskId)}`;
  return `${what} is not done, but kept: it goes on when a scheduler is started on the same store again.`;
}

function closedMessage(taskId: string | undefined, workerId: string | undefined): string {
  if (workerId !== undefined) return `Worker ${show(workerId)} is closed and claims no more tasks. Make another one.`;
  if (taskId === undefined) return 'The scheduler is closed and takes no more work. Create a new one.';
  return `The scheduler was closed before task ${show(taskId)} was done. Drain for longer with close({ drain }).`;
}

function showInstant(epochMs: number): string {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime()) ? String(epochMs) : date.toISOString();
}
