import type {
  Charged,
  ErrorRecord,
  Fact,
  FinalState,
  Moment,
  StrategyRecord,
  TaskExtra,
  TaskState,
  WorkerRecord,
} from '../model/index.js';
import type { TurnsRecord } from '../ready/index.js';
import type { KeyRecord } from './keys.js';
import type { OpenChannelsRecord } from './open-channels.js';
import type { PressureRecord } from './pressure.js';
import type { RecurrenceRecord, SpecRecord } from './records.js';
import type { FlowRecords, ResourceSettings } from './resources.js';

/** The version of the snapshots written by this code. */
export const SNAPSHOT_VERSION = 1;

/** An attempt as plain data. */
export interface AttemptRecord {
  readonly number: number;
  readonly epoch: number;
  readonly workerId: string;
  readonly started: Moment;
  readonly leaseMs: number | null;
  readonly leaseEndsAt: number | null;
  readonly charged?: Charged;
  /** What its use of resources was charged or corrected to, where that is not its need. */
  readonly costs?: readonly (readonly [resource: string, cost: number])[];
  /** By when it should have made way, if it was asked to. */
  readonly stopBy?: number;
  /** How often it has waited for another task, for how long, and since when it does, on whom; only if it ever has. `null` for nobody. */
  readonly waits?: {
    readonly resumptions: number;
    readonly waitedMs: number;
    readonly runningSince: number;
    readonly since: number | null;
    readonly on: number | null;
  };
}

/** What few tasks have, as plain data: only what differs from nothing. */
export type ExtraRecord = Partial<Omit<TaskExtra, 'error' | 'moved'>> & { readonly error?: ErrorRecord };

/** A task as plain data. */
export interface TaskRecord {
  readonly sequence: number;
  /** Its place among the snapshot's specs. */
  readonly spec: number;
  readonly payload?: unknown;
  readonly due: number;
  readonly state: TaskState;
  readonly urgency: number;
  readonly ready: number;
  readonly attempts: number;
  readonly attempt?: AttemptRecord;
  readonly extra?: ExtraRecord;
  /** The result of a completed task. */
  readonly value?: unknown;
}

/** A series as plain data. */
export interface SeriesRecord {
  readonly sequence: number;
  readonly firstTask: number;
  readonly id: string;
  readonly spec: number;
  readonly recurrence: RecurrenceRecord;
  readonly payload?: unknown;
  readonly nextAt: number | null;
  readonly lastAt: number;
  readonly made: number;
  readonly skipped: number;
  readonly active: number;
  readonly queued: readonly number[];
  readonly paused: boolean;
  /** Runs in the latest interval in which there were any. */
  readonly interval: { readonly from: number; readonly until: number | null; readonly runs: number } | null;
  readonly overran: boolean;
}

/** Settings as plain data; `null` is unlimited. */
export interface SettingsRecord {
  readonly strategy: StrategyRecord;
  readonly aging: {
    readonly everyMs: number | null;
    readonly maxBoost: number | null;
    readonly maxWaitMs: number | null;
  };
  readonly charge: 'turns' | 'time';
  readonly retain: { readonly count: number | null; readonly ageMs: number | null };
  readonly maxLosses: number | null;
  readonly maxCatchUp: number | null;
  readonly pressure: PressureRecord;
  readonly serviceMs: number | null;
  readonly maxBypasses: number | null;
  /** Absent in snapshots from before one could say so: they may. */
  readonly workersMayCome?: boolean;
  readonly sliceMs: number | null;
  readonly preemption: {
    readonly graceMs: number | null;
    readonly minRunMs: number | null;
    readonly maxPerTask: number | null;
  };
  readonly resources: ResourceSettings;
  readonly channels: OpenChannelsRecord;
}

/**
 * Everything that later decisions depend on, as plain data: what comes out of JSON restores the same core.
 *
 * Data cannot hold functions. Strategies of one's own are given back by name; `retryIf` and a custom backoff are
 * lost; a worker with a filter takes nothing until it is attached again. Payloads and results are kept as they are:
 * whether they survive JSON is their owner's business. Of what a failed task threw, only the record is kept.
 */
export interface CoreSnapshot {
  readonly version: number;
  /** The version of the facts it holds. */
  readonly factVersion: number;
  readonly origin: Moment;
  /** When something last happened. */
  readonly now: Moment;
  readonly epoch: number;
  readonly nextSequence: number;
  readonly nextSeries: number;
  /** Given so far; absent in snapshots from before they were counted. */
  readonly reservations?: number;
  /** The state of the seeded generator. */
  readonly random: readonly number[];
  readonly settings: SettingsRecord;
  /** Units held of each resource: fractions add up differently in another order. */
  readonly held: readonly (readonly [resource: string, units: number])[];
  /** What rates have let through; absent in snapshots from before there were any. */
  readonly flows?: FlowRecords;
  /** Paused channels, each with its ready tasks in the order in which they came. */
  readonly paused: readonly (readonly [channel: string, held: readonly number[]])[];
  readonly specs: readonly SpecRecord[];
  /** By sequence. */
  readonly tasks: readonly TaskRecord[];
  /** Tasks that are forgotten but for an abandoned attempt that still holds something. */
  readonly strays: readonly TaskRecord[];
  readonly abandoned: readonly (readonly [sequence: number, attempt: AttemptRecord])[];
  /** In an order in which linking them makes the same lists; the policy 3 is an edge that was passed. */
  readonly edges: readonly (readonly [dependency: number, task: number, policy: number])[];
  /** Finished tasks in the order in which they are forgotten; `null` for one that only its dependants keep. */
  readonly kept: readonly (readonly [sequence: number, endedAt: number | null])[];
  readonly tombstones: {
    readonly named: readonly (readonly [id: string, state: FinalState])[];
    readonly numbered: readonly (readonly [sequence: number, state: FinalState])[];
  };
  readonly series: readonly SeriesRecord[];
  readonly means: readonly (readonly [type: string, count: number, totalMs: number])[];
  /** `null` while nobody takes turns. */
  readonly turns: TurnsRecord | null;
  readonly workers: readonly WorkerRecord[];
  /** The workers that something was ever started for, the latest last: turns among them go on from there. */
  readonly served: readonly string[];
  readonly mostUrgent: number;
  /** What is kept for tasks that others make way for, in the order in which it was. */
  readonly rooms: readonly (readonly [sequence: number, worker: string | null, until: number | null])[];
  /** The keys in use; absent in snapshots from before there were any. */
  readonly keys?: readonly KeyRecord[];
  /** What has happened in refused commands and was not told yet. */
  readonly untold: readonly Fact[];
}
