import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import {
  emptyNames,
  escapeHatches,
  impurities,
  longFiles,
  longFunctions,
  sharedPackages,
  type SourceText,
} from './tidy-rules.js';

const root = join(import.meta.dirname, '..');
const PURE = /^src\/(model|ready|core)\//;

const sources: SourceText[] = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((name) => `src/${name.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.ts'))
  .sort()
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

describe('the sources are tidy', () => {
  test('model, ready and core are pure: time and chance come with the command', () => {
    expect(sources.filter(({ path }) => PURE.test(path)).flatMap(impurities)).toEqual([]);
  });

  test('no file is long', () => {
    expect(sources.flatMap(longFiles)).toEqual([]);
  });

  test('no function is long', () => {
    expect(sources.flatMap(longFunctions)).toEqual([]);
  });

  test('every file and folder is named after what it holds', () => {
    expect(sources.flatMap(emptyNames)).toEqual([]);
  });

  test('nothing silences the compiler or the linter', () => {
    expect(sources.flatMap(escapeHatches)).toEqual([]);
  });

  test('each third-party package is imported by one file', () => {
    expect(sharedPackages(sources)).toEqual([]);
  });
});

const source = (text: string, path = 'src/core/a.ts'): SourceText => ({ path, text });

describe('the rules find what they are for', () => {
  test.each([
    ['Date.now()', 'uses Date.now'],
    ["Date['now']()", 'uses Date.now'],
    ['new Date()', 'uses new Date() without a time'],
    ['new Date', 'uses new Date() without a time'],
    ['Date()', 'uses Date()'],
    ['Math.random()', 'uses Math.random'],
    ['setTimeout(f, 1)', 'uses setTimeout'],
    ['setInterval(f, 1)', 'uses setInterval'],
    ['setImmediate(f)', 'uses setImmediate'],
    ['queueMicrotask(f)', 'uses queueMicrotask'],
    ['performance.now()', 'uses performance'],
    ['process.exit()', 'uses process'],
    ['globalThis.setTimeout(f)', 'uses globalThis'],
    ['console.log(1)', 'uses console'],
    ['let a: Promise<void>', 'uses Promise'],
    ['const { log } = console', 'uses console'],
    ['const o = { process }', 'uses process'],
    ['async function f() {}', 'uses async'],
    ['await f()', 'uses await'],
    ["import { a } from 'node:fs'", 'imports node:fs'],
    ["export { a } from 'node:fs'", 'imports node:fs'],
    ["let a: import('node:fs').Stats", 'imports node:fs'],
  ])('impure: %s', (line, wrong) => {
    expect(impurities(source(`// a comment\n${line};\n`))).toEqual([`src/core/a.ts:2 ${wrong}`]);
  });

  test.each([
    '// Date.now() and Promise',
    '/** Never calls setTimeout(). */',
    "const a = 'Math.random() process.exit'",
    'const a = `console.log(${b})`',
    'new Date(now)',
    'Date.UTC(2026, 0)',
    'Math.floor(1)',
    'task.process.console',
    'const a = { process: 1 }',
    'interface A { performance: number; fetch(): void }',
    "import { a } from './process.js'",
  ])('pure: %s', (line) => {
    expect(impurities(source(line))).toEqual([]);
  });

  test('a file of 300 lines passes, one of 301 does not', () => {
    expect(longFiles(source('a;\n'.repeat(300)))).toEqual([]);
    expect(longFiles(source('a;\n'.repeat(301)))).toEqual(['src/core/a.ts:301 has 301 lines, at most 300 are allowed']);
  });

  test.each([
    ['function f() {', '}'],
    ['const f = () => {', '}'],
    ['class A { constructor() {', '} }'],
    ['class A { m() {', '} }'],
    ['class A { get m() {', '} }'],
  ])('a long function: %s', (open, close) => {
    const lines = (count: number): SourceText => source(`\n${open}\n${'a;\n'.repeat(count - 2)}${close}\n`);
    expect(longFunctions(lines(60))).toEqual([]);
    expect(longFunctions(lines(61))).toEqual(['src/core/a.ts:2 has a function of 61 lines, at most 60 are allowed']);
  });

  test.each(['src/utils/a.ts', 'src/core/helpers.ts', 'src/common.ts', 'src/misc/a.ts', 'src/core/types.ts'])(
    'an empty name: %s',
    (path) => {
      expect(emptyNames(source('', path))).toHaveLength(1);
    },
  );

  test('an empty name is found with its file, also as the last word of a name', () => {
    expect(emptyNames(source('', 'src/core/task-manager.ts'))).toEqual([
      'src/core/task-manager.ts:1 is named "task-manager.ts": name it after what it holds',
    ]);
    expect(emptyNames(source('', 'src/core/common-ancestor.ts'))).toEqual([]);
  });

  test.each([
    ['let a: any;', 'uses any'],
    ['let a = b as any[];', 'uses any'],
    ['// @ts-ignore', 'uses @ts-ignore'],
    ['// @ts-nocheck', 'uses @ts-nocheck'],
    ['// @ts-expect-error', 'uses @ts-expect-error'],
    ['/* eslint-disable eqeqeq */', 'uses eslint-disable'],
    ['a; // eslint-disable-line', 'uses eslint-disable'],
  ])('an escape hatch: %s', (line, wrong) => {
    expect(escapeHatches(source(`const any = 'any'; // any\n${line}\n`))).toEqual([`src/core/a.ts:2 ${wrong}`]);
  });

  test('a package imported by a second file, in any form', () => {
    const first = source("import { Heap } from 'heap-js';\nimport type { B } from 'heap-js';", 'src/ready/heap.ts');
    expect(sharedPackages([first])).toEqual([]);
    const forms = ["import x from 'heap-js/deep';", "export * from 'heap-js';", "void import('heap-js');"];
    for (const form of forms) {
      expect(sharedPackages([first, source(`\n${form}`)])).toEqual([
        'src/core/a.ts:2 imports heap-js, which src/ready/heap.ts already wraps',
      ]);
    }
  });

  test('scoped packages are told apart, relative and Node imports are not packages', () => {
    const a = source("import '@a/x'; import './b.js'; import 'node:fs';", 'src/a.ts');
    const b = source("import '@a/y'; import './b.js'; import 'node:fs';", 'src/b.ts');
    expect(sharedPackages([a, b])).toEqual([]);
    expect(sharedPackages([a, source("import '@a/x/deep';", 'src/c.ts')])).toEqual([
      'src/c.ts:1 imports @a/x, which src/a.ts already wraps',
    ]);
  });
});
