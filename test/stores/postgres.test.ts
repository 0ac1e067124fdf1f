import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, describe, test } from 'vitest';
import { PostgresStore, type PostgresStoreOptions } from '../../src/postgres.js';
import { storeChecks, type StorePlace } from '../../src/testing/index.js';
import { findPostgres } from '../servers.js';
import { expectRestart, expectTakeover } from './restart-story.js';

const server = await findPostgres();

function place(url: string, options: PostgresStoreOptions): StorePlace {
  const schema = `precedence test ${randomUUID()}`;
  return {
    store: () => new PostgresStore(url, { schema, ...options }),
    remove: async () => {
      const client = new pg.Client(url);
      await client.connect();
      await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
      await client.end();
    },
  };
}

describe.skipIf(server === undefined).each(['fsync', 'os'] as const)(
  'the store in PostgreSQL conforms (%s)',
  (durability) => {
    for (const { name, run } of storeChecks({ place: () => place(server!.url, { durability }) })) test(name, run);
  },
);

test.skipIf(server === undefined)(
  'B4.1 B5.1 a scheduler goes on in a PostgreSQL database where the one before was',
  async () => {
    await expectRestart(place(server!.url, {}));
  },
);

test.skipIf(server === undefined)(
  'B5.1 G5 a scheduler that another one has deposed does not close the store that both were given',
  async () => {
    await expectTakeover(place(server!.url, {}));
  },
);

afterAll(() => server?.stop());
