import { run, type SimulationReport } from './simulate.js';
import { stepsOf, type Step } from './step.js';

/** The fewest steps that were found to fail, and what comes of them. */
export interface Shrunk {
  readonly steps: readonly Step[];
  readonly report: SimulationReport;
}

/** So often something is left out, to see whether it still fails. */
const MOST_TRIES = 300;

/** Leaves steps out of a run that has failed, as long as it breaks the same promise without them. */
export async function shrink(failed: SimulationReport): Promise<Shrunk> {
  const { climate, failure } = failed;
  const steps = stepsOf(climate, failed.steps);
  let report = failed;
  const fewer = await fewest(steps, async (left) => {
    const again = await run(climate, left);
    const isSame = again.failure !== undefined && again.failure.promise === failure?.promise;
    if (isSame) report = again;
    return isSame;
  });
  return { steps: fewer, report };
}

/** Leaves items out, many at once as long as that goes, and then one by one; `fails` is asked about what is left. */
export async function fewest<Item>(
  items: readonly Item[],
  fails: (left: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  let left = items;
  let tries = 0;
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < left.length && tries < MOST_TRIES; tries += 1) {
      const fewer = [...left.slice(0, from), ...left.slice(from + size)];
      if (await fails(fewer)) left = fewer;
      else from += size;
    }
  }
  return left;
}
