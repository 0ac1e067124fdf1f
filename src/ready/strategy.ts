import type { CapabilityValue, Need, Task } from '../model/index.js';
import type { FaultReport } from './faults.js';
import type { Plan } from './plan.js';
import type { WeightOf } from './weighted-order.js';

/** The name of a built-in strategy. */
export type StrategyName = 'fifo' | 'lifo' | 'priority' | 'deadline' | 'fair' | 'weighted-random' | 'critical-path';

/** The names of the built-in strategies. */
export const STRATEGY_NAMES = [
  'fifo',
  'lifo',
  'priority',
  'deadline',
  'fair',
  'weighted-random',
  'critical-path',
] as const satisfies readonly StrategyName[];

/** What a strategy of one's own sees of a task. */
export interface Candidate {
  readonly id: string;
  readonly type: string;
  readonly channel: string;
  /** The effective level: lower is more urgent. */
  readonly level: number;
  /** Epoch milliseconds, `Infinity` when there is none. */
  readonly deadline: number;
  /** How long it was said to take, in milliseconds; `undefined` when nobody said so. */
  readonly estimateMs: number | undefined;
  readonly sequence: number;
  readonly attempts: number;
  readonly needs: readonly Need[];
  readonly capabilities: readonly (readonly [string, CapabilityValue])[];
}

/** What `choose` may use besides the candidates. */
export interface ChoiceContext {
  /** Monotonic milliseconds. */
  readonly now: number;
  /** A number in [0, 1) from the scheduler's seeded generator. */
  random(): number;
}

/**
 * A strategy of one's own: the task with the smallest rank goes first, ties are FIFO.
 *
 * `rank` must depend on the candidate alone; it is asked again only when level, deadline or attempts change. With `choose` the
 * ranks order each lane, and `choose` picks among the heads of all lanes, at a cost that grows with their number.
 *
 * @example
 * ```ts
 * const shortestFirst: Strategy = { name: 'shortest', rank: (task) => task.estimateMs ?? Infinity, describe: () => 'estimate → FIFO' };
 * ```
 */
export interface Strategy {
  readonly name: string;
  /** The smaller, the sooner; what is not a number goes last, and the event `error` tells of it. */
  rank(task: Candidate): number;
  /** One of the best of each lane; any other answer leaves the choice to the ranks, and the event `error` tells of it. */
  choose?(heads: readonly Candidate[], context: ChoiceContext): Candidate;
  /** What decides, in a few words such as `size → FIFO`. */
  describe(): string;
}

/** Weighted random with shares of one's own. */
export interface WeightedRandom {
  readonly name: 'weighted-random';
  /** The share of a task at this level: finite and above zero; beyond 1e-100 and 1e100 it counts as these. */
  readonly weight: WeightOf;
}

/** What may be given wherever a strategy is asked for. */
export type StrategyChoice = StrategyName | Strategy | WeightedRandom;

/** Level 1 is exactly ten times as likely as level 10. */
export const defaultWeight: WeightOf = (level) => 1 / Math.max(level, 0.5);

const none = (): number => 0;
/**
 * A deadline as a rank: the earlier goes first, and none at all is the plain rank 0, which keeps the many tasks
 * without one in runs of small numbers.
 */
const deadline = (task: Task): number => {
  if (task.extra === undefined || task.extra.deadline === Infinity) return 0;
  return task.extra.deadline - LATEST;
};
/** Later than any date there is; far enough from the limit of exact whole numbers. */
const LATEST = 2 ** 53 - 1;
const urgency = (task: Task): number => task.urgency;

/** What the plans ask of their surroundings. */
export interface PlanSources {
  /** The longest remaining path from this task on. */
  readonly pathOf: (task: Task) => number;
  /** How long a task without a deadline may wait, when aging says so. */
  readonly maxWaitMs: number;
  /** Wall minus monotonic time when the scheduler began: it makes waiting comparable with deadlines. */
  readonly wallOffset: number;
}

/** A task without a deadline counts as due when it has waited for as long as aging allows. */
function latestStart(task: Task, sources: PlanSources): number {
  if (task.deadline !== Infinity || sources.maxWaitMs === Infinity) return deadline(task);
  return task.ready + sources.maxWaitMs + sources.wallOffset - LATEST;
}

/** The plan of a built-in strategy that is made of lanes. */
export function planOf(name: Exclude<StrategyName, 'weighted-random'>, sources: PlanSources): Plan {
  switch (name) {
    case 'fifo':
      return { name, grouping: 'none', alike: 'all', first: none, second: none, describe: () => 'FIFO' };
    case 'lifo':
      return {
        name,
        grouping: 'none',
        alike: 'none',
        first: (task) => -task.due,
        second: (task) => -task.sequence,
        describe: () => 'LIFO',
      };
    case 'priority':
      return {
        name,
        grouping: 'aged',
        alike: 'all',
        first: deadline,
        second: none,
        describe: () => 'priority → deadline → FIFO',
      };
    case 'deadline':
      return {
        name,
        grouping: 'none',
        alike: sources.maxWaitMs === Infinity ? 'level' : 'none',
        first: (task) => latestStart(task, sources),
        second: urgency,
        describe: () => 'deadline → priority → FIFO',
      };
    case 'fair':
      return {
        name,
        grouping: 'level',
        alike: 'all',
        first: deadline,
        second: none,
        describe: () => 'priority → channel → FIFO',
      };
    case 'critical-path':
      return {
        name,
        grouping: 'aged',
        alike: 'all',
        first: (task) => -sources.pathOf(task),
        second: deadline,
        describe: () => 'priority → critical path → deadline → FIFO',
      };
  }
}

/** A rank, and what it was asked about: whatever of a candidate may change. */
interface Ranked {
  readonly level: number;
  readonly deadline: number;
  readonly attempts: number;
  readonly rank: number;
}

/** The plan of a strategy of one's own. Its ranks are remembered: a `rank` that changes its mind must not lose a task. */
export function customPlan(strategy: Strategy, report?: FaultReport): Plan {
  const ranks = new WeakMap<Task, Ranked>();
  return {
    name: strategy.name,
    grouping: 'none',
    alike: 'none',
    first: (task) => {
      const { urgency: level, deadline, attempts } = task;
      const known = ranks.get(task);
      if (known?.level === level && known.deadline === deadline && known.attempts === attempts) return known.rank;
      const rank = rankBy(strategy, task, report);
      ranks.set(task, { level, deadline, attempts, rank });
      return rank;
    },
    second: none,
    describe: () => strategy.describe(),
  };
}

/** The order must stay total, and a task that is halfway in must get in: what has no rank goes last. */
function rankBy(strategy: Strategy, task: Task, report: FaultReport | undefined): number {
  const decision = { by: 'rank', strategy: strategy.name, taskId: task.id, taskType: task.spec.type } as const;
  try {
    const rank: unknown = strategy.rank(candidateOf(task));
    if (typeof rank === 'number' && !Number.isNaN(rank)) return rank;
    report?.(decision, { gave: rank });
  } catch (error) {
    report?.(decision, { threw: error });
  }
  return Infinity;
}

/** Weights beyond these count as these: the sum of all must neither overflow nor vanish. */
const LIGHTEST = 1e-100;
const HEAVIEST = 1e100;

/** A weight function of the user's own; where it gives nothing usable, the level weighs what it does by default. */
export function usableWeight({ name: strategy, weight: weightOf }: WeightedRandom, report?: FaultReport): WeightOf {
  return (level) => {
    try {
      const weight: unknown = weightOf(level);
      if (isWeight(weight)) return Math.min(HEAVIEST, Math.max(LIGHTEST, weight));
      report?.({ by: 'weight', strategy, level }, { gave: weight });
    } catch (error) {
      report?.({ by: 'weight', strategy, level }, { threw: error });
    }
    return defaultWeight(level);
  };
}

/** Whether chance decides, with weights of the user's own. */
export function isWeighted(choice: StrategyChoice): choice is WeightedRandom {
  return typeof choice === 'object' && choice.name === 'weighted-random';
}

/** Whether this can be a share in a random choice. */
export function isWeight(weight: unknown): weight is number {
  return typeof weight === 'number' && weight > 0 && weight < Infinity;
}

/** What a strategy of one's own is shown of a task. */
export function candidateOf(task: Task): Candidate {
  const { spec } = task;
  return {
    id: task.id,
    type: spec.type,
    channel: spec.channel,
    level: task.urgency,
    deadline: task.deadline,
    estimateMs: spec.estimateMs,
    sequence: task.sequence,
    attempts: task.attempts,
    needs: spec.needs,
    capabilities: spec.capabilities,
  };
}
