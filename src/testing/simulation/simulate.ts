import { climateOf, type Climate } from './climate.js';
import type { PromiseName, Violation } from './evidence.js';
import { stepsOf, type Step } from './step.js';
import { World } from './world.js';

/** What a run is made from. */
export interface SimulationOptions {
  /** Decides everything: the scheduler, what goes wrong, and every step. */
  readonly seed: number;
  /** How many steps there are before healing; 300 unless given. */
  readonly steps?: number | undefined;
}

/** Why a run has ended before its time. */
export interface SimulationFailure extends Violation {
  /** How many steps had been taken; one more than all when it was while healing. */
  readonly atStep: number;
  /** What the journal says of the task concerned, or the latest that it says at all. */
  readonly story: readonly string[];
}

/** What came of a run. */
export interface SimulationReport {
  readonly seed: number;
  readonly climate: Climate;
  readonly steps: number;
  /** `undefined` when every promise was kept. */
  readonly failure: SimulationFailure | undefined;
  /** How often each act, each fault and each crash happened. */
  readonly seen: ReadonlyMap<string, number>;
  /** How often each promise was looked at. */
  readonly evaluated: ReadonlyMap<PromiseName, number>;
  readonly tasks: number;
  readonly facts: number;
  readonly records: number;
  readonly recoveries: number;
  readonly simulatedMs: number;
  /** A hash of the whole journal: the same for the same seed and steps. */
  readonly digest: string;
}

const STEPS = 300;
const LATEST_FACTS = 30;

/**
 * Lets one seed drive a real scheduler on a simulated disk through whatever may go wrong, looks at every promise after every step,
 * and then lets everything heal: all that was acknowledged must come to its end.
 *
 * @example
 * ```ts
 * const { failure, recoveries } = await simulate({ seed: 7, steps: 500 });
 * if (failure !== undefined) throw new Error(`${failure.promise}: ${failure.what}`);
 * ```
 */
export function simulate({ seed, steps = STEPS }: SimulationOptions): Promise<SimulationReport> {
  const climate = climateOf(seed);
  return run(climate, stepsOf(climate, steps));
}

/** The same with steps that were left out of those of the seed. */
export async function run(climate: Climate, steps: readonly Step[]): Promise<SimulationReport> {
  const world = new World(climate);
  const { evidence, ledger } = world;
  let taken = 0;
  const begin = world.clock.now().mono;
  try {
    for (; taken < steps.length && evidence.violations.length === 0; taken += 1) await world.step(steps[taken] as Step);
    if (evidence.violations.length === 0) {
      taken += 1;
      await world.heal();
    }
  } catch (error) {
    const what = error instanceof Error ? String(error.stack) : String(error);
    evidence.violations.push({ promise: 'G9', what, task: undefined });
  }
  const [violation] = evidence.violations;
  const report: SimulationReport = {
    ...{ seed: climate.seed, climate, steps: steps.length, failure: undefined },
    ...{ seen: evidence.seen, evaluated: evidence.evaluated, tasks: world.witness.tasks.size },
    ...{ facts: ledger.facts, records: ledger.bodies.length, recoveries: ledger.recoveries },
    ...{ simulatedMs: world.clock.now().mono - begin, digest: ledger.digest() },
  };
  world.end();
  if (violation === undefined) return report;
  const story =
    violation.task === undefined ? ledger.latest(LATEST_FACTS) : ledger.storyOf(violation.task).slice(-LATEST_FACTS);
  return { ...report, failure: { ...violation, atStep: taken, story } };
}
