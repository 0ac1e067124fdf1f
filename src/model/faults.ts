import { SchedulerError } from './scheduler-error.js';
import { show } from './show.js';
import type { TaskState } from './state.js';

/** A task was told to go where its state does not allow. */
export class IllegalTransitionError extends SchedulerError {
  static {
    IllegalTransitionError.prototype.name = 'IllegalTransitionError';
  }
  readonly code = 'ILLEGAL_TRANSITION';
  readonly taskId: string;
  readonly from: TaskState;
  readonly to: TaskState;

  constructor(data: { readonly taskId: string; readonly from: TaskState; readonly to: TaskState }) {
    super(
      `Task ${show(data.taskId)} is ${data.from} and cannot become ${data.to}. ` +
        'Look at its state first: it may have changed since.',
    );
    this.taskId = data.taskId;
    this.from = data.from;
    this.to = data.to;
  }
}

/** An outcome or a heartbeat came for an attempt that is no longer the current one; it changed nothing. */
export class StaleLeaseError extends SchedulerError {
  static {
    StaleLeaseError.prototype.name = 'StaleLeaseError';
  }
  readonly code = 'STALE_LEASE';
  readonly taskId: string;
  readonly attempt: number;
  readonly reason: string;

  constructor(data: { readonly taskId: string; readonly attempt: number; readonly reason: string }) {
    super(
      `Attempt ${data.attempt} of task ${show(data.taskId)} no longer counts: ${data.reason}. ` +
        'Drop this result; extend the lease in time if the work takes longer.',
    );
    this.taskId = data.taskId;
    this.attempt = data.attempt;
    this.reason = data.reason;
  }
}

/** Whatever ran an attempt is gone with it; `cause` tells what is known. */
export class ExecutorLostError extends SchedulerError {
  static {
    ExecutorLostError.prototype.name = 'ExecutorLostError';
  }
  readonly code = 'EXECUTOR_LOST';
  readonly taskId: string;
  readonly attempt: number;
  readonly executorId: string;

  constructor(data: {
    readonly taskId: string;
    readonly attempt: number;
    readonly executorId: string;
    readonly cause?: unknown;
  }) {
    const why = data.cause === undefined ? '' : `: ${show(data.cause)}`;
    super(
      `Attempt ${data.attempt} of task ${show(data.taskId)} was lost with what ran it in ${show(data.executorId)}${why}. ` +
        'It is tried again until its budget of losses is spent; look for what ends it.',
      data.cause === undefined ? {} : { cause: data.cause },
    );
    this.taskId = data.taskId;
    this.attempt = data.attempt;
    this.executorId = data.executorId;
  }
}

/** Another master has taken over the store; this one may not write any more. */
export class DeposedError extends SchedulerError {
  static {
    DeposedError.prototype.name = 'DeposedError';
  }
  readonly code = 'DEPOSED';
  readonly epoch: number;
  readonly currentEpoch: number;

  constructor(data: { readonly epoch: number; readonly currentEpoch: number }) {
    super(
      `This scheduler led epoch ${data.epoch}, but the store is at epoch ${data.currentEpoch}: another one has taken ` +
        'over. Close this one.',
    );
    this.epoch = data.epoch;
    this.currentEpoch = data.currentEpoch;
  }
}

/** How a store failed: for good, for want of space, or because somebody else is at it. */
export type StoreFailure = 'failed' | 'full' | 'busy';

const AFTER_FAILURE: Readonly<Record<StoreFailure, string>> = {
  failed: 'What was not acknowledged may be lost.',
  full: 'Nothing is lost or acknowledged meanwhile; make room and it goes on.',
  busy: 'End whoever else uses it first, or use another place.',
};

/** The store failed; `cause` is its own error. */
export class StoreError extends SchedulerError {
  static {
    StoreError.prototype.name = 'StoreError';
  }
  readonly code = 'STORE';
  readonly operation: string;
  readonly kind: StoreFailure;

  constructor(data: { readonly operation: string; readonly kind?: StoreFailure; readonly cause?: unknown }) {
    const { operation, kind = 'failed', cause } = data;
    const why = cause === undefined ? '' : `: ${show(cause)}`;
    super(`The store could not ${operation}${why}. ${AFTER_FAILURE[kind]}`, cause === undefined ? {} : { cause });
    this.operation = operation;
    this.kind = kind;
  }
}

/** A journal or snapshot holds something that was never written like this. */
export class CorruptJournalError extends SchedulerError {
  static {
    CorruptJournalError.prototype.name = 'CorruptJournalError';
  }
  readonly code = 'CORRUPT_JOURNAL';
  /** The file or table. */
  readonly source: string;
  /** Where in the source the first bad record begins. */
  readonly position: number;
  readonly reason: string;

  constructor(data: { readonly source: string; readonly position: number; readonly reason: string }) {
    super(
      `${show(data.source)} is damaged at ${data.position}: ${data.reason}. ` +
        'Restore it from a copy; nothing was changed.',
    );
    this.source = data.source;
    this.position = data.position;
    this.reason = data.reason;
  }
}

/** A journal or snapshot was written by a newer version than this one, which cannot know what it means. */
export class UnsupportedVersionError extends SchedulerError {
  static {
    UnsupportedVersionError.prototype.name = 'UnsupportedVersionError';
  }
  readonly code = 'UNSUPPORTED_VERSION';
  /** What was to be read, such as `snapshot`. */
  readonly source: string;
  readonly version: number;
  /** The newest version that can be read. */
  readonly supported: number;

  constructor(data: { readonly source: string; readonly version: number; readonly supported: number }) {
    super(
      `The ${data.source} has version ${show(data.version)}, but this code reads up to version ${data.supported}. ` +
        'Use the version of precedence that wrote it, or a later one; nothing was changed.',
    );
    this.source = data.source;
    this.version = data.version;
    this.supported = data.supported;
  }
}
