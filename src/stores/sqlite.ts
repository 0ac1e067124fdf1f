import { resolve } from 'node:path';
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import Database from 'better-sqlite3';
import {
  CorruptJournalError,
  DeposedError,
  StoreError,
  UnsupportedVersionError,
  refuseConfig,
  type Duration,
  type SchedulerError,
} from '../model/index.js';
import type { Loaded, Opening, SnapshotToSave, Store } from '../ports/store.js';
import { readSqlOptions } from './sql-options.js';
import { failureOf, isBusy } from './sqlite-failure.js';
import { loadedFrom, type SqliteReader } from './sqlite-rows.js';
import { SQLITE_SCHEMA, SQLITE_SCHEMA_VERSION, SQLITE_STATEMENTS, SQLITE_VIEW } from './sqlite-schema.js';

/** How a store in an SQLite file is made. */
export interface SqliteStoreOptions {
  /** What an acknowledged write survives; `fsync` unless given. */
  readonly durability?: 'os' | 'fsync' | undefined;
  /** How long it goes on trying where somebody else has the file locked; 5 seconds unless given. */
  readonly patience?: Duration | undefined;
}

/** How many rows go in one transaction where many are dropped: everything else waits for it. */
const ROWS_AT_ONCE = 500;
/** Snapshot parts may be large. */
const PARTS_AT_ONCE = 16;
/** Whether each transaction waits for the disk. */
const SYNCHRONOUS: Readonly<Record<SqliteStore['durability'], 'FULL' | 'NORMAL'>> = { fsync: 'FULL', os: 'NORMAL' };
const LONGEST_PAUSE_MS = 50;

/**
 * Keeps everything in one SQLite file, by the optional package `better-sqlite3`. Whoever opens it deposes the one before.
 *
 * @example
 * ```ts
 * import { SqliteStore } from 'precedence/sqlite';
 * const scheduler = new Scheduler({ store: new SqliteStore('./tasks.db') });
 * ```
 */
export class SqliteStore implements Store {
  readonly name: string;
  readonly durability: 'os' | 'fsync';
  private readonly path: string;
  private readonly patienceMs: number;
  private database: Database.Database | undefined = undefined;
  private epoch = 0;
  /** Why nothing is written any more: after a failed write nobody can say what the disk has. */
  private broken: SchedulerError | undefined = undefined;

  /** `path` is that of the database file, which is made where there is none; others may have tables of theirs in it. */
  constructor(path: string, options: SqliteStoreOptions = {}) {
    if (typeof path !== 'string' || path === '' || path === ':memory:' || path.includes('\0')) {
      refuseConfig('path', path, 'the path of a file');
    }
    this.name = `sqlite ${path}`;
    this.path = resolve(path);
    const { durability, patienceMs } = readSqlOptions(options, [], 5_000);
    this.durability = durability;
    this.patienceMs = patienceMs;
  }

  async open(): Promise<Opening> {
    return this.patiently('open the database', () => {
      // Waiting inside of SQLite would stop the event loop: whoever is told that the file is locked asks again later.
      const database = new Database(this.path, { timeout: 0 });
      try {
        const opening = begin(database, this.path);
        this.database?.close();
        this.database = database;
        this.epoch = opening.epoch;
        this.broken = undefined;
        return opening;
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  async *load(): AsyncIterable<Loaded> {
    this.connection('load what it holds');
    const reader = await this.patiently('load what it holds', () => {
      const opened = new Database(this.path, { readonly: true, timeout: 0 });
      // One transaction, so that all that is loaded belongs together.
      opened.exec('BEGIN');
      return opened;
    });
    try {
      const rows: SqliteReader = {
        get: (statement) => reader.prepare(statement).get(),
        iterate: (statement, after) => reader.prepare(statement).iterate(after),
      };
      yield* loadedFrom(rows, this.path);
    } catch (error) {
      throw failureOf(error, 'load what it holds', this.path);
    } finally {
      reader.close();
    }
  }

  async append(expectedSequence: number, epoch: number, body: string): Promise<void> {
    await this.write('append a record', (database) => {
      const record = { expected: expectedSequence, epoch, checksum: crc32(body), body };
      const { changes } = database.prepare(SQLITE_STATEMENTS.append).run(record);
      if (changes === 0) deposed(database, epoch);
    });
  }

  async saveSnapshot({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> {
    const operation = 'save a snapshot';
    const snapshot = await this.write(operation, (database) => numberOf(database, SQLITE_STATEMENTS.nextSnapshot));
    let count = 0;
    try {
      for await (const body of parts) {
        const part = { snapshot, part: count, checksum: crc32(body), body, epoch };
        // Parts are on the disk when the transaction after them is: only that one waits for it.
        const add = (database: Database.Database): number => addPart(database, part);
        await this.write(operation, add, 'NORMAL');
        count += 1;
      }
      await this.write(operation, (database) => {
        checkOwner(database, epoch);
        database.prepare(SQLITE_STATEMENTS.useSnapshot).run({ snapshot, sequence, parts: count, epoch });
      });
    } catch (error) {
      // What it leaves behind goes sooner or later; why it failed is what matters.
      await this.drop(SQLITE_STATEMENTS.dropParts, PARTS_AT_ONCE, epoch).catch(() => undefined);
      throw error;
    }
  }

  async compact(epoch: number): Promise<void> {
    await this.write('compact the journal', (database) => {
      checkOwner(database, epoch);
    });
    await this.drop(SQLITE_STATEMENTS.dropRecords, ROWS_AT_ONCE, epoch);
    await this.drop(SQLITE_STATEMENTS.dropParts, PARTS_AT_ONCE, epoch);
  }

  close(epoch = this.epoch): Promise<void> {
    if (epoch !== this.epoch) return Promise.resolve();
    const { database } = this;
    this.database = undefined;
    try {
      database?.close();
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(failureOf(error, 'close the database', this.path));
    }
  }

  /** Drops rows until there are none left to drop, and lets others in between. */
  private async drop(statement: string, limit: number, epoch: number): Promise<void> {
    for (let dropped = limit; dropped === limit;) {
      await breathe();
      dropped = await this.write('drop what no load needs', (database) => {
        return database.prepare(statement).run({ epoch, limit }).changes;
      });
    }
  }

  /** Does all of it in one transaction, or none. */
  private write<Result>(
    operation: string,
    work: (database: Database.Database) => Result,
    synchronous = SYNCHRONOUS[this.durability],
  ): Promise<Result> {
    return this.patiently(operation, () => {
      const database = this.connection(operation);
      try {
        database.pragma(`synchronous = ${synchronous}`);
        return database.transaction(() => work(database)).immediate();
      } catch (error) {
        const failure = failureOf(error, operation, this.path);
        if (breaks(failure)) this.broken = failure;
        throw error;
      }
    });
  }

  private connection(operation: string): Database.Database {
    if (this.broken !== undefined) throw new StoreError({ operation, cause: this.broken });
    if (this.database === undefined) throw new StoreError({ operation, cause: 'it is closed' });
    return this.database;
  }

  /** Tries again for a while where somebody else has the file locked. */
  private async patiently<Result>(operation: string, work: () => Result): Promise<Result> {
    const end = performance.now() + this.patienceMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= end) throw failureOf(error, operation, this.path);
      }
      await sleep(pauseMs);
    }
  }
}

/** Whether nobody can say any more what the disk has. */
function breaks(failure: SchedulerError): boolean {
  if (failure instanceof StoreError) return failure.kind === 'failed';
  return failure instanceof CorruptJournalError;
}

/** Makes the tables where there are none, and the caller the owner. */
function begin(database: Database.Database, path: string): Opening {
  const mode: unknown = database.pragma('journal_mode = WAL', { simple: true });
  if (mode !== 'wal') {
    throw new StoreError({ operation: 'open the database', cause: `its journal mode stays ${String(mode)}` });
  }
  // The epoch is always written for good: given twice, it would fence nobody.
  database.pragma('synchronous = FULL');
  return database
    .transaction((): Opening => {
      if (database.prepare(SQLITE_STATEMENTS.isInstalled).get() === undefined) database.exec(SQLITE_SCHEMA);
      const version = numberOf(database, SQLITE_STATEMENTS.version);
      if (version > SQLITE_SCHEMA_VERSION) {
        throw new UnsupportedVersionError({ source: `store ${path}`, version, supported: SQLITE_SCHEMA_VERSION });
      }
      if (database.prepare(SQLITE_STATEMENTS.view).pluck().get() !== SQLITE_VIEW) {
        database.exec(`DROP VIEW IF EXISTS precedence_tasks; ${SQLITE_VIEW}`);
      }
      return database.prepare(SQLITE_STATEMENTS.takeOver).get() as Opening;
    })
    .immediate();
}

interface Part {
  readonly snapshot: number;
  readonly part: number;
  readonly checksum: number;
  readonly body: string;
  readonly epoch: number;
}

function addPart(database: Database.Database, part: Part): number {
  const { changes } = database.prepare(SQLITE_STATEMENTS.addPart).run(part);
  return changes > 0 ? changes : deposed(database, part.epoch);
}

function checkOwner(database: Database.Database, epoch: number): void {
  if (numberOf(database, SQLITE_STATEMENTS.epoch) !== epoch) deposed(database, epoch);
}

function deposed(database: Database.Database, epoch: number): never {
  throw new DeposedError({ epoch, currentEpoch: numberOf(database, SQLITE_STATEMENTS.epoch) });
}

function numberOf(database: Database.Database, statement: string): number {
  return database.prepare(statement).pluck().get() as number;
}
