import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SqliteStore } from '../../src/sqlite.js';
import { comparable, someKeptRun, storyOf, write, type TaskRow } from './kept-runs.js';

const TIMES = ['due_at', 'started_at', 'ended_at', 'deadline'] as const;

function shownIn(file: string): TaskRow[] {
  const database = new Database(file, { readonly: true });
  try {
    const rows = database.prepare('SELECT * FROM precedence_tasks').all() as Record<string, unknown>[];
    return rows.map((row) => {
      const times = TIMES.map((name) => [name, row[name] === null ? null : Date.parse(row[name] as string)]);
      return { ...row, ...Object.fromEntries(times) } as TaskRow;
    });
  } finally {
    database.close();
  }
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'precedence-sqlite-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('SQLite shows every task as the core has it, from the journal and from a snapshot', async () => {
  await fc.assert(
    fc.asyncProperty(someKeptRun, (run) =>
      inFolder(async (folder) => {
        const file = join(folder, 'tasks.db');
        const store = new SqliteStore(file, { durability: 'os' });
        await write(store, run);
        await store.close();
        const shown = shownIn(file);
        expect(comparable(shown)).toEqual(run.tasks);
        const ended = shown.filter(({ ended_at }) => ended_at !== null).map(({ id }) => id);
        const final = shown.filter(({ state }) => /completed|failed|cancelled|skipped/.test(state));
        expect(final.map(({ id }) => id)).toEqual(expect.arrayContaining(ended));
      }),
    ),
    { numRuns: 100, interruptAfterTimeLimit: 50_000 },
  );
}, 60_000);

test.each(['no', 'the end'] as const)(
  'SQLite shows times, and texts that are hard to read, with a snapshot at %s',
  (at) =>
    inFolder(async (folder) => {
      const file = join(folder, 'tasks.db');
      const run = storyOf(at);
      const store = new SqliteStore(file);
      await write(store, run);
      await store.close();
      expect(shownIn(file)).toEqual(run.tasks);
    }),
);
