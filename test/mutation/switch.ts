import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, expect } from 'vitest';
import { SWITCH } from './switch-name.js';

/*
 * Comes before each test file of a trial: MUTANT is the number of the mutant that is switched on. Where MUTANTS_MET names a
 * file, all are off, and those that were come by, and how long the tests took, are written there.
 */

const on = Number(process.env['MUTANT'] ?? NaN);
const report = process.env['MUTANTS_MET'];
const met = new Set<number>();
/** Met while modules were loaded: whoever comes later in the thread finds them loaded, and meets them none the less. */
const loaded = new Set<number>();
const begun = performance.now();

Object.assign(globalThis, {
  [SWITCH]:
    report === undefined
      ? (number: number) => number === on
      : (number: number) => {
          met.add(number);
          return false;
        },
});

beforeAll(() => {
  for (const number of met) loaded.add(number);
});

afterAll(() => {
  if (report === undefined) return;
  const test = expect.getState().testPath;
  appendFileSync(
    report,
    `${JSON.stringify({ test, met: [...met], loaded: [...loaded], ms: performance.now() - begun })}\n`,
  );
});
