import { setImmediate } from 'node:timers/promises';
import type { SnapshotToSave } from '../../src/index.js';
import { perSecond } from '../clock.js';
import { folderIn, ours, pendingAdder } from '../durable.js';
import { loadFileStore, loadScheduler } from '../ours.js';
import { places, type Open, type Place } from '../places.js';
import type { Candidate, Row } from '../row.js';

const tasks = 30_000;
const warmUp = 10_000;
const writing = { writers: 100, batch: 1 };

const inPlace = (open: Open, measure: (place: Place) => Promise<number>) => async (folder: string) => {
  const place = await open(folder);
  const figure = await measure(place);
  await place.remove();
  return figure;
};

const speed: Row = {
  id: 'STORES speed',
  group: 'stores',
  work: 'P12 with each store: 30k tasks by 100 writers, on the disk',
  unit: 'tasks/s',
  better: 'higher',
  candidates: Object.entries(places).map(([name, open]) => ({
    name,
    measure: inPlace(open, async ({ store }) => perSecond(tasks, await ours(store, writing), warmUp)()),
  })),
};

const kept = 20_000;

/** The journal while nothing of it has been let go, or the snapshot that closing takes. */
const bytesPerTask = (of: 'journal' | 'snapshot') => async (place: Place) => {
  const scheduler = new (await loadScheduler())({
    store: place.store,
    concurrency: 0,
    snapshotEvery: { facts: Infinity, bytes: Infinity },
  });
  await pendingAdder(scheduler)(0, kept);
  if (of === 'journal') return (await place.size(of)) / kept;
  await scheduler.close();
  return (await place.size(of)) / kept;
};

const bytes: Row = {
  id: 'STORES bytes',
  group: 'stores',
  work: '20k pending tasks with a short input and a priority, added 100 at a time: bytes of each in a store',
  unit: 'bytes',
  better: 'lower',
  candidates: (['journal', 'snapshot'] as const).flatMap((of) =>
    Object.entries(places).map(([name, open]) => ({
      name: `${name}, ${of}`,
      against: `files, ${of}`,
      measure: inPlace(open, bytesPerTask(of)),
    })),
  ),
};

/** The longest time for which nothing else had its turn, from shortly before a snapshot is due until it is there. */
async function longestPause(folder: string, count: number): Promise<number> {
  const [Scheduler, FileStore] = [await loadScheduler(), await loadFileStore()];
  const saved = { count: 0 };
  class Counting extends FileStore {
    override async saveSnapshot(snapshot: SnapshotToSave, epoch: number): Promise<void> {
      await super.saveSnapshot(snapshot, epoch);
      saved.count += 1;
    }
  }
  // Each is added and ready: two facts.
  const snapshotEvery = { facts: 2 * count, bytes: Infinity };
  const scheduler = new Scheduler({ store: new Counting(folderIn(folder)), concurrency: 0, snapshotEvery });
  const add = pendingAdder(scheduler);
  await add(0, count - 100);
  if (saved.count > 0) throw new Error('The snapshot came before its time.');
  const pauses = watchPauses(saved);
  for (let at = count; saved.count === 0; at++) await add(at, at + 1);
  return pauses;
}

async function watchPauses(saved: { readonly count: number }): Promise<number> {
  let [longestMs, last] = [0, performance.now()];
  while (saved.count === 0) {
    await setImmediate();
    const now = performance.now();
    [longestMs, last] = [Math.max(longestMs, now - last), now];
  }
  return longestMs;
}

const pauseOf = (name: string, count: number, slow?: Candidate['slow']): Candidate => ({
  name,
  // Two sizes, of which neither is anybody's rival.
  against: name,
  measure: (folder) => longestPause(folder, count),
  ...(slow && { slow }),
});

const pause: Row = {
  id: 'STORES pause',
  group: 'stores',
  work: 'the longest pause of the event loop while a snapshot of pending tasks is taken',
  unit: 'ms',
  better: 'lower',
  candidates: [pauseOf('100k tasks', 100_000), pauseOf('1M tasks', 1_000_000, { samples: 3 })],
};

export const rows = [speed, bytes, pause];
