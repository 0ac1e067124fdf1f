import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { pendingAdder, folderIn } from '../durable.js';
import { loadFileStore, loadScheduler } from '../ours.js';
import { growth, type Candidate, type Row } from '../row.js';

/** Of ten tasks one was added after the snapshot. */
const AFTER_SNAPSHOT = 0.1;
const COLD_PARSE = 'JSON.parse, first thing in its process';

/** So many pending tasks, of which most are in a snapshot and the rest in the journal after it. */
async function leave(directory: string, count: number): Promise<void> {
  const [Scheduler, FileStore] = [await loadScheduler(), await loadFileStore()];
  const open = () => new Scheduler({ store: new FileStore(directory), concurrency: 0 });
  const before = Math.round(count * (1 - AFTER_SNAPSHOT));
  const first = open();
  await pendingAdder(first)(0, before);
  await first.close();
  await pendingAdder(open())(before, count);
}

/** Each sample has a copy: opening a store writes to it. */
function copyOf(folder: string, name: string): string {
  const [left, copy] = [join(folder, name), join(folderIn(folder), 'copy')];
  if (!existsSync(left)) throw new Error(`Nothing was prepared in ${left}.`);
  cpSync(left, copy, { recursive: true });
  return copy;
}

/** Milliseconds that one round takes, on the copy of what was left. */
type Timed = (directory: string) => Promise<number>;

const recover: Timed = async (directory) => {
  const [Scheduler, FileStore] = [await loadScheduler(), await loadFileStore()];
  const scheduler = new Scheduler({ store: new FileStore(directory), concurrency: 0 });
  scheduler.define('work', (_: { url: string }) => undefined);
  const startedAt = performance.now();
  await scheduler.start();
  const elapsedMs = performance.now() - startedAt;
  if (scheduler.load().ready === 0) throw new Error('Nothing came back.');
  return elapsedMs;
};

/** The texts are in memory when the clock starts. */
const parse: Timed = async (directory) => {
  const store = new (await loadFileStore())(directory);
  await store.open();
  const texts: string[] = [];
  for await (const loaded of store.load()) texts.push(...(loaded.kind === 'snapshot' ? loaded.parts : loaded.bodies));
  const kept = new Array<unknown>(texts.length);
  const startedAt = performance.now();
  for (let i = 0; i < texts.length; i++) kept[i] = JSON.parse(texts[i]!);
  return performance.now() - startedAt;
};

const cold = (timed: Timed) => (folder: string) => timed(copyOf(folder, 'left'));

/** As often and as many as everywhere before the clock starts. */
const warmedUp = (timed: Timed) => async (folder: string) => {
  for (let round = 0; round < 2; round++) await timed(copyOf(folder, 'warm-up'));
  return timed(copyOf(folder, 'left'));
};

const candidates = (slow?: Candidate['slow']): readonly Candidate[] => [
  {
    name: 'precedence, files',
    measure: warmedUp(recover),
    bars: [growth('JSON.parse of the same', 3)],
    ...(slow && { slow }),
  },
  { name: 'JSON.parse of the same', measure: warmedUp(parse), ...(slow && { slow }) },
  {
    name: 'precedence, first thing in its process',
    measure: cold(recover),
    against: COLD_PARSE,
    ...(slow && { slow }),
  },
  { name: COLD_PARSE, measure: cold(parse), against: COLD_PARSE, ...(slow && { slow }) },
];

const prepare = (count: number) => async (folder: string) => {
  await leave(join(folder, 'warm-up'), 30_000);
  await leave(join(folder, 'left'), count);
};

const hundredThousand: Row = {
  id: 'P14 100k',
  group: 'stores',
  work: 'a new process gets 100k pending tasks back, 90k from a snapshot and 10k from the journal after it',
  unit: 'ms',
  better: 'lower',
  prepare: prepare(100_000),
  candidates: candidates(),
};

const million: Row = {
  id: 'P14 1M',
  group: 'stores',
  work: 'the same with 1M pending tasks',
  unit: 'ms',
  better: 'lower',
  prepare: prepare(1_000_000),
  candidates: candidates({ samples: 5 }),
};

export const rows = [hundredThousand, million];
