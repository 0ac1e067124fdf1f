import { FACT_VERSION, compareNames, type Fact, type Moment } from '../model/index.js';
import type { Channel } from '../ready/index.js';
import { strategyRecord, workerRecord } from './records.js';
import { finite } from './resources.js';
import { SNAPSHOT_VERSION, type CoreSnapshot, type SettingsRecord } from './snapshot-format.js';
import type { State } from './state.js';
import { attemptRecord } from './task-record.js';

/** A snapshot whose lists are empty but for the short ones. */
export function headOf(state: State, now: Moment, untold: readonly Fact[]): CoreSnapshot {
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
    paused: pausedChannels(state).map(({ name }) => [name, []]),
    tasks: [],
    strays: [],
    abandoned: [...state.abandoned].map((attempt) => [attempt.task.sequence, attemptRecord(attempt)]),
    edges: [],
    kept: [],
    tombstones: { named: [], numbered: [] },
    series: [],
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
    keys: [],
    untold: [...untold],
    specs: [],
  };
}

/** The paused channels, by name. */
export function pausedChannels(state: State): Channel[] {
  const paused = [...state.places.allChannels()].filter((channel) => channel.paused);
  return paused.sort((x, y) => compareNames(x.name, y.name));
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
