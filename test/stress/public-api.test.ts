import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ACTS, type ActName } from './acts.js';
import { haveEnded } from './observed.js';
import { World, type Setting, type Step } from './world.js';

const settings: fc.Arbitrary<Setting> = fc.record({
  concurrency: fc.nat(4),
  strategy: fc.constantFrom('priority', 'fair', 'fifo', 'lifo', 'deadline', 'critical-path', 'weighted-random'),
  executors: fc.boolean(),
  maxPending: fc.constantFrom(undefined, undefined, 3, 8),
  whenFull: fc.constantFrom('wait', 'wait', 'wait', 'reject', 'drop-oldest', 'drop-lowest'),
  aging: fc.boolean(),
  admit: fc.constantFrom(false, false, false, true),
  seed: fc.nat(1_000_000),
});

const names = Object.keys(ACTS) as ActName[];
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    act: fc.constantFrom(...names),
    seed: fc.nat(1_000_000),
    thenMs: fc.constantFrom(0, 0, 1, 5, 20, 100, 500),
  }),
  { minLength: 5, maxLength: 40, size: 'max' },
);

/** How often: `STRESS_RUNS=5000` looks for longer, `FC_SEED=random` elsewhere. */
const runs = Number(process.env['STRESS_RUNS'] ?? 80);

test(
  'G7 G9 F2 whatever is done through the public API, all that the core keeps fits together and every promise settles',
  async () => {
    const seen = new Map<string, number>();
    const property = fc.asyncProperty(settings, steps, fc.boolean(), async (setting, todo, heals) => {
      const world = new World(setting);
      for (const step of todo) await world.step(step);
      if (heals) {
        await world.heal();
        const { pending, running } = world.engine.core.state;
        expect({ pending, running, ended: haveEnded(world.handles) }).toEqual({ pending: 0, running: 0, ended: true });
        expect(
          [...world.engine.core.state.resources.allPools()].map(({ held }) => held).filter((held) => held > 1e-6),
        ).toEqual([]);
      }
      await world.end();
      expect(haveEnded(world.handles)).toBe(true);
      expect(world.stories.untold).toBe(0);
      for (const [what, count] of world.observed.seen) seen.set(what, (seen.get(what) ?? 0) + count);
    });
    await fc.assert(property, { numRuns: runs, interruptAfterTimeLimit: runs * 300 + 30_000 });
    if (process.env['STRESS_RUNS'] !== undefined) console.log(Object.fromEntries([...seen].sort()));
    expect(seen.size).toBeGreaterThan(30);
  },
  runs * 1_000 + 120_000,
);
