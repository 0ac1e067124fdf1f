import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PLANTED_BUGS } from './planted/bugs.js';
import { hunt, patched, sourcesOf } from './planted/plant.js';

const ROOT = join(import.meta.dirname, '..', '..');

test.each(PLANTED_BUGS.map((planted) => [planted.name, planted] as const))(
  'a bug can be planted: %s',
  (_name, planted) => {
    expect(sourcesOf(ROOT, planted).size).toBeGreaterThan(0);
  },
);

test('a patch that finds nothing, or more than one place, is refused', () => {
  const patch = { file: 'a.ts', find: 'x', replace: 'y' };
  expect(patched('a x b', patch)).toBe('a y b');
  expect(() => patched('a b', patch)).toThrow('src/a.ts has "x" 0 times');
  expect(() => patched('x x', patch)).toThrow('2 times');
});

// `npm run simulate -- --planted` looks for all of them.
const quick = PLANTED_BUGS.filter(({ isQuick }) => isQuick === true);
test.each(quick.map((planted) => [planted.name, planted] as const))(
  'the simulation finds a planted bug: %s',
  async (_name, planted) => {
    const found = await hunt(ROOT, planted, { mostSteps: 3_000, stepsPerSeed: 100 });
    expect(found).toMatchObject({ found: true });
  },
  180_000,
);
