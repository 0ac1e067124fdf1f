import {
  FACT_VERSION,
  compareNames,
  type Attempt,
  type Charged,
  type ErrorRecord,
  type Fact,
  type FinalState,
  type Moment,
  type StrategyRecord,
  type Task,
  type TaskExtra,
  type TaskSpec,
  type TaskState,
  type WorkerRecord,
} from '../model/index.js';
import type { TurnsRecord } from '../ready/index.js';
import type { OpenChannelsRecord } from './open-channels.js';
import type { PressureRecord } from './pressure.js';
import {
  recurrenceRecord,
  specRecord,
  strategyRecord,
  workerRecord,
  type RecurrenceRecord,
  type SpecRecord,
} from './records.js';
import { finite, type ResourceSettings } from './resources.js';
import type { Series } from './series.js';
import type { State } from './state.js';

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
  /** The state of the seeded generator. */
  readonly random: readonly number[];
  readonly settings: SettingsRecord;
  /** Units held of each resource: fractions add up differently in another order. */
  readonly held: readonly (readonly [resource: string, units: number])[];
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
  /** The worker that something was last started for. */
  readonly lastServed: string | null;
  readonly mostUrgent: number;
  /** What has happened in refused commands and was not told yet. */
  readonly untold: readonly Fact[];
}

/** The state as plain data. */
export function snapshotOf(state: State, now: Moment, untold: readonly Fact[]): CoreSnapshot {
  const specs = new SpecTable();
  const tasks = [...state.table.all()];
  const known = new Set(tasks);
  const strays = new Set([...state.abandoned].map(({ task }) => task).filter((task) => !known.has(task)));
  return {
    version: SNAPSHOT_VERSION,
    factVersion: FACT_VERSION,
    origin: state.origin,
    now,
    epoch: state.epoch,
    nextSequence: state.table.next,
    nextSeries: state.nextSeries,
    random: state.random.state(),
    settings: settingsRecord(state),
    held: [...state.resources.pools.values()].flatMap((pool) => (pool.held === 0 ? [] : [[pool.name, pool.held]])),
    paused: pausedRecord(state),
    tasks: tasks.map((task) => taskRecord(task, specs)),
    strays: [...strays].map((task) => taskRecord(task, specs)),
    abandoned: [...state.abandoned].map((attempt) => [attempt.task.sequence, attemptRecord(attempt)]),
    edges: state.dependencies
      .save()
      .flatMap(([dependency, task, policy]) =>
        known.has(dependency) ? [[dependency.sequence, task.sequence, policy]] : [],
      ),
    kept: [...state.retention.kept()].map(([task, at]) => [task.sequence, at === -Infinity ? null : at]),
    tombstones: state.table.save(),
    series: [...state.series.values()].map((series) => seriesRecord(series, specs)),
    means: [...state.means].map(([type, { count, totalMs }]) => [type, count, totalMs]),
    turns: state.index.countsTurns ? state.index.turns.save() : null,
    workers: [...state.workers.values()].map((worker) => workerRecord(worker.spec)),
    lastServed: state.lastServed ?? null,
    mostUrgent: state.starvation.mostUrgent,
    untold: [...untold],
    specs: specs.records,
  };
}

/** Specs by content: thousands of tasks may share one, also when each has come with a copy of its own. */
class SpecTable {
  readonly records: SpecRecord[] = [];
  private readonly bySpec = new Map<TaskSpec, number>();
  private readonly byContent = new Map<string, number>();

  indexOf(spec: TaskSpec): number {
    let index = this.bySpec.get(spec);
    if (index !== undefined) return index;
    const record = specRecord(spec);
    const content = JSON.stringify(record);
    index = this.byContent.get(content) ?? this.records.push(record) - 1;
    this.byContent.set(content, index);
    this.bySpec.set(spec, index);
    return index;
  }
}

function pausedRecord(state: State): CoreSnapshot['paused'] {
  const paused = [...state.places.allChannels()].filter((channel) => channel.paused);
  paused.sort((x, y) => compareNames(x.name, y.name));
  return paused.map((channel) => [channel.name, [...channel.held].map((task) => task.sequence)]);
}

function settingsRecord(state: State): SettingsRecord {
  const { everyMs, maxBoost, maxWaitMs } = state.index.aging;
  const { count, ageMs } = state.retention.settings;
  return {
    strategy: strategyRecord(state.index.main.choice),
    aging: { everyMs: finite(everyMs), maxBoost: finite(maxBoost), maxWaitMs: finite(maxWaitMs) },
    charge: state.charge,
    retain: { count: finite(count), ageMs: finite(ageMs) },
    maxLosses: finite(state.options.maxLosses),
    maxCatchUp: finite(state.options.maxCatchUp),
    pressure: state.pressure.save(),
    serviceMs: finite(state.options.serviceMs),
    resources: state.resources.save(),
    channels: state.openChannels.save(),
  };
}

function taskRecord(task: Task, specs: SpecTable): TaskRecord {
  const extra = task.extra === undefined ? {} : extraRecord(task.extra);
  return {
    sequence: task.sequence,
    spec: specs.indexOf(task.spec),
    ...(task.payload === undefined ? {} : { payload: task.payload }),
    due: task.due,
    state: task.state,
    urgency: task.urgency,
    ready: task.ready,
    attempts: task.attempts,
    ...(task.attempt === undefined ? {} : { attempt: attemptRecord(task.attempt) }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...(task.state === 'completed' && task.value !== undefined ? { value: task.value } : {}),
  };
}

/** What a task without anything extra has. */
const NOTHING_EXTRA: ReadonlyMap<string, unknown> = new Map<keyof TaskExtra, unknown>([
  ['deadline', Infinity],
  ['eta', -Infinity],
  ['backoffUntil', -Infinity],
  ['failures', 0],
  ['losses', 0],
  ['estimateMs', 1],
  ['scheduledAt', 0],
  ['deadlineMissed', false],
  ['startsBy', -Infinity],
  ['starved', false],
]);

function extraRecord({ moved: _, ...extra }: TaskExtra): ExtraRecord {
  // Orders are made anew after a restart, so no task has moved there.
  const told = Object.entries(extra).filter(([field, value]) => value !== NOTHING_EXTRA.get(field));
  return Object.fromEntries(told);
}

function attemptRecord(attempt: Attempt): AttemptRecord {
  const { number, epoch, workerId, charged } = attempt;
  const started = { wall: attempt.started.wall, mono: attempt.started.mono };
  const lease = { leaseMs: finite(attempt.leaseMs), leaseEndsAt: finite(attempt.leaseEndsAt) };
  return { number, epoch, workerId, started, ...lease, ...(charged === undefined ? {} : { charged }) };
}

function seriesRecord(series: Series, specs: SpecTable): SeriesRecord {
  const { sequence, firstTask, id, payload, nextAt, lastAt, made, skipped, active, queued, paused } = series;
  const { interval, overran } = series;
  return {
    sequence,
    firstTask,
    id,
    spec: specs.indexOf(series.spec),
    recurrence: recurrenceRecord(series.recurrence),
    ...(payload === undefined ? {} : { payload }),
    nextAt: nextAt ?? null,
    lastAt,
    made,
    skipped,
    active,
    queued: [...queued],
    paused,
    interval: interval === undefined ? null : { ...interval, until: finite(interval.until) },
    overran,
  };
}
