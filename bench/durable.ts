import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { Scheduler, Store } from '../src/index.js';
import { ownRedis } from '../test/redis-server.js';
import type { Round } from './clock.js';
import { GroupCommit } from './group-commit.js';
import { loadScheduler } from './ours.js';
import { loadBullmq } from './peers.js';
import { randomIntegers } from './random.js';

/*
 * One piece of work for all: tasks are added by so many writers, each of whom adds its next batch when the one before is kept
 * for good; they start, do nothing, and are settled, which is kept for good as well. It is over when all are settled.
 */

/** How the tasks come. */
export interface Writing {
  readonly writers: number;
  readonly batch: number;
}

/** So many run at a time, of ours and of a peer's. */
const SLOTS = 100;
const LEVELS = 10;

const inputOf = (at: number) => ({ url: `https://example.org/page/${String(at)}` });

/** A folder that no other sample uses. */
export const folderIn = (folder: string): string => mkdtempSync(join(folder, 'sample-'));

/** Adds batches, from `from` on; resolves when all writers have theirs kept. */
async function writeAll(
  count: number,
  { writers, batch }: Writing,
  add: (from: number, upTo: number) => Promise<unknown>,
): Promise<void> {
  const next = { at: 0 };
  const write = async (): Promise<void> => {
    while (next.at < count) {
      const from = next.at;
      next.at = Math.min(count, from + batch);
      await add(from, next.at);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

/** Ours, on a store that is open from the first round to the last. */
export async function ours(store: Store, writing: Writing): Promise<Round> {
  const scheduler = new (await loadScheduler())({ store, concurrency: SLOTS });
  const work = scheduler.define('work', (_: { url: string }) => undefined);
  await scheduler.start();
  return (count) => async () => {
    const results = new Array<Promise<unknown>>(count);
    await writeAll(count, writing, async (from, upTo) => {
      let accepted: Promise<unknown> | undefined;
      for (let at = from; at < upTo; at++) {
        const handle = scheduler.add(work, inputOf(at));
        results[at] = handle.result;
        accepted = handle.accepted;
      }
      // What is added in one turn is kept by one write.
      await accepted;
    });
    for (let at = 0; at < count; at++) await results[at];
  };
}

/** Adds tasks of random priority for which there is no slot, 100 at a time; resolves when the store has them. */
export function pendingAdder(scheduler: Scheduler): (from: number, upTo: number) => Promise<void> {
  const work = scheduler.define('work', (_: { url: string }) => undefined);
  return async (from, upTo) => {
    const priorities = randomIntegers(upTo - from, LEVELS);
    const add = (at: number) => scheduler.add(work, inputOf(at), { priority: priorities[at - from]! }).accepted;
    await writeAll(upTo - from, { writers: 1, batch: 100 }, async (first, last) => {
      for (let at = first; at < last - 1; at++) void add(from + at);
      await add(from + last - 1);
    });
  };
}

/** A queue and a worker in this process, on a server of their own that syncs each write. */
export async function bullmq({
  writers,
}: Writing): Promise<{ readonly round: Round; readonly stop: () => Promise<void> }> {
  const server = await ownRedis();
  if (server === undefined) throw new Error('There is no Redis server on this machine.');
  const { Queue, Worker } = await loadBullmq();
  const connection = { host: '127.0.0.1', port: server.port };
  const queue = new Queue('bench', { connection });
  const ended = { count: 0, expected: 0, tell: () => {} };
  const worker = new Worker('bench', () => Promise.resolve(), { connection, concurrency: SLOTS });
  worker.on('completed', () => {
    ended.count += 1;
    if (ended.count === ended.expected) ended.tell();
  });
  const round: Round = (count) => async () => {
    const all = new Promise<void>((resolve) => {
      Object.assign(ended, { count: 0, expected: count, tell: resolve });
    });
    await writeAll(count, { writers, batch: 1 }, (from) => queue.add('work', inputOf(from)));
    await all;
  };
  return { round, stop: () => server.stop() };
}

/** A table of tasks: each batch is put in as running, as ours is while slots are free, and is marked as done. Two transactions. */
export function sqlite(folder: string, { batch }: Writing): Round {
  const database = new Database(join(folderIn(folder), 'tasks.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE task (id INTEGER PRIMARY KEY, state INTEGER NOT NULL, input TEXT NOT NULL)');
  const insert = database.prepare('INSERT INTO task (id, state, input) VALUES (?, 1, ?)');
  const update = database.prepare('UPDATE task SET state = 2 WHERE id = ?');
  const put = database.transaction((first: number, upTo: number) => {
    for (let id = first; id < upTo; id++) insert.run(id, JSON.stringify(inputOf(id)));
  });
  const mark = database.transaction((first: number, upTo: number) => {
    for (let id = first; id < upTo; id++) update.run(id);
  });
  const next = { id: 1 };
  return (count) => async () => {
    for (let left = count; left > 0; left -= batch) {
      const [first, upTo] = [next.id, next.id + Math.min(left, batch)];
      put(first, upTo);
      mark(first, upTo);
      next.id = upTo;
    }
    await setImmediate();
  };
}

/** The same bytes as ours writes, in the same order, and nothing else. */
export async function groupCommit(folder: string, writing: Writing): Promise<Round> {
  const [started, settled] = await textsOfOneTask();
  const file = new GroupCommit(join(folderIn(folder), 'journal'));
  return (count) => {
    file.makeRoom(count * (started.length + settled.length));
    return async () => {
      let ended: Promise<unknown> = Promise.resolve();
      await writeAll(count, writing, async (from, upTo) => {
        let kept: Promise<void> | undefined;
        for (let at = from; at < upTo; at++) {
          kept = file.append(started);
          ended = kept.then(() => file.append(settled));
        }
        await kept;
      });
      await ended;
    };
  };
}

/** What the store is given for one task: when it is added and started, which is one record while slots are free, and when it has ended. */
async function textsOfOneTask(): Promise<readonly [string, string]> {
  const { MemoryStore } = await import('../src/index.js');
  const bodies: string[] = [];
  class Listening extends MemoryStore {
    override append(sequence: number, epoch: number, body: string): Promise<void> {
      bodies.push(body);
      return super.append(sequence, epoch, body);
    }
  }
  const scheduler = new (await loadScheduler())({ store: new Listening(), concurrency: SLOTS });
  const work = scheduler.define('work', (_: { url: string }) => undefined);
  await scheduler.start();
  bodies.length = 0;
  await scheduler.add(work, inputOf(10_000));
  // Each body is a list of a version and the facts; the facts are what is counted.
  const texts = bodies.map((body) => body.slice(body.indexOf('{'), -1));
  await scheduler.close();
  if (texts.length !== 2) throw new Error(`One task made ${String(texts.length)} records, expected 2.`);
  return texts as unknown as readonly [string, string];
}
