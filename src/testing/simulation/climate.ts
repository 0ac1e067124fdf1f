import type { StrategyName } from '../../ready/index.js';
import { Chance } from './chance.js';

/** What may go wrong in a simulation, by class: each seed draws which of them do, and how often. */
export const FAULT_CLASSES = [
  'handlers',
  'workers',
  'clock',
  'disk',
  'slowness',
  'power',
  'kills',
  'takeovers',
  'intruders',
] as const;
/** A class of faults. */
export type FaultClass = (typeof FAULT_CLASSES)[number];

/** How often faults of a class happen: not at all, or from seldom to all the time. */
export type Strength = 0 | 1 | 2 | 3;

/** What one seed is like: the scheduler, and what goes wrong around it. */
export interface Climate {
  readonly seed: number;
  readonly faults: Readonly<Record<FaultClass, Strength>>;
  readonly strategy: StrategyName;
  readonly concurrency: number;
  /** Whether waiting makes urgent, and whether there is a bound on it. */
  readonly aging: 'none' | 'unbounded' | 'bounded';
  /** What an acknowledged write survives; the loss of power only with `fsync`. */
  readonly durability: 'fsync' | 'os';
  readonly snapshotEvery: number;
  readonly retained: number;
}

// Where channels take turns there is more to see.
const STRATEGIES = [
  'fair',
  'fair',
  'priority',
  'fifo',
  'lifo',
  'deadline',
  'critical-path',
  'weighted-random',
] as const;

/** What the seed says it is like. */
export function climateOf(seed: number): Climate {
  const chance = new Chance(seed);
  const strengths = FAULT_CLASSES.map((name) => [name, chance.oneIn(2) ? 1 + chance.roll(3) : 0] as const);
  const durability = chance.oneIn(4) ? 'os' : 'fsync';
  const faults = Object.fromEntries(strengths) as Record<FaultClass, Strength>;
  if (durability === 'os') faults.power = 0;
  return {
    seed,
    faults,
    strategy: chance.pick(STRATEGIES),
    concurrency: chance.pick([0, 0, 1, 2, 3, 4]),
    aging: chance.pick(['none', 'none', 'unbounded', 'bounded']),
    durability,
    snapshotEvery: 20 + chance.roll(150),
    retained: chance.pick([5, 20, 60]),
  };
}
