import { expect, test } from 'vitest';
import { mutantsIn, shown, switched, type Source } from './mutants.js';
import { SWITCH } from './switch-name.js';

function changes(text: string): string[] {
  const source: Source = { path: 'a.ts', text };
  return mutantsIn(source).map((mutant) => shown(mutant, source));
}

test.each([
  ['const f = a < b;', ['a < b -> a <= b', 'a < b -> a >= b']],
  ['const f = a === b && c;', ['a === b && c -> a === b || c', 'a === b -> a !== b']],
  ['const f = -a + b * c;', ['-a + b * c -> -a - b * c', '-a -> a', 'b * c -> b / c']],
  ['if (a) { b(); }', ['a -> !(a)', 'without b();']],
  ['const f = !a ? 1 : true;', ['!a -> a', '1 -> 1 + 1', 'true -> false']],
  ['{ a += 2; }', ['without a += 2;', 'a += 2 -> a -= 2', '2 -> 2 + 1']],
  ['for (const a of b) { if (a()) continue; return; }', ['a() -> !(a())', 'without continue;', 'without return;']],
  ["const f = { kind: 'ready' };", ["'ready' -> ''"]],
])('of %s it makes every small mistake once', (text, expected) => {
  expect(changes(text)).toEqual(expected);
});

test.each([
  "import { a } from 'b';",
  "type A = 'x' | 1 | true;",
  'interface A { b: 1 }',
  "const a: Record<'x', 1> = b as 'y';",
  "const a = { 'b': c };",
  "throw new Error('That is a sentence.');",
  "const a = 'text: ' + b;",
  "invariant(a < b, 'c');",
  'class A extends B { constructor() { super(); } }',
])('%s has nothing to be mistaken in', (text) => {
  expect(changes(text)).toEqual([]);
});

/** What the code gives with one mutant switched on. */
function run(code: string, on: number | undefined): unknown {
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- it is what was made here
  const made = new Function(SWITCH, code) as (isOn: (number: number) => boolean) => unknown;
  return made((number) => number === on);
}

test('all mutants are in one code, which does what it did until one of them is switched on', () => {
  const text =
    '{ let sum = 0; for (const each of [1, 2]) { if (each > 1 && sum < 9) sum += each; else sum = -1; } return sum; }';
  const source: Source = { path: 'a.ts', text };
  const mutants = new Map(mutantsIn(source).entries());
  expect(mutants.size).toBeGreaterThan(8);
  const code = switched(source, mutants);
  expect(run(code, undefined)).toBe(run(text, undefined));
  for (const [number, { start, end, to }] of mutants) {
    const isStatement = to === '';
    const alone = `${text.slice(0, start)}${isStatement ? ';' : `(${to})`}${text.slice(end)}`;
    expect(run(code, number), alone).toBe(run(alone, undefined));
  }
});
