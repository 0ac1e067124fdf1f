import { describe, expect, test } from 'vitest';
import { FAULT_CLASSES, simulate, type SimulationReport } from '../../src/testing/index.js';
import { climateOf } from '../../src/testing/simulation/climate.js';
import { fewest } from '../../src/testing/simulation/shrink.js';
import { run } from '../../src/testing/simulation/simulate.js';
import { stepsOf } from '../../src/testing/simulation/step.js';
import { Totals, describeFailure } from './totals.js';

/** What a failure is read by. */
function failureOf({ seed, failure }: SimulationReport): string | undefined {
  return failure === undefined ? undefined : `seed ${seed}: ${failure.promise} ${failure.what}`;
}

/** Some five seconds on an idle machine, in which everything comes to pass that is to be shown. */
const SEEDS = Array.from({ length: 8 }, (_, at) => 13 + at);

// `npm run simulate -- --minutes 10` goes on for longer, from another seed each time.
describe('a real scheduler on a simulated disk', () => {
  test('G1 G2 G3 G4 G5 G6 G7 G8 G9 G10 G12 G13 whatever a seed draws, every promise is kept after every step, and all that was acknowledged ends', async () => {
    const seen = new Map<string, number>();
    const evaluated = new Set<string>();
    const totals = { steps: 0, recoveries: 0 };
    for (const seed of SEEDS) {
      const report = await simulate({ seed, steps: 70 });
      expect(failureOf(report)).toBeUndefined();
      totals.steps += report.steps;
      totals.recoveries += report.recoveries;
      for (const [what, count] of report.seen) seen.set(what, (seen.get(what) ?? 0) + count);
      for (const promise of report.evaluated.keys()) evaluated.add(promise);
    }
    expect(totals.steps).toBe(SEEDS.length * 70);
    // The restart at the end of each alone makes two.
    expect(totals.recoveries).toBeGreaterThan(3 * SEEDS.length);
    // What is to be shown has come to pass.
    expect([...seen.keys()]).toEqual(
      expect.arrayContaining(['crash: kill', 'crash: power', 'takeover', 'handler never settles', 'slow call']),
    );
    expect([...evaluated].sort()).toEqual(
      ['G1', 'G10', 'G12', 'G13', 'G2', 'G3', 'G4', 'G5', 'G6', 'G7', 'G8', 'G9', 'order'].sort(),
    );
  }, 240_000);

  test('F9 the same seed gives the same facts, to the last byte, and another seed gives others', async () => {
    const digests = new Set<string>();
    for (const seed of [3, 5]) {
      const [one, other] = [await simulate({ seed, steps: 60 }), await simulate({ seed, steps: 60 })];
      expect(one.facts).toBeGreaterThan(0);
      expect({ ...other }).toEqual({ ...one });
      digests.add(one.digest);
    }
    expect(digests.size).toBe(2);
  });

  test('each fault class is drawn by some seeds and not by others, in every strength', () => {
    const climates = Array.from({ length: 200 }, (_, seed) => climateOf(seed));
    for (const name of FAULT_CLASSES) {
      expect(new Set(climates.map(({ faults }) => faults[name]))).toEqual(new Set([0, 1, 2, 3]));
    }
    // Where the disk promises nothing about power, it is not cut.
    for (const { durability, faults } of climates) if (durability === 'os') expect(faults.power).toBe(0);
  });
});

describe('a run is a list of steps', () => {
  test('the first steps of a seed are the same however many follow', () => {
    const climate = climateOf(7);
    expect(stepsOf(climate, 50)).toEqual(stepsOf(climate, 500).slice(0, 50));
  });

  test('each step does the same whatever was left out before it: any part of a run is a run', async () => {
    const climate = climateOf(8);
    const steps = stepsOf(climate, 60).filter((_, at) => at % 3 > 0);
    const report = await run(climate, steps);
    expect(failureOf(report)).toBeUndefined();
    expect(report.steps).toBe(40);
  });

  test('what is not needed for a failure is left out', async () => {
    const asked: number[] = [];
    const left = await fewest(
      Array.from({ length: 100 }, (_, at) => at),
      (items) => {
        asked.push(items.length);
        return Promise.resolve(items.includes(17) && items.includes(71));
      },
    );
    expect(left).toEqual([17, 71]);
    expect(asked.length).toBeLessThan(100);
  });

  test('a report says what was done and what was looked at, and a failure its steps and its story', async () => {
    const report = await simulate({ seed: 9, steps: 30 });
    const totals = new Totals();
    totals.add(report);
    expect(totals.text()).toMatch(/seeds 1, steps 30, tasks \d+, facts \d+/);
    expect(totals.text()).toMatch(/invariants evaluated \d+: .*G8 \d+/);
    const failure = {
      promise: 'G7',
      what: 'too much',
      task: 't1',
      atStep: 3,
      story: ['{"kind":"task.ready"}'],
    } as const;
    const steps = stepsOf(report.climate, 2);
    const text = describeFailure({ steps, report: { ...report, failure } });
    expect(text).toContain('seed 9 fails: G7 too much');
    for (const step of steps) expect(text).toContain(JSON.stringify(step));
    expect(text).toContain('the story of "t1":\n  {"kind":"task.ready"}');
  });
});
