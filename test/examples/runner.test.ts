import { describe, expect, test } from 'vitest';

import type { Example, Registry } from '../../examples/index.js';
import { runExamples } from '../../examples/runner.js';
import { plainTheatre } from '../../examples/stage.js';

function example(title: string, run: Example['run']): () => Promise<Example> {
  return () => Promise.resolve({ title, run });
}

const hello = example('Says hello', (print) => {
  print('hello');
});
const broken = example('Breaks', () => {
  throw new Error('on purpose');
});

async function outcome(args: string[], examples: Registry): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = [];
  const code = await runExamples(
    args,
    examples,
    plainTheatre((line) => lines.push(line)),
  );
  return { code, lines };
}

describe('the examples runner', () => {
  test('runs a single example without being asked', async () => {
    expect(await outcome([], new Map([['hello', hello]]))).toEqual({
      code: 0,
      lines: ['--- hello: Says hello', 'hello'],
    });
  });

  test('lists the examples by name and title', async () => {
    const { code, lines } = await outcome(
      ['--list'],
      new Map([
        ['hello', hello],
        ['broken', broken],
      ]),
    );
    expect(code).toBe(0);
    expect(lines.slice(0, 2)).toEqual(['hello: Says hello', 'broken: Breaks']);
  });

  test('goes on after a failing example and exits with 1', async () => {
    const { code, lines } = await outcome(
      ['--all'],
      new Map([
        ['broken', broken],
        ['hello', hello],
      ]),
    );
    expect(code).toBe(1);
    expect(lines).toContain('  Error: on purpose');
    expect(lines.at(-1)).toBe('hello');
  });

  test('refuses a name that does not exist, and shows its control characters', async () => {
    const { code, lines } = await outcome(['a\u001b[2J\nb'], new Map([['hello', hello]]));
    expect(code).toBe(2);
    expect(lines[0]).toContain('"a\\u{1b}[2J\\u{a}b"');
  });

  test('refuses more than one argument', async () => {
    expect((await outcome(['--list', 'hello'], new Map([['hello', hello]]))).code).toBe(2);
  });

  test('one printed line stays one line', async () => {
    const forger = example('Forges', (print) => {
      print('one\ntwo\u202e\tend');
    });
    expect((await outcome(['f'], new Map([['f', forger]]))).lines).toContain('one\\u{a}two\\u{202e}\tend');
  });
});
