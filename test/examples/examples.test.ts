import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examples } from '../../examples/index.js';
import { findPostgres, freePort, type FoundServer } from '../servers.js';
import { buildExamples, runBuilt, type Run } from './built-examples.js';

let postgres: FoundServer | undefined;
/** Where the examples put what they need for a while. */
let scratch: string;
let all: Run;

beforeAll(async () => {
  await buildExamples();
  postgres = await findPostgres();
  scratch = mkdtempSync(join(tmpdir(), 'precedence-examples-'));
  all = await runBuilt('--all', { TMPDIR: scratch, ...(postgres && { PRECEDENCE_POSTGRES_URL: postgres.url }) });
});

afterAll(async () => {
  rmSync(scratch, { recursive: true });
  await postgres?.stop();
});

/** What an example has printed. */
function storyOf(name: string): string {
  const [, story = ''] = all.lines.join('\n').split(`--- ${name}: `);
  return story.split('\n--- ')[0]!;
}

test('every example runs to its end, and leaves nothing behind', async () => {
  expect(all.code).toBe(0);
  expect(all.lines.filter((line) => line.startsWith('---'))).toHaveLength(examples.size);
  expect(readdirSync(scratch)).toEqual([]);
  if (postgres === undefined) return;
  const client = new pg.Client(postgres.url);
  await client.connect();
  const { rows } = await client.query("SELECT FROM pg_namespace WHERE nspname = 'precedence_crawl_' || $1", [all.pid]);
  expect(rows).toEqual([]);
  await client.end();
});

test('C13 the first example prints what the core decided, and why', () => {
  const story = storyOf('first-core');
  expect(story).toContain('running: compile#1, render#1');
  expect(story).toContain('Task "package" waits for "compile" (running), "render" (running).');
  expect(story).toContain('it lacks 1 of "gpu" (needs 1, free 0), held by "render#1"');
  expect(story).toContain('Task "compile" is tried again in 1000 ms, after attempt 1 failed: Error, "disk is full".');
  expect(story).toContain('started in this order: compile#1, render#1, docs#1, compile#2, thumbnails#1, package#1');
});

test('A1.1 the build graph is published sooner by its critical path', () => {
  const story = storyOf('build-graph');
  expect(story).toContain('FIFO: published after 120 s');
  expect(story).toContain('critical path → deadline → FIFO: published after 100 s');
});

test('D12.1 D12.3 the GPU is shared by weight, and a newcomer gets its turn at once', () => {
  const story = storyOf('shared-gpu');
  expect(story).toContain('the first four turns: flood gold gold flood\n');
  expect(story).toContain('with a newcomer: gold late gold');
});

test('C6 F8 the model calls keep to their rates, and to what the other side asks for', () => {
  const story = storyOf('model-calls');
  expect(story).toContain('0.0 s  typo starts, attempt 1');
  expect(story).toContain('12.0 s  summary starts, attempt 2');
});

test('E2.2 E4 regular work happens at its hour, also after the clocks have changed', () => {
  const story = storyOf('regular-work');
  expect(story).toContain('Sat, 09:00 GMT+1: daily report');
  expect(story).toContain('Sun, 09:00 GMT+2: daily report');
  expect(story).toContain('reports: 3, backups: 3 (ended)');
});

test('C10.1 C10.2 the film makes way for the news, and goes on from where it was', () => {
  const story = storyOf('media-pipeline');
  expect(story).toContain('21 min  headline: encoding');
  expect(story).toContain('31 min  trailer: encoding');
  expect(story).toContain('36 min  film: encoding from minute 21');
  expect(story).not.toContain('late');
});

test('C8.3 the source is read no further ahead than was said', () => {
  expect(storyOf('streaming')).toMatch(/at most [1-8] ahead/);
});

test.for(['crawl', 'crawl-sqlite', 'crawl-postgres'])(
  'B4.1 G1 G2 a crawl whose process is killed goes on in another one: no page is lost, none fetched again needlessly (%s)',
  (name, { skip }) => {
    if (name === 'crawl-postgres' && postgres === undefined) return skip('there is no PostgreSQL server');
    const story = storyOf(name);
    const [before = '', after = ''] = story.split('(the first process was killed)');
    const kept = [...before.matchAll(/^process 1 has (.*)$/gm)].map(([, page]) => page);
    expect(kept.length).toBeGreaterThanOrEqual(5);
    for (const page of kept) expect(after).not.toContain(`process 2 fetches ${page}\n`);
    expect(after).toContain('12 pages: 0 lost, 0 fetched again needlessly');
  },
);

test('without a PostgreSQL server its example says how to get one, and ends well', async () => {
  const nowhere = `postgres://postgres@127.0.0.1:${await freePort()}/test`;
  const { code, lines } = await runBuilt('crawl-postgres', { PRECEDENCE_POSTGRES_URL: nowhere });
  expect(code).toBe(0);
  expect(lines.join('\n')).toMatch(
    /There is no PostgreSQL server .*ECONNREFUSED[^]*PRECEDENCE_POSTGRES_URL[^]*docker run/,
  );
});
