import { perSecond, type Round } from '../clock.js';
import { folderIn, groupCommit, ours, sqlite } from '../durable.js';
import { loadFileStore } from '../ours.js';
import { ahead, type Row } from '../row.js';

const tasks = 100_000;
const writing = { writers: 1, batch: 100 };

const measured = (open: (folder: string) => Round | Promise<Round>) => async (folder: string) =>
  perSecond(tasks, await open(folder))();

const row: Row = {
  id: 'P13',
  group: 'stores',
  work: '100k tasks by one writer, who adds 100 when the 100 before are on the disk; each starts and is settled',
  unit: 'tasks/s',
  better: 'higher',
  candidates: [
    {
      name: 'precedence, files',
      measure: measured(async (folder) => ours(new (await loadFileStore())(folderIn(folder)), writing)),
    },
    {
      name: 'SQLite FULL, two transactions per batch',
      measure: measured((folder) => sqlite(folder, writing)),
      bars: [ahead(0.8)],
    },
    { name: 'limit: group commit of the same bytes', measure: measured((folder) => groupCommit(folder, writing)) },
  ],
};

export const rows = [row];
