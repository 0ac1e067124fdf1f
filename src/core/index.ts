export type { Subject } from './about.js';
export { holdingAttempts } from './attempts.js';
export { checkStart } from './check.js';
export * from './command.js';
export * from './core-options.js';
export * from './core.js';
export type { Cancellation } from './decide/cancel.js';
export { checkCount } from './decide/claim.js';
export { checkAging, checkStrategy } from './decide/configure.js';
export { checkBalance, type Assignment, type Balance, type PlanRequest } from './decide/plan.js';
export type { Feedback } from './decide/report.js';
export { mayGiveWay, type Takes, type Verdict } from './decide/yield.js';
export type { Belonging, DependencyInput, DependencyRef, Submission } from './decide/take-in.js';
export * from './dependencies.js';
export * from './explanation.js';
export type { KeyRecord } from './keys.js';
export { checkLimit, checkRateFor, parseTypeName, type LimitScope } from './limits.js';
export type { CoreLoad, LimitsLoad, RateLoad, ResourceLoad, TypeLoad, Utilisation } from './load.js';
export type { OpenChannelsRecord } from './open-channels.js';
export type { Aborted } from './outbox.js';
export type { PreemptionSettings } from './preemption.js';
export { parseSeries } from './recurrence.js';
export { checkPressure, type PressureRecord, type PressureSettings, type WhenFull } from './pressure.js';
export type { Origin } from './decide/make-room.js';
export { recurrenceRecord, specRecord, type RecurrenceRecord, type SpecRecord } from './records.js';
export { checkUnits, type FlowRecords, type ResourceSettings } from './resources.js';
export type { RestoreOptions } from './restore.js';
export type { RetentionSettings } from './retention.js';
export * from './series.js';
export { claimsByChannel, type Statistics, type TypeCount } from './statistics.js';
export type { FrozenSnapshot } from './frozen-snapshot.js';
export { settingsRecord } from './snapshot-head.js';
export { SnapshotPuzzle, type ListName, type SnapshotPart } from './snapshot-parts.js';
export {
  SNAPSHOT_VERSION,
  type AttemptRecord,
  type CoreSnapshot,
  type ExtraRecord,
  type SeriesRecord,
  type SettingsRecord,
  type TaskRecord,
} from './snapshot-format.js';
export type {
  Aging,
  Candidate,
  ChoiceContext,
  FlowRecord,
  PlaceFilter,
  PlaceTraits,
  Strategy,
  StrategyChoice,
  StrategyName,
  TurnsRecord,
  WeightOf,
  WeightedRandom,
} from '../ready/index.js';
export * from './state.js';
export { topologicalOrder } from './topological-order.js';
export type { WaitSummary } from './wait-statistics.js';
export type { Wake } from './wake.js';
export * from './worker.js';
