export { describeExplanation } from './core/index.js';
export type { AwaitedDependency, Explanation, Holder, Obstacle, Standing } from './core/index.js';
export { toDot, toMermaid } from './observe/graph-export.js';
export { Scheduler, type AddOptions } from './runtime/scheduler.js';
export type { After } from './runtime/after.js';
export { Handle, type Handler, type TaskContext } from './runtime/handle.js';
export type { AgingOptions, SchedulerOptions, TypeLimitOptions } from './runtime/scheduler-options.js';
export type {
  Candidate,
  ChoiceContext,
  Strategy,
  StrategyChoice,
  StrategyName,
  WeightOf,
  WeightedRandom,
} from './core/index.js';
export {
  CancelledError,
  ClosedError,
  CorruptJournalError,
  CycleError,
  DeadlockError,
  DependencyFailedError,
  DeposedError,
  DroppedError,
  DuplicateTaskError,
  ExpiredError,
  IllegalTransitionError,
  InvalidConfigError,
  InvalidTaskError,
  PayloadError,
  SaturatedError,
  SchedulerError,
  StaleLeaseError,
  StoreError,
  TimeoutError,
  UnknownDependencyError,
  UnknownHandlerError,
  UnknownTaskError,
  UnschedulableError,
  UnsupportedVersionError,
  type SchedulerErrorCode,
} from './model/index.js';
export type {
  CapabilityValue,
  Duration,
  ErrorRecord,
  FailurePolicy,
  FinalState,
  GraphEdge,
  GraphSource,
  GraphTask,
  Instant,
  InvalidValue,
  LevelName,
  Need,
  Priority,
  RateLimit,
  RateOptions,
  RetryOptions,
  TaskGraph,
  TaskOptions,
  TaskState,
} from './model/index.js';
