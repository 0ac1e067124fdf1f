import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { coverageByFolder } from '../.ci/coverage.mjs';
import config from '../vitest.config.js';

test('A9.2 the test command fails below 95 % of the branches of the core and below 90 % of all', () => {
  expect(config).toMatchObject({
    test: {
      coverage: {
        include: ['src/**/*.ts'],
        thresholds: {
          branches: 90,
          'src/model/**': { branches: 95 },
          'src/ready/**': { branches: 95 },
          'src/core/**': { branches: 95 },
        },
      },
    },
  });
  // No file is left out of what is counted.
  expect(config.test?.coverage).not.toHaveProperty('exclude');
});

test('A9.2 the test command prints the branches of each folder and of all sources', () => {
  const root = mkdtempSync(join(tmpdir(), 'precedence-coverage-'));
  onTestFinished(() => {
    rmSync(root, { recursive: true });
  });
  expect(coverageByFolder(root)).toEqual(['No coverage was written: it needs a run in which every test passes.']);

  const counts = { 'core/a.ts': [9, 10], 'core/decide/b.ts': [10, 10], 'model/c.ts': [0, 0], 'index.ts': [1, 4] };
  const files = Object.entries(counts).map(([file, [covered, total]]) => {
    return [join(root, 'src', file), { branches: { covered, total } }] as const;
  });
  const total = { branches: { covered: 20, total: 24 } };
  mkdirSync(join(root, 'coverage'));
  writeFileSync(
    join(root, 'coverage', 'coverage-summary.json'),
    JSON.stringify(Object.fromEntries([['total', total], ...files])),
  );
  expect(coverageByFolder(root)).toEqual([
    'branches of src: 25.0 % (1 of 4)',
    'branches of src/core: 95.0 % (19 of 20)',
    'branches of src/model: 100.0 % (0 of 0)',
    'branches of all sources: 83.3 % (20 of 24)',
  ]);
});
