import pg from 'pg';
import type { Store } from '../src/index.js';
import { PostgresStore } from '../src/postgres.js';
import { crawlTwice } from './killed-crawl.js';

export const title = 'The same crawl, kept in PostgreSQL';

const ADDRESS = process.env['PRECEDENCE_POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';

/** What each process keeps its crawl in. */
export function storeAt(schema: string): Store {
  return new PostgresStore(ADDRESS, { schema });
}

export async function run(print: (line: string) => void): Promise<void> {
  const client = new pg.Client({ connectionString: ADDRESS, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
  } catch (error) {
    print(`There is no PostgreSQL server to log in to: ${error instanceof Error ? error.message : String(error)}`);
    print(
      'Name one, such as PRECEDENCE_POSTGRES_URL=postgres://user:password@host/database npm start -- crawl-postgres',
    );
    print('or start one: docker run --rm -e POSTGRES_HOST_AUTH_METHOD=trust -e POSTGRES_DB=test -p 5432:5432 postgres');
    return;
  }
  // A schema of its own, which is gone afterwards.
  const schema = `precedence_crawl_${process.pid}`;
  try {
    await crawlTwice('crawl-postgres', schema, print);
  } finally {
    await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await client.end();
  }
}
