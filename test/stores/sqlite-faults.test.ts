import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CorruptJournalError,
  DeposedError,
  InvalidConfigError,
  Scheduler,
  StoreError,
  UnsupportedVersionError,
} from '../../src/index.js';
import { SqliteStore } from '../../src/sqlite.js';

const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'precedence-sqlite-'));
let files = 0;
const newFile = (): string => join(folder, `tasks-${files++}.db`);

afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Contents {
  readonly sequence: number;
  readonly snapshot: readonly string[];
  readonly records: readonly string[];
}

async function contentsOf(file: string): Promise<Contents> {
  const store = new SqliteStore(file);
  const { sequence } = await store.open();
  const snapshot: string[] = [];
  const records: string[] = [];
  for await (const piece of store.load()) {
    if (piece.kind === 'snapshot') snapshot.push(...piece.parts);
    else records.push(...piece.bodies);
  }
  await store.close();
  return { sequence, snapshot, records };
}

/** A file with three records, and nobody who has it open. */
async function threeRecords(): Promise<string> {
  const file = newFile();
  const store = new SqliteStore(file);
  const { epoch } = await store.open();
  for (const n of [0, 1, 2]) await store.append(n, epoch, `[${n}]`);
  await store.close();
  return file;
}

function change(file: string, statements: string): void {
  const database = new Database(file);
  database.exec(statements);
  database.close();
}

describe('row 1: a process that is killed while it appends', () => {
  const code = join(root, '.build', 'tests', 'sqlite.mjs');

  beforeAll(async () => {
    const build = await rolldown({
      input: join(root, 'src/sqlite.ts'),
      platform: 'node',
      external: ['better-sqlite3'],
    });
    await build.write({ file: code, format: 'esm' });
    await build.close();
  });

  /** Lets it go on until so many lines have come, kills it, and gives the number that was acknowledged last. */
  async function killedAfter(file: string, durability: string, lines: number): Promise<number> {
    const script = join(import.meta.dirname, 'sqlite-appender.mjs');
    const child = spawn(process.execPath, [script, pathToFileURL(code).href, file, durability], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    let told = '';
    child.stdout.on('data', (chunk: Buffer) => {
      told += chunk.toString();
      if (told.split('\n').length > lines) child.kill('SIGKILL');
    });
    await ended;
    // The last line may be half a one.
    return Number(told.split('\n').at(-2));
  }

  test.each(['fsync', 'os'] as const)(
    'G1: loses nothing that was acknowledged (%s)',
    async (durability) => {
      const file = newFile();
      for (const lines of [1, 7, 39, 40, 41, 100]) {
        const acknowledged = await killedAfter(file, durability, lines);
        const { sequence, snapshot, records } = await contentsOf(file);
        // The one that was on its way may be there.
        expect([acknowledged + 1, acknowledged + 2]).toContain(sequence);
        const first = sequence - records.length;
        expect(records).toEqual(Array.from({ length: records.length }, (_, n) => `[${first + n}]`));
        expect(snapshot).toEqual(first === 0 ? [] : [`["all", ${first}]`]);
      }
    },
    60_000,
  );
});

describe('row 42: a file that somebody else has locked', () => {
  test('is waited for, and then told of', async () => {
    const file = newFile();
    const store = new SqliteStore(file, { patience: '100ms' });
    const { epoch } = await store.open();
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    const refused = await store.append(0, epoch, '[1]').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreError);
    expect(refused).toMatchObject({ code: 'STORE', kind: 'busy' });
    await expect(new SqliteStore(file, { patience: '50ms' }).open()).rejects.toMatchObject({ kind: 'busy' });
    other.exec('ROLLBACK');
    // Nothing has happened, so the same may be asked again.
    await store.append(0, epoch, '[1]');
    await store.close();
    other.close();
  });

  test('is written to as soon as it is let go, and the event loop goes on meanwhile', async () => {
    const file = newFile();
    const store = new SqliteStore(file);
    const { epoch } = await store.open();
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    const appended = store.append(0, epoch, '[1]');
    // Were the event loop to stand still, nobody would ever let go.
    setImmediate(() => other.exec('ROLLBACK'));
    await appended;
    await store.close();
    other.close();
    expect((await contentsOf(file)).records).toEqual(['[1]']);
  });
});

describe('SQLite', () => {
  test('G5: who opens a file deposes who had it open', async () => {
    const file = newFile();
    const former = new SqliteStore(file);
    const { epoch } = await former.open();
    const latter = new SqliteStore(file);
    const opened = await latter.open();
    await expect(former.append(0, epoch, '[1]')).rejects.toThrow(DeposedError);
    await latter.append(0, opened.epoch, '[2]');
    await former.close();
    await latter.close();
    expect((await contentsOf(file)).records).toEqual(['[2]']);
  });

  test('a file that is no database is refused and stays as it is', async () => {
    const file = newFile();
    const text = 'certainly no database '.repeat(200);
    writeFileSync(file, text);
    await expect(new SqliteStore(file).open()).rejects.toThrow(CorruptJournalError);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('row 10: tables of a newer version are refused, and stay as they are', async () => {
    const file = await threeRecords();
    change(file, 'UPDATE precedence_store SET version = 99');
    const refused = await new SqliteStore(file).open().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UnsupportedVersionError);
    expect(refused).toMatchObject({ version: 99, supported: 1 });
    change(file, 'UPDATE precedence_store SET version = 1');
    expect((await contentsOf(file)).sequence).toBe(3);
  });

  test.each([
    ['a record was altered', `UPDATE precedence_journal SET body = '[7]' WHERE sequence = 2`, 2],
    ['a record is missing', 'DELETE FROM precedence_journal WHERE sequence = 2', 2],
  ])('row 3: %s, which is told with its number', async (_, damage, position) => {
    const file = await threeRecords();
    change(file, damage);
    await expect(contentsOf(file)).rejects.toMatchObject({ code: 'CORRUPT_JOURNAL', position });
  });

  test('row 5: a snapshot that is not whole is refused', async () => {
    const file = newFile();
    const store = new SqliteStore(file);
    const { epoch } = await store.open();
    await store.append(0, epoch, '[1]');
    const parts = (async function* () {
      await Promise.resolve();
      yield* ['["a"]', '["b"]'];
    })();
    await store.saveSnapshot({ sequence: 1, parts }, epoch);
    await store.close();
    change(file, 'DELETE FROM precedence_snapshot WHERE part = 1');
    await expect(contentsOf(file)).rejects.toMatchObject({ code: 'CORRUPT_JOURNAL', position: 1 });
  });

  test('row 7: without space nothing is written, and it goes on when there is some', async () => {
    const store = new SqliteStore(newFile());
    // The connection of the store itself: only there can its file be kept from growing.
    const limit = (pages: number): unknown =>
      (store as unknown as { readonly database: Database.Database }).database.pragma(`max_page_count = ${pages}`);
    const scheduler = new Scheduler({ store, concurrency: 0 });
    scheduler.define('work', (text: string) => text.length);
    await scheduler.add('work', 'first', { id: 'first' }).accepted;
    const told: unknown[] = [];
    scheduler.on('error', ({ error }) => told.push(error));
    limit(1);
    const seen: string[] = [];
    const large = scheduler.add('work', 'x'.repeat(100_000), { id: 'large' });
    void large.accepted.then(() => seen.push('accepted'));
    await expect.poll(() => told).toMatchObject([{ code: 'STORE', kind: 'full' }]);
    expect(seen).toEqual([]);
    limit(1_000_000);
    await large.accepted;
    scheduler.setConcurrency(1);
    expect(await Promise.all([large, scheduler.handle('first')])).toEqual([100_000, 5]);
    await scheduler.close();
  });

  test('row 9: a place that does not exist, and a folder, are typed errors', async () => {
    await expect(new SqliteStore(join(folder, 'none', 'tasks.db')).open()).rejects.toThrow(StoreError);
    await expect(new SqliteStore(folder).open()).rejects.toThrow(StoreError);
  });

  test('row 9: a file that may not be written is a typed error', async ({ skip }) => {
    if (userInfo().uid === 0) return skip('who is root may write everything');
    const file = await threeRecords();
    chmodSync(file, 0o444);
    await expect(new SqliteStore(file).open()).rejects.toThrow(StoreError);
  });

  test('a store that failed to write writes nothing more until it is opened again', async () => {
    const file = await threeRecords();
    const store = new SqliteStore(file);
    const { epoch } = await store.open();
    change(file, 'DROP TABLE precedence_journal');
    await expect(store.append(3, epoch, '[3]')).rejects.toThrow(StoreError);
    change(file, 'CREATE TABLE precedence_journal (sequence INTEGER PRIMARY KEY, checksum INTEGER, body TEXT)');
    await expect(store.append(0, epoch, '[3]')).rejects.toThrow(StoreError);
    const opened = await store.open();
    await store.append(0, opened.epoch, '[3]');
    await store.close();
  });

  test.each(['', ':memory:', 'a\0b', undefined, 7])('the path %o is refused', (path) => {
    expect(() => new SqliteStore(path as string)).toThrow(InvalidConfigError);
  });

  test.each([
    [{ durability: 'none' }, 'durability'],
    [{ patience: -1 }, 'patience'],
    [{ durable: true }, 'durable'],
  ])('%o is refused', (options, field) => {
    expect(() => new SqliteStore('a', options as object)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', field }),
    );
  });
});
