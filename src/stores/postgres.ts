import { StoreError, parsePositiveDuration, refuseConfig, type Duration } from '../model/index.js';
import type { Loaded, Opening, SnapshotToSave, Store } from '../ports/store.js';
import { PostgresAppender, type Ownership } from './postgres-appender.js';
import type { Lease, PostgresConnection, Query } from './postgres-connections.js';
import { failureOf } from './postgres-failure.js';
import { checkServer, install } from './postgres-install.js';
import { readNames, type PostgresNames } from './postgres-names.js';
import { loadedFrom } from './postgres-rows.js';
import { statementsOf, type PostgresStatements } from './postgres-schema.js';
import { PostgresSession } from './postgres-session.js';
import { readSqlOptions } from './sql-options.js';

/** How a store in PostgreSQL is made. */
export interface PostgresStoreOptions {
  /** The schema in which its tables are, made where there is none; `public` unless given. */
  readonly schema?: string | undefined;
  /** What the names of its tables begin with; `precedence_` unless given. Each scheduler needs its own. */
  readonly prefix?: string | undefined;
  /** What an acknowledged write survives; `fsync` unless given. With `os` a crash of the server may take the last moments along. */
  readonly durability?: 'os' | 'fsync' | undefined;
  /** How long it goes on trying while the server cannot be reached; 30 seconds unless given. */
  readonly patience?: Duration | undefined;
  /** How long one statement, or a wait for a connection, may take; 10 seconds unless given. */
  readonly timeout?: Duration | undefined;
}

/**
 * Keeps everything in a PostgreSQL database, by the optional package `pg`. Whoever opens it deposes the one before.
 *
 * @example
 * ```ts
 * import { PostgresStore } from 'precedence/postgres';
 * const scheduler = new Scheduler({ store: new PostgresStore('postgres://app@db.example/app') });
 * ```
 */
export class PostgresStore implements Store {
  readonly name: string;
  readonly durability: 'os' | 'fsync';
  private readonly patienceMs: number;
  private readonly timeoutMs: number;
  private readonly names: PostgresNames;
  private readonly statements: PostgresStatements;
  private session: PostgresSession | undefined = undefined;
  private appender: PostgresAppender | undefined = undefined;
  private epoch = 0;

  /** `connection` is an address, a config of `pg`, or a pool of the caller's own, which stays open when the store is closed. */
  constructor(
    private readonly connection: PostgresConnection,
    options: PostgresStoreOptions = {},
  ) {
    checkConnection(connection);
    const { durability, patienceMs } = readSqlOptions(options, ['schema', 'prefix', 'timeout'], 30_000);
    const { schema = 'public', prefix = 'precedence_', timeout = '10s' } = options;
    this.durability = durability;
    this.patienceMs = patienceMs;
    this.timeoutMs = parsePositiveDuration(timeout, 'timeout', refuseConfig);
    this.names = readNames(schema, prefix);
    this.statements = statementsOf(this.names, durability);
    this.name = `postgres ${schema}.${prefix}*`;
  }

  async open(): Promise<Opening> {
    const { connection, name, patienceMs, timeoutMs, durability, statements } = this;
    const session = new PostgresSession({ connection, name, patienceMs, timeoutMs, current: statements.current });
    try {
      const owned = await session.patiently('open the database', () => session.use((query) => this.takeOver(query)));
      const former = this.session;
      this.session = session;
      this.epoch = owned.epoch;
      this.appender = new PostgresAppender(session, statements, durability, owned);
      await former?.close();
      return { epoch: owned.epoch, sequence: owned.sequence };
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  async *load(): AsyncIterable<Loaded> {
    const operation = 'load what it holds';
    const session = this.opened(operation);
    const lease = await session.patiently(operation, () => reading(session));
    let state: 'clean' | 'unclear' = 'unclear';
    try {
      yield* loadedFrom(lease.query, this.statements, this.name);
      await lease.query('COMMIT');
      state = 'clean';
    } catch (error) {
      throw failureOf(error, operation, this.name);
    } finally {
      lease.release(state);
    }
  }

  async append(expectedSequence: number, epoch: number, body: string): Promise<void> {
    if (this.appender === undefined) throw new StoreError({ operation: 'append a record', cause: 'it is closed' });
    await this.appender.append(expectedSequence, epoch, body);
  }

  async saveSnapshot({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> {
    const operation = 'save a snapshot';
    const session = this.opened(operation);
    const { nextSnapshot, addPart, useSnapshot, dropParts } = this.statements;
    const [row] = await session.patiently(operation, () => session.use((query) => query(nextSnapshot)));
    const snapshot = Number(row?.['next']);
    let count = 0;
    try {
      for await (const body of parts) {
        await session.write(operation, addPart, [epoch, snapshot, count, body]);
        count += 1;
      }
      await session.write(operation, useSnapshot, [epoch, snapshot, sequence, count]);
    } catch (error) {
      // What it leaves behind goes sooner or later; why it failed is what matters.
      await session.use((query) => query(dropParts, [epoch])).catch(() => undefined);
      throw error;
    }
  }

  async compact(epoch: number): Promise<void> {
    const operation = 'compact the journal';
    const session = this.opened(operation);
    const { dropRecords, dropParts } = this.statements;
    await session.checkOwner(operation, epoch);
    // So many at a time that no statement takes for long.
    while ((await session.write(operation, dropRecords, [epoch])) > 0);
    while ((await session.write(operation, dropParts, [epoch])) > 0);
  }

  async close(epoch = this.epoch): Promise<void> {
    if (epoch !== this.epoch) return;
    const { session } = this;
    this.session = undefined;
    this.appender = undefined;
    await session?.close();
  }

  /** Makes the tables where there are none, and this store the owner. */
  private async takeOver(query: Query): Promise<Ownership> {
    await checkServer(query, this.durability);
    await query('BEGIN ISOLATION LEVEL READ COMMITTED');
    // The epoch is always written for good: given twice, it would fence nobody.
    if (this.durability === 'os') await query('SET LOCAL synchronous_commit = on');
    await install(query, this.names, this.name);
    const [row] = await query(this.statements.takeOver);
    await query('COMMIT');
    return { epoch: Number(row?.['epoch']), writer: Number(row?.['writer']), sequence: Number(row?.['sequence']) };
  }

  private opened(operation: string): PostgresSession {
    if (this.session === undefined) throw new StoreError({ operation, cause: 'it is closed' });
    return this.session;
  }
}

/** A connection on which everything that is read belongs together. */
async function reading(session: PostgresSession): Promise<Lease> {
  const lease = await session.take();
  try {
    await lease.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return lease;
  } catch (error) {
    lease.release('unclear');
    throw error;
  }
}

function checkConnection(connection: unknown): void {
  const isGiven = typeof connection === 'string' ? connection !== '' : typeof connection === 'object';
  if (isGiven && connection !== null) return;
  refuseConfig(
    'connection',
    connection,
    'an address such as "postgres://user@host/database", a config or a pool of pg',
  );
}
