import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { FileStore, Scheduler, type Store } from '../src/index.js';
import { SqliteStore } from '../src/sqlite.js';

export const title = 'Moving to another store: what was kept in files goes on in SQLite';

/** Copies everything that one store holds into another one, which is empty. Nobody has either of them open. */
export async function copyStore(from: Store, to: Store): Promise<void> {
  await from.open();
  const { epoch, sequence } = await to.open();
  if (sequence > 0) throw new Error(`${to.name} is not empty`);
  const parts: string[] = [];
  const records: string[] = [];
  for await (const piece of from.load()) {
    if (piece.kind === 'snapshot') parts.push(...piece.parts);
    else records.push(...piece.bodies);
  }
  let last = 0;
  if (parts.length > 0) {
    // A snapshot stands for records: here for one in which nothing happens.
    await to.append(last++, epoch, '[1]');
    await to.saveSnapshot({ sequence: last, parts: Readable.from(parts) }, epoch);
  }
  for (const record of records) await to.append(last++, epoch, record);
  await from.close();
  await to.close();
}

export async function run(print: (line: string) => void): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'precedence-move-'));
  const begin = (store: Store, concurrency: number): Scheduler => {
    const scheduler = new Scheduler({ store, concurrency });
    scheduler.define('send', (letter: string) => {
      print(`sends ${letter}, kept in ${store.name.split(' ')[0]}`);
    });
    return scheduler;
  };
  try {
    const before = begin(new FileStore(join(folder, 'letters')), 0);
    before.add('send', 'an invoice', { priority: 'low' });
    await before.add('send', 'a reminder').accepted;
    await before.close();

    await copyStore(new FileStore(join(folder, 'letters')), new SqliteStore(join(folder, 'letters.db')));

    const after = begin(new SqliteStore(join(folder, 'letters.db')), 1);
    await after.start();
    await after.onIdle();
    await after.close();
  } finally {
    await rm(folder, { recursive: true });
  }
}
