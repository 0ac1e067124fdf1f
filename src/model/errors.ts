// One door to all kinds of errors: what is refused, how a task can end, and what can go wrong around it.
export { SchedulerError, type SchedulerErrorCode } from './scheduler-error.js';
export {
  CycleError,
  DuplicateTaskError,
  InvalidConfigError,
  InvalidTaskError,
  type InvalidValue,
  PayloadError,
  type SaturatedData,
  SaturatedError,
  UnknownDependencyError,
  UnknownHandlerError,
  UnknownTaskError,
  UnschedulableError,
  type Unschedulable,
} from './refusals.js';
export {
  CancelledError,
  ClosedError,
  DeadlockError,
  DependencyFailedError,
  type DroppedData,
  DroppedError,
  ExpiredError,
  PreemptedError,
  TimeoutError,
  type WaitStep,
} from './endings.js';
export { StrategyError, type StrategyAnswer, type StrategyDecision } from './strategy-error.js';
export {
  CorruptJournalError,
  DeposedError,
  ExecutorLostError,
  IllegalTransitionError,
  StaleLeaseError,
  StoreError,
  type StoreFailure,
  UnsupportedVersionError,
} from './faults.js';
