import { perSecond, type Round } from '../clock.js';
import { bullmq, folderIn, groupCommit, ours, sqlite } from '../durable.js';
import { loadFileStore } from '../ours.js';
import { ahead, type Row } from '../row.js';

const tasks = 30_000;
/** A task that waits for the disk three times by itself takes too long for the usual warm-up. */
const warmUp = 10_000;
const writing = { writers: 100, batch: 1 };

const measured = (open: (folder: string) => Round | Promise<Round>) => async (folder: string) =>
  perSecond(tasks, await open(folder), warmUp)();

async function measureBullmq(): Promise<number> {
  const { round, stop } = await bullmq(writing);
  const figure = await perSecond(tasks, round, warmUp)();
  await stop();
  return figure;
}

const row: Row = {
  id: 'P12',
  group: 'stores',
  work: '30k tasks by 100 writers: each is added, starts and is settled, and the disk knows before anybody is told',
  unit: 'tasks/s',
  better: 'higher',
  candidates: [
    {
      name: 'precedence, files',
      measure: measured(async (folder) => ours(new (await loadFileStore())(folderIn(folder)), writing)),
    },
    { name: 'BullMQ, appendfsync always', measure: measureBullmq, bars: [ahead(3)] },
    { name: 'SQLite FULL, two transactions per task', measure: measured((folder) => sqlite(folder, writing)) },
    {
      name: 'limit: group commit of the same bytes',
      measure: measured((folder) => groupCommit(folder, writing)),
      bars: [ahead(0.5)],
    },
  ],
};

export const rows = [row];
