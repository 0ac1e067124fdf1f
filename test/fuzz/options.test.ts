import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Scheduler } from '../../src/index.js';
import { CALLS, refusalIn, worldOf, type World } from './calls.js';
import { coreOf, expectSound, expectTyped, inherited, textOf } from './claims.js';
import { HOSTILE, changed, changesWith, runsOf, throwsItself, timeFor, type Change } from './hostile.js';

interface Case {
  readonly call: string;
  readonly changes: readonly Change[];
}

const cases: fc.Arbitrary<Case> = fc.record({
  call: fc.constantFrom(...Object.keys(CALLS)),
  changes: fc.array(changesWith(Object.keys(HOSTILE)), { minLength: 1, maxLength: 2 }),
});

const runs = runsOf(1_000);

test(
  'G4 rows 27, 28, 29, 30, 31 and 33: whatever is handed in, it is taken and all fits together, or a typed error names it and nothing has changed',
  async () => {
    const counts = { taken: 0, refused: 0 };
    const property = fc.asyncProperty(cases, async (each) => {
      counts[(await outcomeOf(each)) === undefined ? 'taken' : 'refused'] += 1;
    });
    await fc.assert(property, { numRuns: runs });
    // Otherwise the changes are too wild, or too tame.
    expect(counts.taken / runs).toBeGreaterThan(0.1);
    expect(counts.refused / runs).toBeGreaterThan(0.3);
  },
  timeFor(runs),
);

test.each(Object.keys(CALLS))('%s is right as it stands: only what is changed in it is refused', async (call) => {
  expect(await outcomeOf({ call, changes: [] })).toBeUndefined();
});

/** Makes the call on a world of its own; what has refused it. */
async function outcomeOf({ call, changes }: Case): Promise<unknown> {
  const world = await worldOf();
  const core = coreOf(world.scheduler);
  const before = textOf(core.snapshot());
  const prototypes = inherited();
  const refusal = await refusalOf(world, call, changes);
  expect(inherited()).toBe(prototypes);
  if (refusal === undefined) expectSound(core);
  else {
    // What throws when it is looked at or called throws the caller's own error.
    if (!changes.some(throwsItself)) expectTyped(refusal);
    expect(textOf(core.snapshot())).toBe(before);
  }
  return refusal;
}

async function refusalOf(world: World, name: string, changes: readonly Change[]): Promise<unknown> {
  const { args, act } = CALLS[name]!;
  let given: unknown = args;
  for (const change of changes) given = changed(given, change, HOSTILE);
  let result: unknown;
  try {
    result = act(world, Array.isArray(given) ? given : [given]);
  } catch (error) {
    return error;
  }
  if (result instanceof Scheduler && result !== world.scheduler) {
    expectSound(coreOf(result));
    await result.close();
  }
  return refusalIn(result, world);
}
