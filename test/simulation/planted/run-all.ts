import { join } from 'node:path';
import { PLANTED_BUGS } from './bugs.js';
import { hunt, type Reach } from './plant.js';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');

/** Looks for all of them, one after the other; whether all were found. */
export async function runPlanted(reach: Reach): Promise<boolean> {
  const steps: number[] = [];
  for (const planted of PLANTED_BUGS) {
    const found = await hunt(ROOT, planted, reach);
    if (found.found) steps.push(found.steps);
    const how = found.found ? `seed ${found.seed}, after ${found.steps} steps: ${found.promise} ${found.what}` : '';
    console.log(`${found.found ? 'found ' : 'MISSED'} ${planted.name}${how === '' ? '' : ` (${how.slice(0, 160)})`}`);
  }
  steps.sort((x, y) => x - y);
  const median = steps[Math.floor(steps.length / 2)];
  console.log(`planted bugs found ${steps.length}/${PLANTED_BUGS.length}, median ${median ?? '-'} steps`);
  return steps.length === PLANTED_BUGS.length;
}
