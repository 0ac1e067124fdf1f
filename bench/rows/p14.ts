import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { pendingAdder, folderIn } from '../durable.js';
import { loadFileStore, loadScheduler } from '../ours.js';
import { growth, type Candidate, type Row } from '../row.js';

/** Of ten tasks one was added after the snapshot. */
const AFTER_SNAPSHOT = 0.1;

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
function copyOf(folder: string): string {
  const [left, copy] = [join(folder, 'left'), join(folderIn(folder), 'copy')];
  if (!existsSync(left)) throw new Error(`Nothing was prepared in ${left}.`);
  cpSync(left, copy, { recursive: true });
  return copy;
}

async function recover(folder: string, count: number): Promise<number> {
  const [Scheduler, FileStore] = [await loadScheduler(), await loadFileStore()];
  const scheduler = new Scheduler({ store: new FileStore(copyOf(folder)), concurrency: 0 });
  scheduler.define('work', (_: { url: string }) => undefined);
  const startedAt = performance.now();
  await scheduler.start();
  const elapsedMs = performance.now() - startedAt;
  const pending = scheduler.pending().length;
  if (pending !== count) throw new Error(`${String(pending)} tasks came back of ${String(count)}.`);
  return elapsedMs;
}

/** The texts are in memory when the clock starts. */
async function parse(folder: string): Promise<number> {
  const store = new (await loadFileStore())(copyOf(folder));
  await store.open();
  const texts: string[] = [];
  for await (const loaded of store.load()) texts.push(...(loaded.kind === 'snapshot' ? loaded.parts : loaded.bodies));
  const kept = new Array<unknown>(texts.length);
  const startedAt = performance.now();
  for (let i = 0; i < texts.length; i++) kept[i] = JSON.parse(texts[i]!);
  return performance.now() - startedAt;
}

const candidates = (count: number, slow?: Candidate['slow']): readonly Candidate[] => [
  {
    name: 'precedence, files',
    measure: (folder) => recover(folder, count),
    bars: [growth('JSON.parse of the same', 3)],
    ...(slow && { slow }),
  },
  { name: 'JSON.parse of the same', measure: parse, ...(slow && { slow }) },
];

const hundredThousand: Row = {
  id: 'P14 100k',
  group: 'stores',
  work: 'a new process gets 100k pending tasks back, 90k from a snapshot and 10k from the journal after it',
  unit: 'ms',
  better: 'lower',
  prepare: (folder) => leave(join(folder, 'left'), 100_000),
  candidates: candidates(100_000),
};

const million: Row = {
  id: 'P14 1M',
  group: 'stores',
  work: 'the same with 1M pending tasks',
  unit: 'ms',
  better: 'lower',
  prepare: (folder) => leave(join(folder, 'left'), 1_000_000),
  candidates: candidates(1_000_000, { samples: 5 }),
};

export const rows = [hundredThousand, million];
