import { expect } from 'vitest';
import type { Real } from './commands.js';
import type { Naive, NaiveTask } from './naive.js';
import { isOver } from './naive-task.js';

/** All that both can be asked about must be the same. */
export function agree(model: Naive, real: Real): void {
  expect(coreView(real, model)).toEqual(modelView(model));
  real.core.check();
  const wake = real.core.nextWakeAt();
  const due = model.wake();
  // The core may wake for nothing, such as for a lease that was extended, but never too late.
  expect(wake.wall).toBeLessThanOrEqual(due.wall);
  expect(wake.mono).toBeLessThanOrEqual(due.mono);
  if (!real.peeks) return;
  expect(turnsOf(real)).toEqual(expectedTurns(model));
  peek(model, real);
}

interface TaskView {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  /** Effective level and deadline, ready time, budgets: of unfinished tasks only. */
  readonly now?: readonly (number | undefined)[];
}

function modelView(model: Naive) {
  const levels = model.effectiveLevels();
  const deadlines = model.inherited((task) => task.spec.deadline);
  const viewOf = (task: NaiveTask): TaskView => {
    const { id, state, attempts } = task;
    if (isOver(task)) return { id, state, attempts };
    const from = task.readySince === undefined ? task.gatheredMs : model.readyFrom(task);
    return { id, state, attempts, now: [levels.get(task), deadlines.get(task), from, task.failures, task.losses] };
  };
  return {
    tasks: [...model.tasks.values()].sort((x, y) => x.sequence - y.sequence).map(viewOf),
    gone: [...model.tombstones],
    held: [...model.capacities.keys()].map((name) => [name, model.held(name)]),
    channels: ['a', 'b', 'c', 'B'].map((name) => model.countHolding(({ task }) => task.spec.channel === name)),
    workers: [...model.workers.keys()].map((id) => [id, model.countHolding(({ worker }) => worker === id)]),
    running: model.holding().filter(({ life, waitsSince }) => life === 'abandoned' || waitsSince === undefined).length,
    suspended: model.holding().filter(({ life, waitsSince }) => life === 'counts' && waitsSince !== undefined).length,
    abandoned: model.holding().filter(({ life }) => life === 'abandoned').length,
    pending: model.unfinished().length,
    rooms: [...model.preemption.rooms].map(([task, { worker, until }]) => [task.id, worker, until]).sort(),
    asked: model
      .holding()
      .filter(({ life, stopBy }) => life === 'counts' && stopBy !== undefined)
      .map(({ task, stopBy }) => [task.id, stopBy])
      .sort(),
    ready: model.unfinished().filter(({ state }) => state === 'ready').length,
  };
}

function coreView({ core: { state } }: Real, model: Naive): ReturnType<typeof modelView> {
  return {
    tasks: [...state.table.all()].map((task): TaskView => {
      const { id, attempts } = task;
      if (isOver({ state: task.state } as NaiveTask)) return { id, state: task.state, attempts };
      const budgets = [task.extra?.failures ?? 0, task.extra?.losses ?? 0];
      return { id, state: task.state, attempts, now: [task.urgency, task.deadline, task.ready, ...budgets] };
    }),
    gone: [...model.tombstones.keys()].map((id) => [id, state.table.tombstone(id) ?? 'waiting']),
    held: [...model.capacities.keys()].map((name) => [name, state.resources.pools.get(name)?.held ?? -1]),
    channels: ['a', 'b', 'c', 'B'].map((name) => state.places.channel(name).limit.held),
    workers: [...state.workers].map(([id, worker]) => [id, worker.running]),
    running: state.running,
    suspended: state.suspended.size,
    abandoned: state.abandoned.size,
    pending: state.pending,
    rooms: [...state.preemption.rooms.all()]
      .map(([task, { workerId, until }]) => [task.id, workerId ?? 'reserved', until])
      .sort(),
    asked: [...state.table.all()]
      .flatMap(({ id, attempt }) => (attempt?.stopBy === undefined ? [] : [[id, attempt.stopBy]]))
      .sort(),
    ready: state.index.size,
  };
}

type LevelView = readonly [level: number, agesFrom: number, passes: readonly (readonly [string, number])[]];

/** For every level with work waiting: since when it ages, and where each waiting channel stands. */
function expectedTurns(model: Naive): LevelView[] {
  if (!model.turns.counted) return [];
  const waiting = model.unfinished().filter((task) => task.readySince !== undefined);
  const levels = [...new Set(waiting.map((task) => model.levelOf(task)))].sort((x, y) => x - y);
  return levels.map((level) => {
    const channels = [...new Set(model.turns.waiting(level).map((task) => task.spec.channel))].sort();
    return [level, model.turns.agesFrom(level), channels.map((name) => [name, model.turns.pass(level, name)] as const)];
  });
}

function turnsOf({ core: { state } }: Real): LevelView[] {
  // The order is built when it is first needed, which does not change what it is.
  state.index.prepare(state.mono);
  if (!state.index.countsTurns) return [];
  const levels = [...state.index.turns.all()].filter(({ waiting }) => waiting > 0).sort((x, y) => x.level - y.level);
  return levels.map((turns) => {
    const channels = [...turns.channels.values()].filter(({ waiting }) => waiting > 0);
    const names = channels.map((turn) => [turn.channel, turn.passAt(turns.virtualTime)] as const);
    return [turns.level, turns.agesFrom, names.sort(([x], [y]) => (x < y ? -1 : 1))];
  });
}

/** Whom every worker would get next; draws are left out, as looking would use one up. */
function peek(model: Naive, { core: { state }, shapeKey }: Real): void {
  state.index.prepare(state.mono);
  state.path.refresh();
  for (const worker of model.workers.values()) {
    const strategy = worker.strategy ?? model.strategy;
    // Whoever has room goes before what the index would say.
    if (model.preemption.rooms.size > 0) continue;
    if (strategy === 'weighted-random' || model.countHolding((each) => each.worker === worker.id) >= worker.slots)
      continue;
    const known = state.workers.get(worker.id);
    if (known === undefined) continue;
    const found = state.index.best(known.view ?? state.index.main, state.mono, known.matches);
    const expected = model.next(worker, () => 0, shapeKey).map(({ id }) => id);
    expect({ strategy, next: found === undefined ? [] : [found.id] }).toEqual({ strategy, next: expected });
  }
}
