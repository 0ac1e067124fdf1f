export { describeExplanation } from './core/index.js';
export type { AwaitedDependency, BusyWorker, Explanation, Holder, Obstacle, Standing } from './core/index.js';
export { InProcess } from './executors/in-process.js';
export { toDot, toMermaid } from './observe/graph-export.js';
export type { Trace, TraceEvent } from './observe/timeline.js';
export type { ExecutionOutcome, Executor, Work } from './ports/executor.js';
export type { Logger, LogLevel } from './ports/logger.js';
export type { EventMessage, FactMessage } from './runtime/diagnostics.js';
export type { TaskView } from './runtime/task-view.js';
export { Scheduler } from './scheduler.js';
export type { Scheduler as BareScheduler } from './runtime/scheduler.js';
export type { AddOptions } from './runtime/add-options.js';
export type { AddAllEntry, CheckedEntries, EntryHandles, EntryResult, RunResult } from './runtime/add-all.js';
export type { Adder, Adding, InputAndOptions } from './runtime/adding.js';
export type { After, ResultOf, ResultsOf, TaskName } from './runtime/after.js';
export type { Load } from './runtime/admission.js';
export type { WaitOptions } from './runtime/abortable.js';
export { Claim, type ClaimedTask } from './runtime/claim.js';
export type { Clock, Timer } from './runtime/clock.js';
export type { CloseOptions } from './runtime/closing.js';
export type {
  AddedEvent,
  AttemptEvent,
  ClaimsEvent,
  CompletedEvent,
  DeadlineMissedEvent,
  OverranEvent,
  PreemptedEvent,
  StarvedEvent,
  EventName,
  Listener,
  ListenerErrorEvent,
  ProgressEvent,
  RefusedEvent,
  RestEvent,
  RetryingEvent,
  SaturatedEvent,
  SchedulerEvents,
  SkippedEvent,
  TaskEvent,
  UncompletedEvent,
} from './ports/events.js';
export type { Defined } from './runtime/defined.js';
export { Definition, type DefinedHandler, type DefinitionOptions } from './runtime/definition.js';
export type { MapOptions, Source } from './runtime/mapping.js';
export type { Looking } from './runtime/looking.js';
export { TaskReference } from './runtime/reference.js';
export { PullingWorker } from './runtime/pulling-worker.js';
export { SeriesHandle, type Occurrence, type RepeatOptions } from './runtime/series-handle.js';
export type { CancelOptions, Steering } from './runtime/steering.js';
export type { TaskFilter } from './runtime/task-view.js';
export type { WorkerOptions } from './runtime/worker-options.js';
export { Handle, type ChildOptions, type Handler, type ResourceFeedback, type TaskContext } from './runtime/handle.js';
export type { Given, Steps } from './runtime/given.js';
export type { AgingOptions, PreemptionOptions, SchedulerOptions } from './runtime/scheduler-options.js';
export { FileStore, type FileStoreOptions } from './stores/file/file-store.js';
export type { Loss } from './stores/file/found-records.js';
export { salvage, type SalvageReport } from './stores/file/salvage.js';
export type { Files, OpenFile } from './stores/file/files.js';
export { MemoryStore } from './stores/memory.js';
export type { Codec } from './runtime/codec.js';
export type { SnapshotOptions } from './runtime/snapshots.js';
export type { StoreOptions } from './runtime/store-options.js';
export type { Durability, Loaded, Opening, SnapshotToSave, Store } from './ports/store.js';
export type { TypeLimitOptions } from './runtime/limit-options.js';
export type {
  Assignment,
  Balance,
  Candidate,
  ChoiceContext,
  CoreLoad,
  LimitsLoad,
  Offer,
  PlaceFilter,
  PlaceTraits,
  RateLoad,
  ResourceLoad,
  Statistics,
  Strategy,
  StrategyChoice,
  StrategyName,
  TypeCount,
  TypeLoad,
  Utilisation,
  WaitSummary,
  WeightOf,
  WeightedRandom,
  WhenFull,
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
  ExecutorLostError,
  ExpiredError,
  IllegalTransitionError,
  InvalidConfigError,
  InvalidTaskError,
  PayloadError,
  PreemptedError,
  SaturatedError,
  SchedulerError,
  StaleLeaseError,
  StoreError,
  type StoreFailure,
  type StrategyAnswer,
  type StrategyDecision,
  StrategyError,
  TimeoutError,
  UnknownDependencyError,
  UnknownHandlerError,
  UnknownTaskError,
  UnschedulableError,
  type Unschedulable,
  UnsupportedVersionError,
  type DroppedData,
  type SaturatedData,
  type SchedulerErrorCode,
  type WaitStep,
} from './model/index.js';
export type {
  CapabilityValue,
  CatchUp,
  ChannelClaims,
  Duration,
  ErrorRecord,
  Failure,
  FailurePolicy,
  FencingToken,
  FinalState,
  GraphEdge,
  GraphSource,
  GraphTask,
  IfExists,
  Instant,
  IntervalOrigin,
  InvalidValue,
  JsonObject,
  JsonValue,
  LevelName,
  Metadata,
  Moment,
  Need,
  Overlap,
  Priority,
  RareOptions,
  RecurrenceOptions,
  RateLimit,
  RateOptions,
  RetryOptions,
  TaskGraph,
  TaskOptions,
  TaskState,
} from './model/index.js';
