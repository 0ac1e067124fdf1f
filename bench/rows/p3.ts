import { perSecond, type Round } from '../clock.js';
import { loadScheduler } from '../ours.js';
import { loadFastq, loadPMap, loadPQueue } from '../peers.js';
import { ahead, type Row } from '../row.js';

const slots = 16;
const tasks = 100_000;
const noop = async () => {};

const ours: Round = async (count) => {
  const scheduler = new (await loadScheduler())({ concurrency: slots });
  return async () => {
    for (let i = 0; i < count; i++) scheduler.add(noop);
    await scheduler.onIdle();
    await scheduler.close();
  };
};

const pQueue: Round = async (count) => {
  const queue = new (await loadPQueue())({ concurrency: slots });
  return async () => {
    for (let i = 0; i < count; i++) void queue.add(noop);
    await queue.onIdle();
  };
};

const fastq: Round = async (count) => {
  const work = (_data: unknown, done: () => void) => void noop().then(done);
  const queue = (await loadFastq())(work, slots);
  const ignore = () => {};
  return () =>
    new Promise<void>((resolve) => {
      queue.drain = resolve;
      for (let i = 0; i < count; i++) queue.push(i, ignore);
    });
};

const pMap: Round = async (count) => {
  const map = await loadPMap();
  const list = Array.from({ length: count }, (_, i) => i);
  return () => map(list, noop, { concurrency: slots });
};

/** What a caller gets back although nobody may ever ask it for a promise. */
interface LazyHandle {
  readonly run: () => Promise<void>;
  readonly sequence: number;
  resolve: (() => void) | undefined;
}

/** One array of lazy handles, one loop per slot. */
const limit: Round = (count) => {
  const handles: LazyHandle[] = [];
  let head = 0;
  const add = (run: () => Promise<void>): LazyHandle => {
    const handle: LazyHandle = { run, sequence: handles.length, resolve: undefined };
    handles.push(handle);
    return handle;
  };
  const loop = async () => {
    while (head < handles.length) {
      const handle = handles[head++]!;
      await handle.run();
      handle.resolve?.();
    }
  };
  return async () => {
    for (let i = 0; i < count; i++) add(noop);
    await Promise.all(Array.from({ length: slots }, loop));
  };
};

const p3: Row = {
  id: 'P3',
  group: 'api',
  work: '100k no-op async tasks, first in first out, 16 at once, nothing awaited but the end',
  unit: 'tasks/s',
  better: 'higher',
  candidates: [
    { name: 'precedence', measure: perSecond(tasks, ours) },
    { name: 'p-queue', measure: perSecond(tasks, pQueue), bars: [ahead(2.8)] },
    { name: 'fastq, callback', measure: perSecond(tasks, fastq) },
    { name: 'p-map', measure: perSecond(tasks, pMap) },
    { name: 'limit', measure: perSecond(tasks, limit) },
  ],
};

export const rows = [p3];
