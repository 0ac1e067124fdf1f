import { expect } from 'vitest';
import { ClosedError, DeposedError, Scheduler, type SchedulerOptions, type Store } from '../../src/index.js';
import type { StorePlace } from '../../src/testing/index.js';

/** A scheduler that is closed with work left, and another one on the same place that does it. */
export async function expectRestart(place: StorePlace): Promise<void> {
  await leaveWork(await place.store());
  await expectWorkDone(await place.store());
  await place.remove?.();
}

function begin(store: Store, ran: unknown[], options: SchedulerOptions): Scheduler {
  const scheduler = new Scheduler({ store, ...options });
  scheduler.define('double', (n: number, task) => {
    ran.push(task.id);
    return { doubled: 2 * n };
  });
  return scheduler;
}

/** Leaves a store with three tasks to do and one done, as a scheduler that was closed does, or one that was killed. */
export async function leaveWork(
  store: Store,
  end: 'closed' | 'killed' = 'closed',
  options: SchedulerOptions = {},
): Promise<void> {
  const first = begin(store, [], { concurrency: 0, ...options });
  const handles = [
    first.add('double', 1, { id: 'one' }),
    first.add('double', 2, { id: 'two', metadata: { 'é"\u2028': '\\' } }),
    first.add('double', 3, { id: 'urgent', priority: 'high' }),
    first.add('double', 4, { id: 'after', after: ['one', 'urgent'] }),
  ];
  await Promise.all(handles.map(({ accepted }) => accepted));
  const claim = await first.worker().claim();
  expect(claim?.task.id).toBe('urgent');
  await claim?.complete({ doubled: 'elsewhere' });
  if (end === 'killed') return;
  const ends = Promise.allSettled(handles.map(({ result }) => result));
  await first.close({ drain: 0 });
  expect((await ends).map((each) => (each.status === 'fulfilled' ? each.value : (each.reason as Error).name))).toEqual([
    ClosedError.name,
    ClosedError.name,
    { doubled: 'elsewhere' },
    ClosedError.name,
  ]);
}

/** Does the work that was left in a store, no more and no less. */
export async function expectWorkDone(store: Store): Promise<void> {
  const ran: unknown[] = [];
  const second = begin(store, ran, { concurrency: 1 });
  await second.start();
  expect(second.get('two')?.metadata).toEqual({ 'é"\u2028': '\\' });
  const results = await Promise.all(['one', 'two', 'urgent', 'after'].map(async (id) => second.handle(id)));
  expect(results).toEqual([{ doubled: 2 }, { doubled: 4 }, { doubled: 'elsewhere' }, { doubled: 8 }]);
  expect(ran).toEqual(['one', 'two', 'after']);
  await second.close();
}

/** Two schedulers that are given one and the same store: the first is deposed, and does not take the store with it. */
export async function expectTakeover(place: StorePlace): Promise<void> {
  const store = await place.store();
  const begin = async (): Promise<Scheduler> => {
    const scheduler = new Scheduler({ store, concurrency: 1 });
    scheduler.define('double', (n: number) => 2 * n);
    await scheduler.start();
    return scheduler;
  };

  const first = await begin();
  expect(await first.add('double', 1, { id: 'one' })).toBe(2);
  const second = await begin();
  await expect(first.add('double', 2, { id: 'two' }).accepted).rejects.toThrow(DeposedError);
  await first.close();
  expect(await second.add('double', 3, { id: 'three' })).toBe(6);
  expect(second.get('two')).toBeUndefined();
  await second.close();

  // With a last snapshot, by the owner that it had.
  const third = await begin();
  expect(await third.handle('three')).toBe(6);
  await third.close();
  await place.remove?.();
}
