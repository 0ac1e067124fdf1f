import { randomUUID } from 'node:crypto';
import pg from 'pg';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { PostgresStore } from '../../src/postgres.js';
import { findPostgres } from '../servers.js';
import { comparable, someKeptRun, storyOf, write, type TaskRow } from './kept-runs.js';

const server = await findPostgres();
const client = new pg.Client(server?.url);
if (server !== undefined) await client.connect();

afterAll(async () => {
  await client.end();
  await server?.stop();
});

const COLUMNS = ['due_at', 'started_at', 'ended_at', 'deadline']
  .map((name) => `(extract(epoch FROM ${name}) * 1000)::double precision AS ${name}`)
  .join(', ');

async function inSchema(work: (schema: string) => Promise<void>): Promise<void> {
  const schema = `precedence test ${randomUUID()}`;
  try {
    await work(schema);
  } finally {
    await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  }
}

async function shownIn(schema: string): Promise<TaskRow[]> {
  const columns = `id, sequence, type, channel, level, state, attempts, worker, ${COLUMNS}`;
  const { rows } = await client.query<TaskRow>(`SELECT ${columns} FROM "${schema}".precedence_tasks ORDER BY sequence`);
  return rows;
}

test.skipIf(server === undefined)(
  'PostgreSQL shows every task as the core has it, from the journal and from a snapshot',
  async () => {
    await fc.assert(
      fc.asyncProperty(someKeptRun, (run) =>
        inSchema(async (schema) => {
          const store = new PostgresStore(server!.url, { schema, durability: 'os' });
          await write(store, run);
          await store.close();
          const rows = await shownIn(schema);
          expect(comparable(rows)).toEqual(run.tasks);
        }),
      ),
      { numRuns: 25, interruptAfterTimeLimit: 50_000 },
    );
  },
  60_000,
);

test.skipIf(server === undefined).each(['no', 'the end'] as const)(
  'PostgreSQL shows times, and texts that are hard to read, with a snapshot at %s',
  (at) =>
    inSchema(async (schema) => {
      const run = storyOf(at);
      const store = new PostgresStore(server!.url, { schema });
      await write(store, run);
      await store.close();
      expect(await shownIn(schema)).toEqual(run.tasks);
    }),
);
