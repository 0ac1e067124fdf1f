import { MemoryStore, Scheduler } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';

export const title = 'A crawl that goes on after a restart';

/** A small web: each page and the links on it. */
const WEB: Readonly<Record<string, readonly string[]>> = {
  '/': ['/shop', '/blog'],
  '/shop': ['/shop/tea', '/shop/cups', '/'],
  '/blog': ['/blog/water', '/shop/tea'],
  '/blog/water': ['/'],
  '/shop/tea': [],
  '/shop/cups': ['/shop/tea'],
};

/** Two processes after one another on one store; the clock is virtual, everything else is as it would be. */
export async function run(print: (line: string) => void): Promise<void> {
  const clock = new VirtualClock();
  // Lives as long as this process; a store on a disk would make this two programs.
  const store = new MemoryStore();

  const crawler = (): Scheduler => {
    const scheduler = new Scheduler({ store, clock, concurrency: 2 });
    scheduler.define('fetch', async (url: string, task) => {
      await clock.sleep('1s');
      task.signal.throwIfAborted();
      // The id is the address, so each page is fetched once, whoever links to it and in whichever process.
      for (const link of WEB[url] ?? []) {
        if (scheduler.get(link) === undefined) task.add('fetch', link, { id: link, detached: true });
      }
      print(`${url} has ${WEB[url]?.length ?? 0} links (attempt ${task.attempt})`);
    });
    return scheduler;
  };

  const first = crawler();
  await first.add('fetch', '/', { id: '/' }).accepted;
  await clock.advance('1500ms');
  // In the middle of two pages: they are given back, and what is found and not fetched is kept.
  const closed = first.close({ drain: 0 });
  await clock.advance('1s');
  await closed;
  print('(the first process is gone)');

  const second = crawler();
  await second.start();
  print(`goes on with ${second.running} pages`);
  await clock.until(second.onIdle());
  await second.close();
}
