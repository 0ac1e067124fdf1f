import { loadedCore, now } from '../core-load.js';
import { atMost, type Row } from '../row.js';

const strategies = ['fifo', 'lifo', 'deadline', 'fair', 'weighted-random', 'critical-path'];

/** Milliseconds of the call that switches from `priority`, and of the first claim after it, with 100k ready tasks. */
async function switchTo(strategy: string): Promise<{ call: number; claim: number }> {
  const once = async (ready: number) => {
    const { core, worker } = await loadedCore({ strategy: 'priority', ready, channels: 10, blocked: 0 });
    core.claim(now, worker);
    const startedAt = performance.now();
    core.handle({ kind: 'setStrategy', now, strategy: strategy as 'fifo' });
    const calledAt = performance.now();
    core.claim(now, worker);
    return { call: calledAt - startedAt, claim: performance.now() - calledAt };
  };
  for (let i = 0; i < 3; i++) await once(30_000);
  return once(100_000);
}

export const rows: readonly Row[] = [
  {
    id: 'P11 call',
    group: 'core',
    work: 'switch from priority to another strategy with 100k ready tasks: the call',
    unit: 'ms',
    better: 'lower',
    candidates: strategies.map((strategy) => ({
      name: strategy,
      against: strategy,
      measure: async () => (await switchTo(strategy)).call,
      bars: [atMost(1)],
    })),
  },
  {
    id: 'P11 claim',
    group: 'core',
    work: 'switch from priority to another strategy with 100k ready tasks: the first claim after it',
    unit: 'ms',
    better: 'lower',
    candidates: strategies.map((strategy) => ({
      name: strategy,
      against: strategy,
      measure: async () => (await switchTo(strategy)).claim,
      bars: [atMost(10)],
    })),
  },
];
