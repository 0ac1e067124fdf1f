import { cpSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FileStore, type Files, type Logger, type Store } from '../../src/index.js';

/** The stores that keep everything in files of this machine. */
export const FILE_KINDS = ['file', 'sqlite'] as const;
/** Those whose server lives on when a process dies. */
const SERVER_KINDS = ['postgres', 'redis'] as const;
export const STORE_KINDS = [...FILE_KINDS, ...SERVER_KINDS] as const;
export type StoreKind = (typeof STORE_KINDS)[number];

// A torn tail is cut off with a warning, and torn tails are what happens here.
const silent = (): void => undefined;
const quiet: Logger = { debug: silent, info: silent, warn: silent, error: silent };

/** Where the servers are; a test that has found or started another one says so here, for its children too. */
export const POSTGRES = 'PRECEDENCE_POSTGRES_URL';
export const REDIS = 'PRECEDENCE_REDIS_URL';
const postgresUrl = (): string => process.env[POSTGRES] ?? 'postgres://postgres@127.0.0.1:5432/test';
const redisUrl = (): string => process.env[REDIS] ?? 'redis://127.0.0.1:6379';

/** The store in that directory of a run, which exists; on a server, the one that goes by its name. */
export async function storeAt(kind: StoreKind, directory: string, files?: Files): Promise<Store> {
  const run = dirname(directory);
  const campaign = basename(dirname(run));
  // What one kind needs is not loaded for the others: hundreds of processes begin with this.
  switch (kind) {
    case 'file':
      return new FileStore(directory, { logger: quiet, files });
    case 'sqlite': {
      const { SqliteStore } = await import('../../src/sqlite.js');
      return new SqliteStore(join(directory, 'tasks.db'));
    }
    case 'postgres': {
      const { PostgresStore } = await import('../../src/postgres.js');
      return new PostgresStore(postgresUrl(), { schema: campaign, prefix: `${basename(run)}_` });
    }
    case 'redis': {
      const { RedisStore } = await import('../../src/redis.js');
      // The server is not what dies here.
      return new RedisStore(redisUrl(), { prefix: `${campaign}:${basename(run)}`, settings: 'trusted' });
    }
  }
}

/** Looking opens a store, which changes it: so a copy is looked at. On a server it only makes the epochs grow. */
export function copyOf(kind: StoreKind, directory: string, copy: string): string {
  mkdirSync(copy);
  if (SERVER_KINDS.some((server) => server === kind)) return directory;
  cpSync(directory, copy, { recursive: true });
  return copy;
}

/** Takes away what the runs of a campaign have left on a server. */
export async function clearServer(kind: StoreKind, campaign: string): Promise<void> {
  if (kind === 'postgres') {
    const { default: pg } = await import('pg');
    const client = new pg.Client(postgresUrl());
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS "${campaign}" CASCADE`);
    await client.end();
  }
  if (kind === 'redis') {
    const { Redis } = await import('ioredis');
    const client = new Redis(redisUrl());
    for await (const keys of client.scanStream({ match: `{${campaign}:*` }) as AsyncIterable<string[]>) {
      if (keys.length > 0) await client.del(keys);
    }
    client.disconnect();
  }
}
