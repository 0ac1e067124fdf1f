import { expect, test } from 'vitest';
import { MemoryStore, Scheduler, UnknownTaskError, type Loaded, type Store } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { changed } from '../crash/planted.js';

/** The store, from which a record at a time is read, and the last ones only when the test says so. */
function slowly(store: Store, count: number): { readonly store: Store; readonly goOn: () => void } {
  let goOn: () => void = () => undefined;
  const going = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  async function* load(): AsyncIterable<Loaded> {
    let read = 0;
    for await (const loaded of store.load()) {
      const stretches =
        loaded.kind === 'snapshot'
          ? [loaded]
          : loaded.bodies.map((body, at) => ({ ...loaded, first: loaded.first + at, bodies: [body] }));
      for (const stretch of stretches) {
        read += 1;
        if (read === count) await going;
        yield stretch;
      }
    }
  }
  return { store: changed(store, { load }), goOn };
}

test('B4 G8 what is asked for while half of everything is back neither changes it nor makes it later than it was', async () => {
  const clock = new VirtualClock();
  const store = new MemoryStore();
  const first = new Scheduler({ store, clock, concurrency: 0 });
  first.define('work', () => 'done');
  await first.add('work', 1, { id: 'a' }).accepted;
  await first.add('work', 1, { id: 'b', delay: 100 }).accepted;
  await clock.advance(200);
  // It is killed there: the next one finds what it has kept, and opens the store over its head.
  const slow = slowly(store, 3);
  const second = new Scheduler({ store: slow.store, clock, concurrency: 0 });
  second.define('work', () => 'done');
  const started = second.start();
  await clock.advance(300);
  // What is not back yet is not known.
  expect(() => second.cancel('a')).toThrow(UnknownTaskError);
  expect(second.size).toBe(0);
  second.pauseChannel('late');
  second.pending();
  slow.goOn();
  await started;
  expect(second.size).toBe(2);
  // Both have waited since they were ready, in the other process.
  expect(second.pending().map(({ id, state }) => [id, state])).toEqual([
    ['a', 'ready'],
    ['b', 'ready'],
  ]);
  expect(second.load().oldestWaitMs).toBe(500);
  await second.close();
});

test('F4 a task that is named while the store opens is not taken for one that was named so in another process', async () => {
  const store = new MemoryStore();
  const clock = new VirtualClock();
  const ids = new Set<string>();
  for (const day of [1, 2]) {
    const scheduler = new Scheduler({ store, clock, concurrency: 0 });
    scheduler.define('work', () => 'done');
    const handle = scheduler.add('work', day);
    // Somebody asks before there is a number.
    ids.add(handle.id);
    await handle.accepted;
    expect(scheduler.size).toBe(day);
    await scheduler.close();
    await clock.advance('1d');
  }
  expect(ids.size).toBe(2);
});
