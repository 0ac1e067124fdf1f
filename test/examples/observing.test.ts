import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examples } from '../../examples/index.js';
import { runExamples } from '../../examples/runner.js';
import { plainTheatre } from '../../examples/stage.js';
import { EVENT_NAMES } from '../../src/ports/events.js';

const root = join(import.meta.dirname, '../..');
const guide = readFileSync(join(root, 'docs/observing.md'), 'utf8');

test('D10.3 the guide on observing names every event, and shows only code that the example runs', () => {
  for (const name of EVENT_NAMES) expect(guide, name).toContain(`\`${name}\``);
  const example = readFileSync(join(root, 'examples/observing.ts'), 'utf8').replaceAll(/^ +/gm, '');
  const snippets = [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code.replaceAll(/^ +/gm, ''));
  expect(snippets.length).toBeGreaterThan(5);
  for (const snippet of snippets) expect(example).toContain(snippet.trim());
});

test('D10.3 F7.1 C13.3 the example on observing tells what happened', async () => {
  const lines: string[] = [];
  await runExamples(
    ['observing'],
    examples,
    plainTheatre((line) => lines.push(line)),
  );
  const story = lines.join('\n');
  for (const line of [
    'the order is priority → channel → FIFO',
    'a listener to added failed: Error: a broken listener',
    'fetch#1 starts on local',
    'fetch is tried again in 5 ms',
    'fetch has come to 0.5',
    'parsed a page',
    '4 completed in 5 attempts, 1 of them tried again',
    'acme: 3 claimed, 0 pending',
    '4 ends were published',
  ]) {
    expect(story).toContain(line);
  }
  expect(story).toMatch(
    /log: task is tried again .*"taskId":"fetch","attempt":1,"channel":"acme","priority":2,"workerId":"local"/,
  );
});
