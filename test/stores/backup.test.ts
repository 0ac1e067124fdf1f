import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { copyStore } from '../../examples/move-store.js';
import { CouchStore } from '../../src/couchdb.js';
import { FileStore, MemoryStore, Scheduler, type Store } from '../../src/index.js';
import { PostgresStore } from '../../src/postgres.js';
import { RedisStore } from '../../src/redis.js';
import { SqliteStore } from '../../src/sqlite.js';
import { COUCH_PATIENCE_MS, couchFetch, findCouch } from '../couchdb-server.js';
import { ownRedis, redisClient, type RedisServer } from '../redis-server.js';
import { findPostgres } from '../servers.js';
import { expectWorkDone, leaveWork } from './restart-story.js';

const execute = promisify(execFile);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'precedence-backup-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** Adds tasks all the time, while copies are made: each must have at least what was acknowledged when it was begun. */
class Adder {
  acknowledged = 0;
  private readonly scheduler: Scheduler;
  private isOver = false;
  private work: Promise<void> | undefined = undefined;

  constructor(store: Store) {
    this.scheduler = new Scheduler({ store, concurrency: 0, snapshotEvery: { facts: 50 } });
    this.scheduler.define('work', () => 1);
  }

  async start(): Promise<void> {
    await this.scheduler.start();
    this.work = this.addOnAndOn();
    while (this.acknowledged < 100) await breathe();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.work;
    await this.scheduler.close();
  }

  private async addOnAndOn(): Promise<void> {
    while (!this.isOver) {
      await this.scheduler.add('work', undefined, { id: String(this.acknowledged + 1) }).accepted;
      this.acknowledged += 1;
      await breathe();
    }
  }
}

/** How many tasks of an adder a store has; none may be missing among them. */
async function addedIn(store: Store): Promise<number> {
  const scheduler = new Scheduler({ store, concurrency: 0 });
  scheduler.define('work', () => 1);
  try {
    await scheduler.start();
    const ids = scheduler.pending().map(({ id }) => id);
    expect(ids).toEqual(ids.map((_, n) => String(n + 1)));
    return ids.length;
  } finally {
    await scheduler.close();
  }
}

describe('files', () => {
  test('B5.1 a directory that is copied when it is closed has everything, also under another name', async () => {
    const path = join(folder, 'state');
    await leaveWork(new FileStore(path));
    cpSync(path, join(folder, 'copy'), { recursive: true });
    await expectWorkDone(new FileStore(join(folder, 'copy')));
    await expectWorkDone(new FileStore(path));
  });

  test('B5.1 a directory that is copied while it is written has everything acknowledged by then, or is refused', async () => {
    const path = join(folder, 'state');
    const adder = new Adder(new FileStore(path, { durability: 'os' }));
    await adder.start();
    for (let n = 0; n < 20; n++) {
      const { acknowledged } = adder;
      const copy = join(folder, `copy-${n}`);
      const isCopied = await cp(path, copy, { recursive: true }).then(
        () => true,
        () => false,
      );
      if (!isCopied) continue;
      const added = await addedIn(new FileStore(copy, { durability: 'os' })).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'CORRUPT_JOURNAL' });
      });
      if (added !== undefined) expect(added).toBeGreaterThanOrEqual(acknowledged);
    }
    await adder.stop();
  });
});

describe('SQLite', () => {
  const ways: Readonly<Record<string, (database: Database.Database, copy: string) => unknown>> = {
    'VACUUM INTO': (database, copy) => database.exec(`VACUUM INTO '${copy}'`),
    '.backup': (database, copy) => database.backup(copy),
  };

  test.each(Object.keys(ways))(
    'B5.1 a copy by %s has everything acknowledged by then, while it is written',
    async (way) => {
      const file = join(folder, 'tasks.db');
      const adder = new Adder(new SqliteStore(file, { durability: 'os' }));
      await adder.start();
      for (let n = 0; n < 5; n++) {
        const { acknowledged } = adder;
        const copy = join(folder, `copy-${n}.db`);
        const database = new Database(file, { readonly: true });
        await ways[way]!(database, copy);
        database.close();
        expect(await addedIn(new SqliteStore(copy, { durability: 'os' }))).toBeGreaterThanOrEqual(acknowledged);
      }
      await adder.stop();
    },
  );
});

/** Ends what a test began, the latest first. */
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function postgresHere(): Promise<string | undefined> {
  const server = await findPostgres();
  if (server !== undefined) endings.push(() => server.stop());
  return server?.url;
}

/** A database of the test's own. */
async function newDatabase(url: string): Promise<string> {
  const name = `precedence_backup_${randomUUID()}`;
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`CREATE DATABASE "${name}"`);
  endings.push(async () => {
    await client.query(`DROP DATABASE "${name}"`);
    await client.end();
  });
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}

function hasProgram(name: string): boolean {
  return spawnSync(name, ['--version']).status === 0;
}

describe('PostgreSQL', () => {
  test.for([
    ['a schema of its own', 'tasks', ['--schema', 'tasks']],
    ['the usual schema', 'public', ['--table', 'precedence_*']],
  ] as const)(
    'B5.1 pg_dump of %s, while it is written, has everything acknowledged by then',
    async ([, schema, what], { skip }) => {
      const url = await postgresHere();
      if (url === undefined || !hasProgram('pg_dump') || !hasProgram('psql')) return skip('there is no PostgreSQL');
      const [from, to] = [await newDatabase(url), await newDatabase(url)];
      const adder = new Adder(new PostgresStore(from, { schema }));
      await adder.start();
      const { acknowledged } = adder;
      const dump = join(folder, 'tasks.sql');
      await execute('pg_dump', [from, ...what, '--file', dump]);
      await adder.stop();
      await execute('psql', [to, '--set', 'ON_ERROR_STOP=1', '--file', dump]);
      const added = await addedIn(new PostgresStore(to, { schema }));
      expect(added).toBeGreaterThanOrEqual(acknowledged);
      expect(added).toBeLessThan(adder.acknowledged);
    },
  );
});

test('B5.1 the keys of a store in Redis go to another server by MIGRATE, which leaves them where they were', async ({
  skip,
}) => {
  const [from, to] = [await redisHere(), await redisHere()];
  if (from === undefined || to === undefined) return skip('there is no Redis server');
  const adder = new Adder(new RedisStore(from.url, { prefix: 'crawler' }));
  await adder.start();
  const { acknowledged } = adder;
  const client = redisClient(from.url);
  const keys = ['head', 'journal', 'snapshot'].map((key) => `{crawler}:${key}`);
  await client.migrate('127.0.0.1', to.port, '', 0, 5_000, 'COPY', 'KEYS', ...keys);
  client.disconnect();
  await adder.stop();
  const added = await addedIn(new RedisStore(to.url, { prefix: 'crawler' }));
  expect(added).toBeGreaterThanOrEqual(acknowledged);
  expect(added).toBeLessThan(adder.acknowledged);
});

async function redisHere(): Promise<RedisServer | undefined> {
  const server = await ownRedis();
  if (server !== undefined) endings.push(() => server.stop());
  return server;
}

test(
  'B5.1 a database of CouchDB that is replicated when it is closed has everything',
  async ({ skip }) => {
    const couch = await couchHere();
    if (couch === undefined) return skip('there is no server with the protocol of CouchDB');
    const [source, target] = [couch(), couch()];
    await leaveWork(new CouchStore(source, { settings: 'trusted' }));
    await replicate(source, target);
    await expectWorkDone(new CouchStore(target, { settings: 'trusted' }));
  },
  COUCH_PATIENCE_MS,
);

/** What CouchDB does at `_replicate`, which the server of the tests cannot do by itself: documents go over with their revisions. */
async function replicate(source: string, target: string): Promise<void> {
  const read = async (path: string): Promise<unknown> => (await couchFetch(`${source}/${path}`, 'GET')).json();
  const { results } = (await read('_changes')) as { results: { id: string; changes: { rev: string }[] }[] };
  const docs = results.map(({ id, changes }) => read(`${encodeURIComponent(id)}?revs=true&rev=${changes[0]!.rev}`));
  await couchFetch(target, 'PUT');
  const body = JSON.stringify({ docs: await Promise.all(docs), new_edits: false });
  expect((await couchFetch(`${target}/_bulk_docs`, 'POST', body)).status).toBe(201);
}

/** Gives addresses of new databases. */
async function couchHere(): Promise<(() => string) | undefined> {
  const server = await findCouch();
  if (server === undefined) return undefined;
  endings.push(() => server.stop());
  return () => {
    const url = `${server.url}/precedence-backup-${randomUUID()}`;
    endings.push(() => couchFetch(url, 'DELETE'));
    return url;
  };
}

describe('moving', () => {
  /** Stores of every kind that there is here; each is called for anew, as another process would. */
  async function everyStore(): Promise<(() => Store)[]> {
    const [postgres, redis, couch] = [await postgresHere(), await redisHere(), await couchHere()];
    const [database, address] = [postgres && (await newDatabase(postgres)), couch?.()];
    const memory = new MemoryStore();
    return [
      () => new FileStore(join(folder, 'state'), { durability: 'os' }),
      () => new SqliteStore(join(folder, 'tasks.db'), { durability: 'os' }),
      ...(database === undefined ? [] : [() => new PostgresStore(database)]),
      ...(redis === undefined ? [] : [() => new RedisStore(redis.url)]),
      ...(address === undefined ? [] : [() => new CouchStore(address, { settings: 'trusted' })]),
      () => memory,
    ];
  }

  test.each([
    ['a scheduler that was closed', 'closed', Infinity],
    ['one that was killed', 'killed', Infinity],
    ['one that was killed after a snapshot', 'killed', 5],
  ] as const)(
    'B5.1 what %s has left goes on after it was copied from store to store',
    async (_, end, facts) => {
      let from: () => Store = (() => {
        const store = new MemoryStore();
        return () => store;
      })();
      await leaveWork(from(), end, { snapshotEvery: { facts } });
      for (const to of await everyStore()) {
        await copyStore(from(), to());
        from = to;
      }
      await expectWorkDone(from());
    },
    COUCH_PATIENCE_MS,
  );

  test('the guide shows what is tried here', () => {
    const [guide, example] = ['docs/stores.md', 'examples/move-store.ts'].map((path) =>
      readFileSync(join(import.meta.dirname, '../..', path), 'utf8'),
    );
    const [shown] = /^async function copyStore[^]*?^}$/m.exec(guide!)!;
    expect(example).toContain(shown);
  });

  test('B5.1 a store that is not empty is not copied into', async () => {
    const [from, to] = [new MemoryStore(), new MemoryStore()];
    await leaveWork(from);
    await leaveWork(to);
    await expect(copyStore(from, to)).rejects.toThrow('memory is not empty');
  });
});
