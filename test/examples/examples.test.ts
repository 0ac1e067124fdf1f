import { expect, test } from 'vitest';

import { examples } from '../../examples/index.js';
import { runExamples } from '../../examples/runner.js';
import { plainTheatre } from '../../examples/stage.js';

test('every example runs to its end', async () => {
  const lines: string[] = [];
  expect(
    await runExamples(
      ['--all'],
      examples,
      plainTheatre((line) => lines.push(line)),
    ),
  ).toBe(0);
  expect(lines.filter((line) => line.startsWith('---'))).toHaveLength(examples.size);
});

test('C13 the first example prints what the core decided, and why', async () => {
  const lines: string[] = [];
  await runExamples(
    ['first-core'],
    examples,
    plainTheatre((line) => lines.push(line)),
  );
  const story = lines.join('\n');
  expect(story).toContain('running: compile#1, render#1');
  expect(story).toContain('Task "package" waits for "compile" (running), "render" (running).');
  expect(story).toContain('it lacks 1 of "gpu" (needs 1, free 0), held by "render#1"');
  expect(story).toContain('Task "compile" is tried again in 1000 ms, after attempt 1 failed: Error, "disk is full".');
  expect(story).toContain('started in this order: compile#1, render#1, docs#1, compile#2, thumbnails#1, package#1');
});

async function storyOf(name: string): Promise<string> {
  const lines: string[] = [];
  await runExamples(
    [name],
    examples,
    plainTheatre((line) => lines.push(line)),
  );
  return lines.join('\n');
}

test('A1.1 the build graph is published sooner by its critical path', async () => {
  const story = await storyOf('build-graph');
  expect(story).toContain('FIFO: published after 120 s');
  expect(story).toContain('critical path → deadline → FIFO: published after 100 s');
});

test('D12.1 D12.3 the GPU is shared by weight, and a newcomer gets its turn at once', async () => {
  const story = await storyOf('shared-gpu');
  expect(story).toContain('the first four turns: flood gold gold flood\n');
  expect(story).toContain('with a newcomer: gold late gold');
});

test('C6 F8 the model calls keep to their rates, and to what the other side asks for', async () => {
  const story = await storyOf('model-calls');
  expect(story).toContain('0.0 s  typo starts, attempt 1');
  expect(story).toContain('12.0 s  summary starts, attempt 2');
});

test('E2.2 E4 regular work happens at its hour, also after the clocks have changed', async () => {
  const story = await storyOf('regular-work');
  expect(story).toContain('Sat, 09:00 GMT+1: daily report');
  expect(story).toContain('Sun, 09:00 GMT+2: daily report');
  expect(story).toContain('reports: 3, backups: 3 (ended)');
});

test('C10.1 C10.2 the film makes way for the news, and goes on from where it was', async () => {
  const story = await storyOf('media-pipeline');
  expect(story).toContain('21 min  headline: encoding');
  expect(story).toContain('31 min  trailer: encoding');
  expect(story).toContain('36 min  film: encoding from minute 21');
  expect(story).not.toContain('late');
});

test('C8.3 the source is read no further ahead than was said', async () => {
  expect(await storyOf('streaming')).toMatch(/at most [1-8] ahead/);
});

test('B4.1 the crawl goes on in a second process where the first one stopped', async () => {
  const story = await storyOf('crawl');
  const [before, after] = story.split('the first process is gone');
  expect(before).toContain('/ has 2 links (attempt 1)');
  expect(before).not.toContain('/shop has');
  expect(after).toContain('goes on with 2 pages');
  for (const page of ['/shop', '/blog']) expect(after).toContain(`${page} has`);
  for (const page of ['/shop/tea', '/shop/cups', '/blog/water']) expect(after?.split(`${page} has`)).toHaveLength(2);
});
