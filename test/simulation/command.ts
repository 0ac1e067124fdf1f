// npm run simulate -- --seed S [--steps N] | --seeds A..B | --minutes M | --planted: see docs/simulation.md.
import { parseArgs } from 'node:util';
import { describeFailure, Totals } from './totals.js';
import { runPlanted } from './planted/run-all.js';
import { shrink, simulate } from '../../src/testing/index.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    steps: { type: 'string', default: '300' },
    planted: { type: 'boolean', default: false },
    'most-steps': { type: 'string', default: '30000' },
  },
});
const steps = wholeNumber('steps', values.steps);

if (values.planted)
  process.exitCode = (await runPlanted({
    mostSteps: wholeNumber('most-steps', values['most-steps']),
    stepsPerSeed: steps,
  }))
    ? 0
    : 1;
else {
  const totals = new Totals();
  const end = values.minutes === undefined ? Infinity : performance.now() + 60_000 * Number(values.minutes);
  let current = 0;
  // What nobody catches ends the run, and would not say by which seed.
  process.on('uncaughtExceptionMonitor', () => {
    console.log(`seed ${current} --steps ${steps} ends with an error that nobody catches:`);
  });
  for (const seed of seedsOf()) {
    current = seed;
    if (performance.now() >= end) break;
    const report = await simulate({ seed, steps });
    totals.add(report);
    if (report.failure === undefined) continue;
    console.log(describeFailure(await shrink(report)));
    process.exitCode = 1;
    break;
  }
  console.log(totals.text());
}

function* seedsOf(): Iterable<number> {
  const [from = '', to = ''] = values.seeds?.split('..') ?? [];
  if (values.seed !== undefined) yield wholeNumber('seed', values.seed);
  else if (values.seeds !== undefined) {
    for (let seed = wholeNumber('seeds', from); seed <= wholeNumber('seeds', to); seed += 1) yield seed;
  } else for (let seed = Math.floor(Math.random() * 1e9); ; seed += 1) yield seed;
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (text !== '' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} is given whole numbers of at least 0, not "${text}".`);
}
