export type { ConformanceCheck } from './conformance.js';
export { EXECUTOR_HANDLERS, executorChecks, type ExecutorCheckName, type ExecutorSubject } from './executor-kit.js';
export { FaultyFiles, type FileCall, type FileFault } from './faulty-files.js';
export { Sim, sim, SIM_START, type SimOptions, type SimSeriesOptions, type SimTaskOptions } from './sim.js';
export { FAULT_CLASSES, type Climate, type FaultClass, type Strength } from './simulation/climate.js';
export type { PromiseName, Violation } from './simulation/evidence.js';
export { shrink, type Shrunk } from './simulation/shrink.js';
export {
  simulate,
  type SimulationFailure,
  type SimulationOptions,
  type SimulationReport,
} from './simulation/simulate.js';
export type { ActName, Step } from './simulation/step.js';
export { SimulatedDisk, type SimulatedProcess } from './simulated-disk.js';
export { storeChecks, type StoreCheckName, type StorePlace, type StoreSubject } from './store-kit.js';
export { type SnapshotCheckName } from './store-snapshot-checks.js';
export { strategyChecks, type StrategyCheckName, type StrategySubject } from './strategy-kit.js';
export { VirtualClock } from './virtual-clock.js';
export { Core } from '../core/index.js';
export type {
  Aging,
  Assignment,
  AttemptRecord,
  Balance,
  Cancellation,
  Command,
  CoreLoad,
  CoreOptions,
  CoreSnapshot,
  DependencyInput,
  DependencyRef,
  ExtraRecord,
  Feedback,
  FlowRecord,
  FlowRecords,
  KeyRecord,
  LimitsLoad,
  Offer,
  OpenChannelsRecord,
  Origin,
  PlaceFilter,
  PlaceTraits,
  PlanRequest,
  PreemptionSettings,
  PressureRecord,
  PressureSettings,
  RateLoad,
  RecurrenceRecord,
  Request,
  ResourceLoad,
  ResourceSettings,
  RestoreOptions,
  RetentionSettings,
  RunsInInterval,
  SeriesRecord,
  SettingsRecord,
  SpecRecord,
  Subject,
  Submission,
  TaskRecord,
  TurnsRecord,
  TypeLoad,
  Utilisation,
  WaitSummary,
  Wake,
  WhenFull,
  WorkerSpec,
} from '../core/index.js';
export type {
  Attempt,
  AttemptEnd,
  AttemptWait,
  Backoff,
  CatchUp,
  Charged,
  DependencyRecord,
  Fact,
  FencingToken,
  IntervalOrigin,
  Moment,
  OccurrenceRecord,
  Outcome,
  Overlap,
  RareSpec,
  RecurrenceSpec,
  RetryPolicy,
  Setting,
  StrategyRecord,
  Task,
  TaskExtra,
  TaskSpec,
  Timing,
  WorkerRecord,
} from '../model/index.js';
