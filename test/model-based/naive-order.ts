import type { Naive, NaiveTask } from './naive.js';

export type NaiveStrategy = 'fifo' | 'lifo' | 'priority' | 'deadline' | 'fair' | 'weighted-random' | 'critical-path';

export interface NaiveAging {
  readonly everyMs: number;
  readonly maxBoost: number;
  readonly maxWaitMs: number;
}

type Tuple = readonly (number | string)[];

/** The smallest tuple goes first, compared from left to right. */
function compare(x: Tuple, y: Tuple): number {
  for (const [at, part] of x.entries()) {
    const other = y[at] as number | string;
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

function smallest(tasks: readonly NaiveTask[], tupleOf: (task: NaiveTask) => Tuple): NaiveTask {
  return tasks.toSorted((x, y) => compare(tupleOf(x), tupleOf(y)))[0] as NaiveTask;
}

/** The number of the aging window that a moment falls into. */
function windowOf(aging: NaiveAging, mono: number): number {
  return aging.everyMs === Infinity ? 0 : Math.floor(mono / aging.everyMs);
}

/** A level after its boost for having waited since then. */
function boosted(model: Naive, level: number, since: number): number {
  const windows = windowOf(model.aging, model.mono) - windowOf(model.aging, since);
  return level - Math.min(model.aging.maxBoost, windows);
}

/** The next of these eligible tasks by the strategy; with weighted random, all that the draw allows. */
export function pick(
  model: Naive,
  strategy: NaiveStrategy,
  eligible: readonly NaiveTask[],
  draw: () => number,
  shapeKey: (task: NaiveTask) => string,
): NaiveTask[] {
  const overdue = eligible.filter((task) => model.mono - model.readyFrom(task) >= model.aging.maxWaitMs);
  if (overdue.length === 0) return ranked(model, strategy, eligible, draw, shapeKey);
  return [smallest(overdue, (task) => [model.readyFrom(task), task.due, task.sequence])];
}

/** The same where nobody has waited for too long. */
export function ranked(
  model: Naive,
  strategy: NaiveStrategy,
  eligible: readonly NaiveTask[],
  draw: () => number,
  shapeKey: (task: NaiveTask) => string,
): NaiveTask[] {
  const fifo = (task: NaiveTask): Tuple => [task.due, task.sequence];
  const levels = model.effectiveLevels();
  const deadlines = model.inherited((task) => task.spec.deadline);
  const level = (task: NaiveTask): number => levels.get(task) as number;
  const deadline = (task: NaiveTask): number => deadlines.get(task) as number;
  const effective = (task: NaiveTask): number => boosted(model, level(task), model.readyFrom(task));
  const latest = (task: NaiveTask): number =>
    deadline(task) < Infinity ? deadline(task) : model.readyFrom(task) + model.aging.maxWaitMs + model.origin;

  switch (strategy) {
    case 'fifo':
      return [smallest(eligible, fifo)];
    case 'lifo':
      return [smallest(eligible, (task) => [-task.due, -task.sequence])];
    case 'priority':
      return [smallest(eligible, (task) => [effective(task), deadline(task), ...fifo(task)])];
    case 'critical-path':
      return [smallest(eligible, (task) => [effective(task), -model.path(task), deadline(task), ...fifo(task)])];
    case 'deadline':
      return [smallest(eligible, (task) => [latest(task), level(task), ...fifo(task)])];
    case 'fair':
      return [
        smallest(eligible, (task) => [
          boosted(model, level(task), model.turns.agesFrom(level(task))),
          level(task),
          model.turns.pass(level(task), task.spec.channel),
          task.spec.channel,
          deadline(task),
          ...fifo(task),
        ]),
      ];
    case 'weighted-random': {
      // Tasks of one shape need amounts of the same resources, so that their tuples are of one length.
      const tuple = (task: NaiveTask): Tuple => [
        ...[
          returnKey(model, task) ?? shapeKey(task),
          task.spec.channel,
          // What needs nothing is cumulated by level.
          ...(model.asksFor(task).length === 0 ? [level(task)] : model.asksFor(task).map(({ amount }) => amount)),
          task.sequence,
        ],
      ];
      const order = eligible.toSorted((x, y) => compare(tuple(x), tuple(y)));
      return drawn(order, (task) => 1 / Math.max(level(task), 0.5), draw());
    }
  }
}

/** The tasks whose stretch of the summed weights holds the draw, give or take what rounding may do at its ends. */
function drawn(tasks: readonly NaiveTask[], weightOf: (task: NaiveTask) => number, draw: number): NaiveTask[] {
  const total = tasks.reduce((sum, task) => sum + weightOf(task), 0);
  const slack = total * 1e-9;
  let from = 0;
  return tasks.filter((task) => {
    const to = from + weightOf(task);
    const holds = draw * total >= from - slack && draw * total <= to + slack;
    from = to;
    return holds;
  });
}

/** An attempt that waits to go on is drawn among those of its type and worker that need the same. */
function returnKey(model: Naive, task: NaiveTask): string | undefined {
  const attempt = model.waiting(task);
  const names = model.asksFor(task).map(({ resource }) => resource);
  return attempt === undefined ? undefined : `\0${JSON.stringify([task.spec.type, names, [], attempt.worker])}`;
}
