import {
  FACT_VERSION,
  compareNames,
  type Attempt,
  type Fact,
  type Moment,
  type Task,
  type TaskExtra,
  type TaskSpec,
} from '../model/index.js';
import { recurrenceRecord, specRecord, strategyRecord, workerRecord, type SpecRecord } from './records.js';
import { finite } from './resources.js';
import type { Series } from './series.js';
import type { State } from './state.js';
import {
  SNAPSHOT_VERSION,
  type AttemptRecord,
  type CoreSnapshot,
  type ExtraRecord,
  type SeriesRecord,
  type SettingsRecord,
  type TaskRecord,
} from './snapshot-format.js';

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
    reservations: state.reservations,
    random: state.random.state(),
    settings: settingsRecord(state),
    held: [...state.resources.pools.values()].flatMap((pool) => (pool.held === 0 ? [] : [[pool.name, pool.held]])),
    flows: state.resources.saveFlows(),
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
    served: [...state.workers.values()]
      .filter(({ lastStart }) => lastStart > 0)
      .sort((x, y) => x.lastStart - y.lastStart)
      .map(({ id }) => id),
    mostUrgent: state.starvation.mostUrgent,
    rooms: [...state.preemption.rooms.all()].map(([task, { workerId, until }]) => {
      return [task.sequence, workerId ?? null, finite(until)];
    }),
    keys: state.keys.save(now.wall),
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

/** How everything is set. */
export function settingsRecord(state: State): SettingsRecord {
  const { everyMs, maxBoost, maxWaitMs } = state.index.aging;
  const { count, ageMs } = state.retention.settings;
  const { graceMs, minRunMs, maxPerTask } = state.preemption.settings;
  return {
    strategy: strategyRecord(state.index.main.choice),
    aging: { everyMs: finite(everyMs), maxBoost: finite(maxBoost), maxWaitMs: finite(maxWaitMs) },
    charge: state.charge,
    retain: { count: finite(count), ageMs: finite(ageMs) },
    maxLosses: finite(state.options.maxLosses),
    maxCatchUp: finite(state.options.maxCatchUp),
    pressure: state.pressure.save(),
    serviceMs: finite(state.options.serviceMs),
    maxBypasses: finite(state.options.maxBypasses),
    workersMayCome: state.options.workersMayCome,
    sliceMs: finite(state.options.sliceMs),
    preemption: { graceMs: finite(graceMs), minRunMs: finite(minRunMs), maxPerTask: finite(maxPerTask) },
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
  ['reservationsSeen', 0],
  ['starved', false],
  ['preemptions', 0],
  ['bypasses', 0],
  ['turnPaid', false],
]);

function extraRecord({ moved: _, ...extra }: TaskExtra): ExtraRecord {
  // Orders are made anew after a restart, so no task has moved there.
  const told = Object.entries(extra).filter(([field, value]) => value !== NOTHING_EXTRA.get(field));
  return Object.fromEntries(told);
}

function attemptRecord(attempt: Attempt): AttemptRecord {
  const { number, epoch, workerId, charged, costs, stopBy } = attempt;
  const started = { wall: attempt.started.wall, mono: attempt.started.mono };
  const lease = { leaseMs: finite(attempt.leaseMs), leaseEndsAt: finite(attempt.leaseEndsAt) };
  return {
    ...{ number, epoch, workerId, started, ...lease },
    ...(charged === undefined ? {} : { charged }),
    ...(costs === undefined ? {} : { costs: [...costs] }),
    ...(stopBy === undefined ? {} : { stopBy }),
    ...waitsRecord(attempt),
  };
}

function waitsRecord({ wait, abandoned, resumptions, waitedMs, runningSince }: Attempt): Pick<AttemptRecord, 'waits'> {
  if (wait === undefined && resumptions === 0) return {};
  const on = wait === undefined || abandoned ? null : (wait.on?.sequence ?? null);
  return { waits: { resumptions, waitedMs, runningSince, since: wait?.since ?? null, on } };
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
