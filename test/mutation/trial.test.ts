import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutantsIn, shown } from './mutants.js';
import { Trial } from './trial.js';

const SOURCE = `export const FIRST = 1;
export function isSmall(value: number): boolean {
  return value < 5;
}
export function isUnasked(value: number): boolean {
  return value === 7;
}
`;
const TEST = `import { expect, test } from 'vitest';
import { FIRST, isSmall } from '../src/a.js';
test('small is what is below five', () => {
  expect(isSmall(FIRST)).toBe(true);
  expect(isSmall(9)).toBe(false);
});
`;

/** A tree with one source and one test. */
function smallTree(): string {
  const root = mkdtempSync(join(tmpdir(), 'trial-'));
  mkdirSync(join(root, 'src'));
  cpSync(import.meta.dirname, join(root, 'test/mutation'), { recursive: true });
  symlinkSync(join(import.meta.dirname, '../../node_modules'), join(root, 'node_modules'), 'junction');
  const files = {
    'src/a.ts': SOURCE,
    'test/a.test.ts': TEST,
    'test/setup.ts': '',
    'package.json': '{"type":"module"}',
  };
  for (const [name, text] of Object.entries({ ...files, 'tsconfig.json': '{}' })) writeFileSync(join(root, name), text);
  return root;
}

test('a mutant is killed by a test, survives all that come by it, or is met by none; the tree stays as it was', async () => {
  const root = smallTree();
  const source = { path: 'src/a.ts', text: SOURCE };
  const mutants = new Map(mutantsIn(source).entries());
  const trial = new Trial(root, join(root, '.build/mutation'), mutants);
  try {
    await trial.begin(['test/a.test.ts']);
    const fates: Record<string, string> = {};
    for (const [number, mutant] of mutants) fates[shown(mutant, source)] = await trial.fateOf(number);
    expect(fates).toEqual({
      // Two is small as well.
      '1 -> 1 + 1': 'survived',
      // Nobody asks for five itself.
      'value < 5 -> value <= 5': 'survived',
      'value < 5 -> value >= 5': 'killed',
      '5 -> 5 + 1': 'survived',
      'value === 7 -> value !== 7': 'not met',
      '7 -> 7 + 1': 'not met',
    });
    expect(readFileSync(join(root, 'src/a.ts'), 'utf8')).toBe(SOURCE);
    trial.end();
    expect(existsSync(join(root, '.build/mutation'))).toBe(false);
  } finally {
    rmSync(root, { recursive: true });
  }
});
