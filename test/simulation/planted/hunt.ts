// The process of its own that a planted bug runs in: looks for a seed that shows it, and says so in one line of JSON.
import { simulate } from '../../../src/testing/index.js';

/** What a hunt came to. */
export interface Hunt {
  readonly found: boolean;
  /** All steps up to the one that showed it, over all seeds. */
  readonly steps: number;
  readonly seed: number;
  readonly promise: string;
  readonly what: string;
}

const [mostSteps = 0, stepsPerSeed = 0] = process.argv.slice(2).map(Number);
let taken = 0;
let seed = 0;

function tell(hunt: Partial<Hunt>): never {
  console.log(JSON.stringify({ found: true, steps: taken, seed, promise: '', what: '', ...hunt }));
  process.exit();
}

// A bug may well make the scheduler throw where nobody catches it.
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => tell({ promise: 'none', what: String(error) }));
}
for (seed = 1; taken < mostSteps; seed += 1) {
  const { failure } = await simulate({ seed, steps: stepsPerSeed });
  taken += failure?.atStep ?? stepsPerSeed;
  if (failure !== undefined) tell({ promise: failure.promise, what: failure.what });
}
tell({ found: false });
