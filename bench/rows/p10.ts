import { loadedCore, now, type Load } from '../core-load.js';
import { atMost, growth, type Row } from '../row.js';

export const strategies = ['fifo', 'lifo', 'priority', 'deadline', 'fair', 'weighted-random', 'critical-path'];
const claims = 5_000;

/**
 * The 99th percentile of one claim, in microseconds; what is claimed is replaced, so the number of ready tasks stays.
 *
 * Every candidate warms up in two cores of its own, with blocked tasks and without. Code that has known one core alone,
 * or nothing that is blocked, is compiled anew during the first 2,000 claims of what is measured, and a percentile of
 * 5,000 shows that and nothing else.
 */
async function claimP99(load: Load): Promise<number> {
  for (const blocked of [1_000, 0]) {
    await claimTimes({ ...load, ready: 10_000, channels: Math.min(load.channels, 1_000), blocked }, 15_000);
  }
  const times = await claimTimes(load, claims);
  return times[Math.floor(times.length * 0.99)]!;
}

async function claimTimes(load: Load, count: number): Promise<number[]> {
  const { core, worker, add } = await loadedCore(load);
  // The first claim builds the order; that is P11.
  for (let i = 0; i < 2_000; i++) {
    core.settle(now, core.claim(now, worker)!, { kind: 'succeeded', value: undefined });
    add(i);
  }
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const startedAt = process.hrtime.bigint();
    const attempt = core.claim(now, worker)!;
    times.push(Number(process.hrtime.bigint() - startedAt) / 1e3);
    core.settle(now, attempt, { kind: 'succeeded', value: undefined });
    add(i % load.ready);
  }
  return times.sort((a, b) => a - b);
}

export const rows = strategies.map((strategy): Row => {
  const at = (ready: number, channels: number, blocked: number) => () =>
    claimP99({ strategy, ready, channels, blocked });
  return {
    id: `P10 ${strategy}`,
    group: 'core',
    work: `one claim by ${strategy}, 99th percentile`,
    unit: 'µs',
    better: 'lower',
    candidates: [
      {
        name: '100k ready, 10 channels',
        measure: at(100_000, 10, 0),
        bars: [atMost(10), growth('10k ready, 10 channels', 2)],
      },
      { name: '10k ready, 10 channels', measure: at(10_000, 10, 0) },
      {
        name: '100k ready, 10k channels',
        measure: at(100_000, 10_000, 0),
        bars: [atMost(10), growth('100k ready, 1k channels', 2)],
      },
      { name: '100k ready, 1k channels', measure: at(100_000, 1_000, 0) },
      {
        name: '100k ready, 100k more blocked',
        measure: at(100_000, 10, 100_000),
        bars: [atMost(10), growth('100k ready, 10 channels', 2)],
      },
      { name: '100k ready, 1 more blocked', measure: at(100_000, 10, 1) },
    ],
  };
});
