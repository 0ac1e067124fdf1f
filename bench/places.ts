import { randomUUID } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import type { Store } from '../src/index.js';
import { ownRedis, redisClient } from '../test/redis-server.js';
import { findPostgres } from '../test/servers.js';
import { folderIn } from './durable.js';
import { loadFileStore } from './ours.js';

/** A store that is empty at first and keeps what it says it keeps, and how much it takes there. */
export interface Place {
  readonly store: Store;
  /** Bytes of the journal, and of the snapshot, without what is let go and not given back yet. */
  size(of: 'journal' | 'snapshot'): number | Promise<number>;
  remove(): Promise<void>;
}

export type Open = (folder: string) => Promise<Place>;

const files: Open = async (folder) => {
  const FileStore = await loadFileStore();
  const directory = folderIn(folder);
  return {
    store: new FileStore(directory),
    size: (of) => {
      const names = readdirSync(directory).filter((name) => name.startsWith(of));
      return names.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
    },
    remove: () => Promise.resolve(),
  };
};

const sqlite: Open = async (folder) => {
  const { SqliteStore } = await import('../src/sqlite.js');
  const path = join(folderIn(folder), 'tasks.db');
  return {
    store: new SqliteStore(path),
    size: (of) => {
      const database = new Database(path, { readonly: true });
      const pages = database.prepare('SELECT sum(pgsize) FROM dbstat WHERE name = ?').pluck();
      return pages.get(`precedence_${of}`) as number;
    },
    remove: () => Promise.resolve(),
  };
};

const postgres: Open = async () => {
  const { PostgresStore } = await import('../src/postgres.js');
  const server = await findPostgres();
  if (server === undefined) throw new Error('There is no PostgreSQL server on this machine.');
  const schema = `bench ${randomUUID()}`;
  const ask = async (text: string, values: readonly string[] = []): Promise<unknown> => {
    const client = new pg.Client(server.url);
    await client.connect();
    const { rows } = await client.query<{ answer: unknown }>(text, [...values]);
    await client.end();
    return rows[0]?.answer;
  };
  return {
    store: new PostgresStore(server.url, { schema }),
    size: async (of) =>
      Number(await ask('SELECT pg_total_relation_size($1::regclass) AS answer', [`"${schema}".precedence_${of}`])),
    remove: async () => {
      await ask(`DROP SCHEMA "${schema}" CASCADE`);
      await server.stop();
    },
  };
};

const redis: Open = async () => {
  const { RedisStore } = await import('../src/redis.js');
  const server = await ownRedis();
  if (server === undefined) throw new Error('There is no Redis server on this machine.');
  return {
    store: new RedisStore(server.url, { prefix: 'bench' }),
    size: async (of) => {
      const client = redisClient(server.url);
      const bytes = await client.call('MEMORY', 'USAGE', `{bench}:${of}`, 'SAMPLES', '0');
      client.disconnect();
      return Number(bytes);
    },
    remove: () => server.stop(),
  };
};

/** By the name that their rows have in the tables. */
export const places = { files, SQLite: sqlite, PostgreSQL: postgres, Redis: redis } as const;
