import {
  Attempt,
  FACT_VERSION,
  SeededRandom,
  Task,
  UnsupportedVersionError,
  extraOf,
  invariant,
  isFinal,
  keptNeeds,
  yieldedNeeds,
  type TaskSpec,
} from '../model/index.js';
import type { Strategy, WeightedRandom } from '../ready/index.js';
import type { CoreOptions } from './core-options.js';
import { attach } from './decide/configure.js';
import { roomKept } from './making-way.js';
import { pressureOf } from './pressure.js';
import { recurrenceOf, specOf, strategyOf, workerOf } from './records.js';
import { addTick } from './moments.js';
import { Series } from './series.js';
import {
  SNAPSHOT_VERSION,
  type AttemptRecord,
  type CoreSnapshot,
  type SeriesRecord,
  type TaskRecord,
} from './snapshot-format.js';
import type { State } from './state.js';
import { awaitTimeout } from './suspension.js';
import type { Worker } from './worker.js';

/** What a snapshot cannot hold. */
export interface RestoreOptions {
  /** The user's own strategies, by whose names the snapshot refers to them. */
  readonly strategies?: readonly (Strategy | WeightedRandom)[];
}

/** The options of the core that a snapshot was taken of; a snapshot of a newer version is refused. */
export function optionsIn(snapshot: CoreSnapshot, { strategies = [] }: RestoreOptions): CoreOptions {
  const { version, factVersion, origin, settings } = snapshot;
  if (!(version <= SNAPSHOT_VERSION)) {
    throw new UnsupportedVersionError({ source: 'snapshot', version, supported: SNAPSHOT_VERSION });
  }
  if (!(factVersion <= FACT_VERSION)) {
    throw new UnsupportedVersionError({
      source: 'list of facts in the snapshot',
      version: factVersion,
      supported: FACT_VERSION,
    });
  }
  const { aging, retain, preemption } = settings;
  return {
    origin,
    // The generator is put where it was; what it was seeded with plays no part any more.
    seed: 0,
    strategy: strategyOf(settings.strategy, strategies),
    strategies,
    aging: {
      everyMs: aging.everyMs ?? Infinity,
      maxBoost: aging.maxBoost ?? Infinity,
      maxWaitMs: aging.maxWaitMs ?? Infinity,
    },
    charge: settings.charge,
    retain: { count: retain.count ?? Infinity, ageMs: retain.ageMs ?? Infinity },
    maxLosses: settings.maxLosses ?? Infinity,
    maxCatchUp: settings.maxCatchUp ?? Infinity,
    pressure: pressureOf(settings.pressure),
    serviceMs: settings.serviceMs ?? Infinity,
    maxBypasses: settings.maxBypasses ?? Infinity,
    workersMayCome: settings.workersMayCome ?? true,
    sliceMs: settings.sliceMs ?? Infinity,
    preemption: {
      graceMs: preemption.graceMs ?? Infinity,
      minRunMs: preemption.minRunMs ?? Infinity,
      maxPerTask: preemption.maxPerTask ?? Infinity,
    },
  };
}

/** Fills a new state, made with {@link optionsIn}, so that nothing that follows differs. */
export function restore(state: State, snapshot: CoreSnapshot): void {
  const specs = snapshot.specs.map((record) => specOf(record));
  state.setTime(snapshot.now);
  state.epoch = snapshot.epoch;
  state.nextSeries = snapshot.nextSeries;
  state.random = SeededRandom.restore(snapshot.random);
  state.resources.load(snapshot.settings.resources);
  state.openChannels.load(snapshot.settings.channels);
  for (const [type, count, totalMs] of snapshot.means) state.means.set(type, { count, totalMs });
  // What is due about an occurrence asks its series whether the process stays for it.
  for (const record of snapshot.series) restoreSeries(state, record, specs);
  restoreTasks(state, snapshot, specs);
  for (const [resource, units] of snapshot.held) state.resources.loadHeld(resource, units);
  if (snapshot.flows !== undefined) state.resources.loadFlows(snapshot.flows);
  // Orders are made while they are still empty, so that nobody joins them anew.
  for (const record of snapshot.workers) attach(state, workerOf(record, state.options.strategies));
  for (const id of snapshot.served) (state.workers.get(id) as Worker).lastStart = state.starts += 1;
  state.index.prepare(state.mono);
  restoreReady(state, snapshot);
  restoreEdges(state, snapshot);
  for (const [sequence, endedAt] of snapshot.kept) {
    state.retention.restore(known(state, sequence), endedAt ?? -Infinity);
  }
  restoreRooms(state, snapshot);
  state.reservations = snapshot.reservations ?? 0;
  state.keys.load(snapshot.keys ?? [], (sequence) => known(state, sequence));
  state.starvation.mostUrgent = snapshot.mostUrgent;
  state.starvation.watchAll();
  state.pressure.set(state.options.pressure, state.table.all());
  state.pressure.saturated = snapshot.settings.pressure.saturated;
}

function restoreTasks(state: State, snapshot: CoreSnapshot, specs: readonly TaskSpec[]): void {
  const strays = new Map<number, Task>();
  for (const record of snapshot.tasks) {
    const task = taskOf(record, specs);
    state.table.add(task);
    if (!isFinal(task.state)) {
      state.pending += 1;
      task.place = state.places.enter(task.spec).index;
      awaitMoments(state, task);
      if (task.extra?.parent !== undefined) state.family.join(task, task.extra.parent);
    }
  }
  for (const { sequence, attempt: record } of snapshot.tasks) {
    if (record === undefined) continue;
    const task = known(state, sequence);
    task.attempt = hold(state, attemptOf(task, record), record);
  }
  for (const record of snapshot.strays) strays.set(record.sequence, taskOf(record, specs));
  for (const [sequence, record] of snapshot.abandoned) {
    const attempt = attemptOf(strays.get(sequence) ?? known(state, sequence), record);
    attempt.abandoned = true;
    state.abandoned.add(hold(state, attempt, record));
  }
  state.table.next = snapshot.nextSequence;
  state.table.load(snapshot.tombstones);
}

function taskOf(record: TaskRecord, specs: readonly TaskSpec[]): Task {
  const task = new Task(record.sequence, specs[record.spec] as TaskSpec, record.payload, record.due);
  task.state = record.state;
  task.urgency = record.urgency;
  task.ready = record.ready;
  task.attempts = record.attempts;
  task.value = record.value;
  if (record.extra !== undefined) Object.assign(extraOf(task), { deadline: Infinity }, record.extra);
  return task;
}

function attemptOf(task: Task, record: AttemptRecord): Attempt {
  const { number, epoch, workerId, started, charged } = record;
  const attempt = new Attempt(task, number, epoch, workerId, started, record.leaseMs ?? Infinity);
  attempt.leaseEndsAt = record.leaseEndsAt ?? Infinity;
  attempt.charged = charged;
  attempt.stopBy = record.stopBy;
  attempt.resumptions = record.waits?.resumptions ?? 0;
  attempt.waitedMs = record.waits?.waitedMs ?? 0;
  attempt.runningSince = record.waits?.runningSince ?? started.mono;
  if (record.costs !== undefined) attempt.costs = new Map(record.costs);
  return attempt;
}

/** The wait that the attempt was in; of one that was broken off nobody asks any more what it was for. */
function restoreWait(state: State, attempt: Attempt, { waits }: AttemptRecord): void {
  if (waits === undefined || waits.since === null) return;
  const { task, workerId } = attempt;
  const on = waits.on === null ? undefined : state.table.bySequence(waits.on);
  const place = attempt.abandoned ? undefined : state.places.enterReturn(task.spec, yieldedNeeds(task.spec), workerId);
  attempt.wait = { on, since: waits.since, place: place?.index ?? -1 };
  if (!attempt.abandoned) state.suspended.add(attempt);
}

/** Gives the attempt back what it holds, and its moments. */
function hold(state: State, attempt: Attempt, record: AttemptRecord): Attempt {
  const { task } = attempt;
  const { sequence, spec } = task;
  const place = state.places.enter(spec);
  task.place = place.index;
  restoreWait(state, attempt, record);
  if (attempt.wait === undefined) state.resources.hold(place, spec.needs);
  else state.resources.holdNeeds(keptNeeds(spec));
  if (attempt.wait === undefined || attempt.abandoned) state.running += 1;
  if (spec.timeoutMs !== Infinity) awaitTimeout(state, attempt);
  if (attempt.leaseMs !== Infinity) {
    state.monoLine.add(attempt.leaseEndsAt, 'lease', sequence, attempt, attempt.number);
  }
  return attempt;
}

function awaitMoments(state: State, task: Task): void {
  const { spec, sequence, extra } = task;
  if (spec.deadline !== Infinity) state.wallLine.add(spec.deadline, 'deadline', sequence, task);
  if (spec.expires !== Infinity) state.wallLine.add(spec.expires, 'expiry', sequence, task);
  if (task.state !== 'delayed' || extra === undefined) return;
  if (extra.backoffUntil !== -Infinity) state.monoLine.add(extra.backoffUntil, 'backoff', sequence, task);
  else state.wallLine.add(extra.eta, 'eta', sequence, task);
}

function restoreSeries(state: State, record: SeriesRecord, specs: readonly TaskSpec[]): void {
  const { sequence, firstTask, id, payload, nextAt, lastAt, made, skipped, active, queued, paused } = record;
  const spec = specs[record.spec] as TaskSpec;
  const series = new Series(sequence, firstTask, id, spec, recurrenceOf(record.recurrence), payload);
  Object.assign(series, { nextAt: nextAt ?? undefined, lastAt, made, skipped, active, queued: [...queued], paused });
  const { interval, overran } = record;
  if (interval !== null) series.interval = { ...interval, until: interval.until ?? Infinity };
  series.overran = overran;
  state.series.set(id, series);
  addTick(state.wallLine, series);
}

function restoreReady(state: State, snapshot: CoreSnapshot): void {
  if (snapshot.turns !== null) state.index.turns.load(snapshot.turns);
  const held = new Set(snapshot.paused.flatMap(([, sequences]) => sequences));
  for (const { sequence, state: was } of snapshot.tasks) {
    if (was === 'ready' && !held.has(sequence)) restoreInLine(state, known(state, sequence));
  }
  for (const [name, sequences] of snapshot.paused) {
    state.places.channel(name).paused = true;
    for (const sequence of sequences) restoreInLine(state, known(state, sequence));
  }
}

function restoreRooms(state: State, { rooms }: CoreSnapshot): void {
  for (const { attempt } of state.table.all()) {
    if (attempt?.task.spec.preemptible === true && attempt.wait === undefined) state.preemption.runs(attempt);
  }
  for (const [sequence, workerId, until] of rooms) {
    roomKept(state, known(state, sequence), workerId ?? undefined, until ?? Infinity);
  }
}

function restoreInLine(state: State, task: Task): void {
  state.index.restore(task);
  if (task.spec.needs.length > 0) state.lending.join(task);
}

function restoreEdges(state: State, snapshot: CoreSnapshot): void {
  for (const [from, to, policy] of snapshot.edges) {
    const dependency = known(state, from);
    state.dependencies.restore(dependency, known(state, to), policy);
    state.path.mark(dependency);
  }
  // Levels are as they were: this notes what is lent, and makes nobody more urgent.
  for (const { task } of state.suspended) state.lending.keep(task);
  state.lending.tell();
}

function known(state: State, sequence: number): Task {
  const task = state.table.bySequence(sequence);
  invariant(task !== undefined, `The snapshot names task ${String(sequence)} but does not hold it.`);
  return task;
}
