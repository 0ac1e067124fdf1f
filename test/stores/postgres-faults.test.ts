import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { DeposedError, InvalidConfigError, StoreError, UnsupportedVersionError } from '../../src/index.js';
import type { Store } from '../../src/ports/store.js';
import { PostgresStore, type PostgresStoreOptions } from '../../src/postgres.js';
import { CuttingProxy, type Cut } from '../cutting-proxy.js';
import { ownPostgres } from '../servers.js';

const server = await ownPostgres();
const url = server?.url ?? '';

afterAll(() => server?.stop());

async function ask(question: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(question, values)).rows;
  } finally {
    await client.end();
  }
}

/** Every record, as a store that comes later finds it. */
async function recordsIn(store: Store): Promise<string[]> {
  await store.open();
  const records: string[] = [];
  for await (const piece of store.load()) if (piece.kind === 'records') records.push(...piece.bodies);
  await store.close();
  return records;
}

const place = (): PostgresStoreOptions => ({ prefix: `p${randomUUID()}_`, patience: '20s', timeout: '5s' });

describe.skipIf(server === undefined)('row 41: when PostgreSQL is lost in the middle, nothing is applied twice', () => {
  /** A way to the server that can be cut, and a store that takes it. */
  async function throughProxy(options: PostgresStoreOptions): Promise<{ proxy: CuttingProxy; store: PostgresStore }> {
    const address = new URL(url);
    const proxy = await CuttingProxy.start(Number(address.port || 5432));
    address.host = `127.0.0.1:${proxy.port}`;
    return { proxy, store: new PostgresStore(address.href, options) };
  }

  test.each<Cut>(['request', 'answer'])('the %s of an append is lost with its connection', async (cut) => {
    const options = place();
    const { proxy, store } = await throughProxy(options);
    const { epoch } = await store.open();
    for (let n = 0; n < 10; n++) {
      proxy.loseNext(cut, 'INSERT INTO');
      await store.append(n, epoch, `[${n}]`);
    }
    await store.close();
    await proxy.stop();
    expect(proxy.lost).toBe(10);
    expect(await recordsIn(new PostgresStore(url, options))).toEqual(Array.from({ length: 10 }, (_, n) => `[${n}]`));
  });

  test('what is still under way when its connection is given up does not get in any more', async () => {
    const options = { ...place(), timeout: '300ms' };
    const store = new PostgresStore({ connectionString: url, statement_timeout: 0 }, options);
    const { epoch } = await store.open();
    const blocker = new pg.Client(url);
    await blocker.connect();
    await blocker.query(`BEGIN; SELECT * FROM "${options.prefix}store" FOR UPDATE`);
    const appended = store.append(0, epoch, '["once"]');
    // The first append is given up while it waits for the lock, and so is whoever asks what has become of it.
    await expect.poll(async () => (await waiting()).length, { timeout: 20_000 }).toBeGreaterThan(1);
    await blocker.query('COMMIT');
    await blocker.end();
    await appended;
    await expect.poll(waiting, { timeout: 20_000 }).toEqual([]);
    await store.append(1, epoch, '["twice"]');
    await store.close();
    expect(await recordsIn(new PostgresStore(url, options))).toEqual(['["once"]', '["twice"]']);
  });

  const waiting = (): Promise<Record<string, unknown>[]> =>
    ask(`SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'precedence'`);

  test('whoever was deposed while it did not know learns both: that its record is there, and that it is deposed', async () => {
    const options = place();
    const { proxy, store } = await throughProxy(options);
    const { epoch } = await store.open();
    proxy.loseNext('answer', 'INSERT INTO');
    const rival = new PostgresStore(url, options);
    const appended = store.append(0, epoch, '["mine"]');
    await expect.poll(() => proxy.lost).toBe(1);
    await rival.open();
    await appended;
    await expect(store.append(1, epoch, '["late"]')).rejects.toThrow(DeposedError);
    await store.close();
    await rival.close();
    await proxy.stop();
    expect(await recordsIn(new PostgresStore(url, options))).toEqual(['["mine"]']);
  });

  test.each(['SIGINT', 'SIGQUIT'] as const)(
    'the server is restarted by %s while records are appended',
    async (signal) => {
      const options = place();
      const store = new PostgresStore(url, options);
      const { epoch } = await store.open();
      let acknowledged = 0;
      const over = new AbortController();
      const appending = (async () => {
        while (!over.signal.aborted) {
          await store.append(acknowledged, epoch, `[${acknowledged}]`);
          acknowledged += 1;
        }
      })();
      for (let round = 0; round < 2; round++) {
        const before = acknowledged;
        await expect.poll(() => acknowledged, { timeout: 20_000 }).toBeGreaterThan(before + 20);
        await server!.end(signal);
        await server!.run();
      }
      const before = acknowledged;
      await expect.poll(() => acknowledged, { timeout: 20_000 }).toBeGreaterThan(before);
      over.abort();
      await appending;
      await store.close();
      const expected = Array.from({ length: acknowledged }, (_, n) => `[${n}]`);
      expect(await recordsIn(new PostgresStore(url, options))).toEqual(expected);
    },
    90_000,
  );
});

describe.skipIf(server === undefined)('PostgreSQL', () => {
  test('a server that does not answer is given up after a while, and connections with it', async () => {
    const store = new PostgresStore('postgres://postgres@127.0.0.1:1/none', { patience: '200ms' });
    await expect(store.open()).rejects.toThrow(StoreError);
    const unknown = new PostgresStore(url.replace(/[^/]+$/, 'nowhere'));
    await expect(unknown.open()).rejects.toThrow(/database "nowhere" does not exist|nowhere/);
  });

  test('G5: two rivals append at once, and each number is given once', async () => {
    const options = place();
    const former = new PostgresStore(url, options);
    const { epoch: formerEpoch } = await former.open();
    const latter = new PostgresStore(url, options);
    const { epoch } = await latter.open();
    const ends = await Promise.allSettled([
      former.append(0, formerEpoch, '["former"]'),
      latter.append(0, epoch, '["latter"]'),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    await former.close();
    await latter.close();
    expect(await recordsIn(new PostgresStore(url, options))).toEqual(['["latter"]']);
  });

  test('tables are made by several at once, and each of them gets an epoch of its own', async () => {
    const options = { ...place(), schema: `made at once ${randomUUID()}` };
    const stores = Array.from({ length: 6 }, () => new PostgresStore({ connectionString: url, max: 1 }, options));
    const opened = await Promise.all(stores.map((store) => store.open()));
    expect(opened.map(({ epoch }) => epoch).sort()).toEqual([1, 2, 3, 4, 5, 6]);
    await Promise.all(stores.map((store) => store.close()));
  });

  test.each([
    [`it's "quoted"; DROP TABLE x; --`, `\\ $1 %s '`],
    ['schéma 漢字 👩‍👩‍👧', 'ä"ö_'],
    ['UPPER lower', ''],
  ])('any schema and prefix will do: %s, %s', async (schema, prefix) => {
    const store = new PostgresStore(url, { schema, prefix });
    const { epoch } = await store.open();
    await store.append(0, epoch, '[1]');
    await store.close();
    const tables = await ask('SELECT table_name FROM information_schema.tables WHERE table_schema = $1', [schema]);
    expect(tables.map(({ table_name: name }) => name).sort()).toEqual(
      ['journal', 'snapshot', 'store', 'tasks'].map((name) => prefix + name),
    );
  });

  test.each([
    [{ schema: '' }, 'schema'],
    [{ schema: 'pg_catalog' }, 'schema'],
    [{ schema: 'a\0b' }, 'schema'],
    [{ schema: 'ö'.repeat(32) }, 'schema'],
    [{ prefix: '\ud800' }, 'prefix'],
    [{ prefix: 'x'.repeat(56) }, 'prefix'],
    [{ prefix: 7 as unknown as string }, 'prefix'],
    [{ durability: 'none' as 'os' }, 'durability'],
    [{ patience: 0 }, 'patience'],
    [{ timeout: 'soon' }, 'timeout'],
    [{ schemas: 'a' } as PostgresStoreOptions, 'schemas'],
  ])('%o is refused', (options, field) => {
    expect(() => new PostgresStore(url, options)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field }));
  });

  test('a connection that is none is refused', () => {
    for (const none of ['', undefined, null, 7]) {
      expect(() => new PostgresStore(none as unknown as string)).toThrow(InvalidConfigError);
    }
  });

  test('tables of a newer version are refused, and stay as they are', async () => {
    const options = place();
    const store = new PostgresStore(url, options);
    await store.open();
    await store.close();
    await ask(`UPDATE "${options.prefix}store" SET version = 99`);
    await expect(store.open()).rejects.toThrow(UnsupportedVersionError);
    expect(await ask(`SELECT epoch, version FROM "${options.prefix}store"`)).toEqual([{ epoch: '1', version: 99 }]);
  });

  test('G1: a server that does not wait for the disk cannot keep fsync, and may keep os', async () => {
    const lax = new URL(url);
    lax.searchParams.set('options', '-c synchronous_commit=off');
    const options = place();
    await expect(new PostgresStore(lax.href, options).open()).rejects.toThrow(
      /durability is "fsync"; expected "os", as synchronous_commit is off/,
    );
    const store = new PostgresStore(lax.href, { ...options, durability: 'os' });
    const { epoch } = await store.open();
    await store.append(0, epoch, '[1]');
    await store.close();
  });

  test('G1: a server that stops waiting for the disk later is found out at the next append', async () => {
    const store = new PostgresStore(url, place());
    const { epoch } = await store.open();
    await store.append(0, epoch, '[1]');
    await ask('ALTER SYSTEM SET synchronous_commit = off');
    try {
      await ask('SELECT pg_reload_conf()');
      await expect
        .poll(async () => (await ask(`SELECT current_setting('synchronous_commit') AS now`))[0]?.['now'])
        .toBe('off');
      await expect(store.append(1, epoch, '[2]')).rejects.toThrow(/synchronous_commit was switched off/);
    } finally {
      await ask('ALTER SYSTEM RESET synchronous_commit');
      await ask('SELECT pg_reload_conf()');
      await store.close();
    }
  });

  test('a pool of the caller stays open and gets all its connections back', async () => {
    const pool = new pg.Pool({ connectionString: url, max: 3 });
    const store = new PostgresStore(pool, place());
    const { epoch } = await store.open();
    await store.append(0, epoch, '[1]');
    await store.append(7, epoch, '["wrong"]').catch(() => undefined);
    // A load that is left in the middle.
    for await (const piece of store.load()) if (piece.kind === 'records') break;
    await store.close();
    expect([pool.totalCount - pool.idleCount, pool.waitingCount]).toEqual([0, 0]);
    expect((await pool.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  test('a store that is closed leaves no connection behind', async () => {
    const name = `leaves ${randomUUID()}`;
    const store = new PostgresStore({ connectionString: url, application_name: name }, place());
    const { epoch } = await store.open();
    await store.append(0, epoch, '[1]');
    await store.close();
    const open = async (): Promise<unknown> =>
      (await ask('SELECT FROM pg_stat_activity WHERE application_name = $1', [name])).length;
    await expect.poll(open).toBe(0);
  });
});
