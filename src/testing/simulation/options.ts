import type { StrategyName } from '../../ready/index.js';
import type { AddOptions } from '../../runtime/add-options.js';
import type { Chance } from './chance.js';

/** The channels that tasks are in. */
export const CHANNELS = ['default', 'a', 'b'] as const;
/** The orders that are changed between. */
export const STRATEGIES: readonly [StrategyName, ...StrategyName[]] = [
  ...(['priority', 'fair', 'fifo', 'lifo', 'deadline', 'critical-path', 'weighted-random'] as const),
];
/** What becomes of a task when one before it does not complete. */
export const POLICIES = ['fail', 'skip', 'run'] as const;
/** What a task may ask of whoever runs it, and some workers offer. */
export const CAPABILITY = { exec: true };

/** Options of all kinds for a task that may come after some of these. */
export function drawOptions(chance: Chance, wall: number, known: readonly string[]): AddOptions {
  const gpu = chance.oneIn(3) ? 1 + chance.roll(2) : 0;
  const memory = chance.oneIn(4) ? 1 + chance.roll(4) : 0;
  const after = chance.oneIn(3) ? [chance.pick(known), chance.pick(known)].filter((id) => id !== undefined) : [];
  return {
    channel: chance.pick(CHANNELS),
    priority: chance.roll(4),
    needs: { gpu, memory },
    after: [...new Set(after)],
    onDependencyFailure: chance.pick(POLICIES),
    ...(chance.oneIn(2) ? { timeout: 20 + chance.roll(200) } : {}),
    ...chance.some(5, {
      deadline: wall + chance.roll(300),
      expires: wall + 1 + chance.roll(300),
      delay: chance.roll(100),
      eta: wall - 20 + chance.roll(100),
      retry: { attempts: 1 + chance.roll(4), base: chance.roll(40), jitter: chance.oneIn(2) },
      preemptible: true,
      lease: 30 + chance.roll(50),
      estimate: chance.roll(100),
    }),
    ...chance.some(3, { capabilities: CAPABILITY }),
    ...chance.some(12, { durable: false }),
  };
}
