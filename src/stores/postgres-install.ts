import { InvalidConfigError, StoreError, UnsupportedVersionError } from '../model/index.js';
import type { Query } from './postgres-connections.js';
import type { PostgresNames } from './postgres-names.js';
import { INSTALL_LOCK, POSTGRES_SCHEMA_VERSION, SERVER_SETTINGS, schemaOf, viewOf } from './postgres-schema.js';

/** Refuses a server that cannot keep what the store promises. */
export async function checkServer(query: Query, durability: 'os' | 'fsync'): Promise<void> {
  const [settings] = await query(SERVER_SETTINGS);
  const { synchronous, fsync, encoding, standby } = settings as Record<string, unknown>;
  const refuse = (cause: string): never => {
    throw new StoreError({ operation: 'open the database', cause });
  };
  if (standby === true) refuse('it is a standby, which takes no writes');
  if (encoding !== 'UTF8') refuse(`it keeps texts as ${String(encoding)}, where UTF8 is needed`);
  if (durability === 'os') return;
  const off = synchronous === 'off' ? 'synchronous_commit' : fsync === 'off' ? 'fsync' : undefined;
  if (off === undefined) return;
  throw new InvalidConfigError({
    field: 'durability',
    value: durability,
    expected: `"os", as ${off} is off at this server, or ${off} to be on`,
  });
}

/** Makes what is missing, within the transaction it is called in. Several may do so at once. */
export async function install(query: Query, names: PostgresNames, source: string): Promise<void> {
  // Who may not make tables may still use those that are there.
  if (!(await isInstalled(query, names))) {
    await query(INSTALL_LOCK);
    if (!(await isInstalled(query, names))) {
      const [schema] = await query('SELECT FROM pg_namespace WHERE nspname = $1', [names.catalogued[0]]);
      if (schema === undefined) await query(`CREATE SCHEMA ${names.schema}`);
      await query(schemaOf(names));
      await query(viewOf(names));
    }
  }
  const [row] = await query(`SELECT version FROM ${names.store}`);
  const version = Number(row?.['version']);
  if (version > POSTGRES_SCHEMA_VERSION) {
    throw new UnsupportedVersionError({ source: `store ${source}`, version, supported: POSTGRES_SCHEMA_VERSION });
  }
}

/** Reads the catalogue itself: what a connection remembers of it, as `to_regclass` does, may be from before it had the lock. */
async function isInstalled(query: Query, { catalogued }: PostgresNames): Promise<boolean> {
  const table = `SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1 AND relname = $2`;
  return (await query(table, catalogued)).length > 0;
}
