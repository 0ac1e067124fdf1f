import { expect, test } from 'vitest';
import type { StrategyChoice } from '../../src/core/index.js';
import { Core } from '../../src/core/index.js';
import { parseTaskOptions } from '../../src/model/index.js';
import { SIM_START, sim } from '../../src/testing/index.js';

const ORIGIN = { wall: SIM_START, mono: 0 };

/** Draws so many times, each task replaced at once by another of its level; how often each level was drawn. */
function steadyState(levels: readonly number[], draws: number, strategy: StrategyChoice, seed: number) {
  const core = new Core({ origin: ORIGIN, strategy, seed });
  const specs = new Map(levels.map((level) => [level, parseTaskOptions({ priority: level }, '')]));
  const worker = core.attach(ORIGIN, {
    id: 'w',
    slots: Infinity,
    capabilities: new Map(),
    strategy: undefined,
    filter: undefined,
    leaseMs: Infinity,
    retries: 0,
  });
  for (const spec of specs.values()) for (let i = 0; i < 3; i += 1) core.submit(ORIGIN, spec, undefined);
  const counts = new Map(levels.map((level) => [level, 0]));
  for (let i = 0; i < draws; i += 1) {
    const attempt = core.claim(ORIGIN, worker);
    if (attempt === undefined) throw new Error('Nothing was drawn.');
    const { level } = attempt.task.spec;
    counts.set(level, (counts.get(level) ?? 0) + 1);
    core.settle(ORIGIN, attempt, { kind: 'succeeded', value: undefined });
    core.submit(ORIGIN, attempt.task.spec, undefined);
  }
  return counts;
}

/** How far the counts are from what the weights say, in the measure of the chi-square test. */
function chiSquareOf(counts: ReadonlyMap<number, number>, weight: (level: number) => number): number {
  const draws = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const total = [...counts.keys()].reduce((sum, level) => sum + weight(level), 0);
  return [...counts].reduce((sum, [level, count]) => {
    const expected = (draws * weight(level)) / total;
    return sum + (count - expected) ** 2 / expected;
  }, 0);
}

function expectShares(counts: ReadonlyMap<number, number>, weight: (level: number) => number, critical: number): void {
  const draws = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const total = [...counts.keys()].reduce((sum, level) => sum + weight(level), 0);
  for (const [level, count] of counts) {
    const expected = (draws * weight(level)) / total;
    expect(Math.abs(count / expected - 1), `level ${String(level)}`).toBeLessThan(0.1);
  }
  expect(chiSquareOf(counts, weight)).toBeLessThan(critical);
}

test('A7.1 each level has its share of 200,000 draws in a steady state, by chi-square and within ten per cent', () => {
  const counts = steadyState([0, 1, 2, 3, 10, 100], 200_000, 'weighted-random', 42);
  // Five degrees of freedom at one per cent.
  expectShares(counts, (level) => 1 / Math.max(level, 0.5), 15.09);
});

test('A7.1 over forty seeds the shares stray as far as chance does: neither more nor less', () => {
  const weight = (level: number): number => 1 / Math.max(level, 0.5);
  const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1);
  const strayed = seeds.map((seed) =>
    chiSquareOf(steadyState([0, 1, 2, 3, 10, 100], 10_000, 'weighted-random', seed), weight),
  );
  const sum = strayed.reduce((total, each) => total + each, 0);
  // Together 200 degrees of freedom, half a per cent on either side.
  expect(sum).toBeGreaterThan(152.24);
  expect(sum).toBeLessThan(255.26);
  // Each alone has five; one in a hundred may be beyond this, and four of forty hardly ever are.
  expect(strayed.filter((each) => each > 15.09).length).toBeLessThan(4);
});

test('A7.1 a weight function of one’s own decides the shares', () => {
  const weight = (level: number): number => 2 ** -level;
  const counts = steadyState([0, 1, 2, 3], 50_000, { name: 'weighted-random', weight }, 7);
  // Three degrees of freedom at one per cent.
  expectShares(counts, weight, 11.34);
});

test('A7.1 the same seed draws the same tasks, another one others; age plays no part', () => {
  const drain = (seed: number, waitMs: number): string[] => {
    const s = sim({ strategy: 'weighted-random', seed });
    for (let i = 0; i < 40; i += 1) s.add(`t${String(i)}`, { priority: i % 4 });
    s.advance(waitMs);
    return s.drain();
  };
  expect(drain(1, 0)).toEqual(drain(1, 3_600_000));
  expect(drain(1, 0)).not.toEqual(drain(2, 0));
});

test('A7.2 fifty tasks at level 1 and fifty at level 100: two to one in the first 75 claims, then all', () => {
  const seeds = 12;
  let urgent = 0;
  for (let seed = 1; seed <= seeds; seed += 1) {
    const s = sim({ strategy: 'weighted-random', seed });
    for (let i = 0; i < 50; i += 1) {
      s.add(`one ${String(i)}`, { priority: 1 });
      s.add(`hundred ${String(i)}`, { priority: 100 });
    }
    const order = s.drain();
    const first = order.slice(0, 75).filter((id) => id.startsWith('one')).length;
    // All fifty of level 1 are nearly sure to be gone by then: that leaves at least 25 for level 100.
    expect(first).toBeGreaterThanOrEqual(45);
    urgent += first;
    expect(order).toHaveLength(100);
    expect(order.slice(0, 75).some((id) => id.startsWith('hundred'))).toBe(true);
  }
  const ratio = urgent / (75 * seeds - urgent);
  expect(ratio).toBeGreaterThan(1.8);
  expect(ratio).toBeLessThanOrEqual(2);
});
