import { expect, test } from 'vitest';

import { examples } from '../../examples/index.js';
import { runExamples } from '../../examples/runner.js';

test('every example runs to its end', async () => {
  const lines: string[] = [];
  expect(await runExamples(['--all'], examples, (line) => lines.push(line))).toBe(0);
  expect(lines.filter((line) => line.startsWith('---'))).toHaveLength(examples.size);
});

test('C13 the first example prints what the core decided, and why', async () => {
  const lines: string[] = [];
  await runExamples(['first-core'], examples, (line) => lines.push(line));
  const story = lines.join('\n');
  expect(story).toContain('running: compile#1, render#1');
  expect(story).toContain('Task "package" waits for "compile" (running), "render" (running).');
  expect(story).toContain('it lacks 1 of "gpu" (needs 1, free 0), held by "render#1"');
  expect(story).toContain('Task "compile" is tried again in 1000 ms, after attempt 1 failed: Error, "disk is full".');
  expect(story).toContain('started in this order: compile#1, render#1, docs#1, compile#2, thumbnails#1, package#1');
});
