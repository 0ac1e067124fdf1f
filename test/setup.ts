import fc from 'fast-check';

// Property runs are the same every time unless asked otherwise, so that a red check can be repeated.
// FC_SEED=<number> replays one seed, FC_SEED=random explores; FC_RUNS=<number> runs longer.
const DEFAULT_SEED = 20_260_101;

function seedFrom(wanted: string | undefined): number {
  if (wanted === undefined || wanted === '') return DEFAULT_SEED;
  if (wanted === 'random') return Math.floor(Math.random() * 0x7fff_ffff);
  const seed = Number(wanted);
  if (!Number.isSafeInteger(seed)) throw new Error(`FC_SEED must be an integer or "random", got "${wanted}".`);
  return seed;
}

const runs = Number(process.env['FC_RUNS'] ?? '');

fc.configureGlobal({
  seed: seedFrom(process.env['FC_SEED']),
  ...(runs > 0 ? { numRuns: runs } : {}),
});
