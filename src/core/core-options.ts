import type { Moment } from '../model/index.js';
import type { Aging, Strategy, StrategyChoice, WeightedRandom } from '../ready/index.js';
import type { PreemptionSettings } from './preemption.js';
import { NO_BOUND, type PressureSettings } from './pressure.js';
import type { RetentionSettings } from './retention.js';

/** What a core starts with. */
export interface CoreOptions {
  readonly origin: Moment;
  readonly seed: number | string;
  readonly strategy: StrategyChoice;
  /** The user's own strategies, each with a name of its own, by which snapshots and facts refer to them. */
  readonly strategies: readonly (Strategy | WeightedRandom)[];
  readonly aging: Aging;
  readonly charge: 'turns' | 'time';
  readonly retain: RetentionSettings;
  /** How many attempts a task may lose with their workers before it fails. */
  readonly maxLosses: number;
  /** Whether workers may still be attached; if not, what none of those here offers is refused. */
  readonly workersMayCome: boolean;
  /** How many missed occurrences of a series are made up for at the most, and how many of its ticks wait at a time. */
  readonly maxCatchUp: number;
  /** How many tasks may be pending, and what happens to those for which there is no room. */
  readonly pressure: PressureSettings;
  /** How long an attempt takes at the most, for the bound on waiting; `Infinity`: nobody watches for starvation. */
  readonly serviceMs: number;
  /** How long an attempt runs before it gives way at its next yield, if somebody as urgent waits. */
  readonly sliceMs: number;
  /** How many tasks may start that take what a task lacks before that is kept for it. */
  readonly maxBypasses: number;
  /** How tasks that allow it are stopped for more urgent ones. */
  readonly preemption: PreemptionSettings;
}

/** The defaults of a core. */
export const CORE_DEFAULTS: Omit<CoreOptions, 'origin'> = {
  seed: 1,
  strategy: 'priority',
  strategies: [],
  aging: { everyMs: 10_000, maxBoost: Infinity, maxWaitMs: Infinity },
  charge: 'turns',
  retain: { count: 1_000, ageMs: 3_600_000 },
  maxLosses: 3,
  workersMayCome: true,
  maxCatchUp: 100,
  pressure: NO_BOUND,
  serviceMs: Infinity,
  sliceMs: 50,
  maxBypasses: 64,
  preemption: { graceMs: 1_000, minRunMs: 1_000, maxPerTask: 3 },
};
