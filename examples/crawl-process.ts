// One process of a crawl, as `node crawl-process.js <example> <place>`. It does not know whether it is the first one.
import { setTimeout as sleep } from 'node:timers/promises';
import { Scheduler } from '../src/index.js';
import * as postgres from './crawl-postgres.js';
import * as sqlite from './crawl-sqlite.js';
import * as files from './crawl.js';
import { SMALL_WEB } from './small-web.js';

const STORES = new Map([
  ['crawl', files.storeAt],
  ['crawl-sqlite', sqlite.storeAt],
  ['crawl-postgres', postgres.storeAt],
]);

const [example = '', place = ''] = process.argv.slice(2);
const storeAt = STORES.get(example);
if (storeAt === undefined) throw new Error(`There is no crawl named "${example}"`);

const say = (what: string, page: string): void => {
  process.stdout.write(`${what} ${page}\n`);
};

const scheduler = new Scheduler({ store: storeAt(place), concurrency: 2 });

scheduler.define('fetch', async (page: string, task) => {
  say('fetches', page);
  await sleep(40, undefined, { signal: task.signal });
  // The id is the address, so each page is there once, whoever links to it and in whichever process. What is found here is
  // in the store before this page counts as fetched.
  for (const link of SMALL_WEB.get(page) ?? []) {
    task.add('fetch', link, { id: link, ifExists: 'keep', detached: true });
  }
});

// Told when the store has it: from then on it is never fetched again.
scheduler.on('completed', ({ taskId }) => {
  say('has', taskId);
});

await scheduler.start();
// Among it may be what the process before did not get to tell of.
for (const page of SMALL_WEB.keys()) if (scheduler.get(page)?.state === 'completed') say('finds', page);
await scheduler.add('fetch', '/', { id: '/', ifExists: 'keep' }).accepted;
await scheduler.onIdle();
await scheduler.close();
