import pg from 'pg';
import { expect, test } from 'vitest';
import { findPostgres, ownPostgres } from './servers.js';

async function answerOf(url: string, question: string): Promise<unknown> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<{ answer: unknown }>(question);
    return rows[0]?.answer;
  } finally {
    await client.end();
  }
}

test('a PostgreSQL server is found or started', async ({ skip }) => {
  const server = await findPostgres();
  if (server === undefined) return skip('there is none');
  try {
    expect(await answerOf(server.url, 'SELECT 1 AS answer')).toBe(1);
  } finally {
    await server.stop();
  }
});

test('a PostgreSQL server of its own keeps what it has over an end, and takes settings', async ({ skip }) => {
  const server = await ownPostgres('fsync=off');
  if (server === undefined) return skip('there is none');
  try {
    expect(await answerOf(server.url, "SELECT current_setting('fsync') AS answer")).toBe('off');
    await answerOf(server.url, 'CREATE TABLE kept AS SELECT 7 AS n');
    await server.end('SIGINT');
    await server.run();
    expect(await answerOf(server.url, "SELECT n || current_setting('fsync') AS answer FROM kept")).toBe('7on');
  } finally {
    await server.stop();
  }
});
