/** The stable name of each kind of error, for a `switch` that survives bundlers and two copies of the package. */
export type SchedulerErrorCode =
  | 'INVALID_TASK'
  | 'INVALID_CONFIG'
  | 'DUPLICATE_TASK'
  | 'UNKNOWN_TASK'
  | 'UNKNOWN_DEPENDENCY'
  | 'UNKNOWN_HANDLER'
  | 'CYCLE'
  | 'UNSCHEDULABLE'
  | 'SATURATED'
  | 'PAYLOAD'
  | 'CANCELLED'
  | 'TIMEOUT'
  | 'PREEMPTED'
  | 'EXPIRED'
  | 'DROPPED'
  | 'DEPENDENCY_FAILED'
  | 'DEADLOCK'
  | 'CLOSED'
  | 'ILLEGAL_TRANSITION'
  | 'STALE_LEASE'
  | 'EXECUTOR_LOST'
  | 'DEPOSED'
  | 'STRATEGY'
  | 'STORE'
  | 'CORRUPT_JOURNAL'
  | 'UNSUPPORTED_VERSION';

/**
 * The base of every error the scheduler throws or settles a task with.
 *
 * Each kind has its own `code` and carries what its message names as typed fields.
 */
export abstract class SchedulerError extends Error {
  abstract readonly code: SchedulerErrorCode;
}
