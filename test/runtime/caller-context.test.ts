import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { InvalidConfigError, Scheduler } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

test('F1.2 a handler sees the context of the call that added it, also after a retry, and never another one’s', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 1 });
  const storage = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const look = async (name: string, attempt: number): Promise<void> => {
    seen.push([name, attempt, storage.getStore()]);
    await Promise.resolve();
    seen.push([name, attempt, storage.getStore()]);
    if (attempt === 1) throw new Error('once more');
  };
  const retry = { attempts: 2, backoff: 'fixed', base: '1s' } as const;
  const add = (name: string): unknown => scheduler.add((task) => look(name, task.attempt), { retry });
  add('none');
  storage.run('a', () => add('a'));
  storage.run('b', () => add('b'));
  await clock.advance('1s');
  const both = (...look: [string, number, string | undefined]): unknown[] => [look, look];
  expect(seen).toEqual([
    ...both('none', 1, undefined),
    ...both('a', 1, 'a'),
    ...both('b', 1, 'b'),
    ...both('none', 2, undefined),
    ...both('a', 2, 'a'),
    ...both('b', 2, 'b'),
  ]);
  await scheduler.close();
});

test('F1.2 it is the context of the call, not of the one before in the same turn, nor that of the first task', async () => {
  const scheduler = new Scheduler();
  const number = new AsyncLocalStorage<number>();
  const other = new AsyncLocalStorage<object>();
  const stores = (): unknown => [number.getStore(), other.getStore()];
  const outer = { name: 'outer' };
  const handles = [
    scheduler.add(stores),
    number.run(0, () => scheduler.add(stores)),
    other.run(outer, () => number.run(1, () => scheduler.add(stores))),
    scheduler.add(stores),
  ];
  expect(await Promise.all(handles)).toEqual([
    [undefined, undefined],
    [0, undefined],
    [1, outer],
    [undefined, undefined],
  ]);
  // Added from what a timer woke, whose context is that of whoever set it.
  const later = await number.run(2, async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return scheduler.add(stores);
  });
  expect(later).toEqual([2, undefined]);
  await scheduler.close();
});

test('F1.2 every occurrence of a series, and a claim that is run, have the context of whoever asked for them', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  const storage = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const look = (): unknown => seen.push(storage.getStore());
  storage.run('series', () => scheduler.repeat(look, { every: '1m', count: 2 }));
  await storage.run('elsewhere', () => clock.advance('1m'));
  expect(seen).toEqual(['series', 'series']);
  await scheduler.close();

  const pulled = new Scheduler({ concurrency: 0 });
  storage.run('adder', () => pulled.add(look));
  const claim = await pulled.worker().next();
  await storage.run('worker', () => claim.run());
  expect(seen).toEqual(['series', 'series', 'adder']);
  await pulled.close();
});

test('with context: false handlers see none', async () => {
  const scheduler = new Scheduler({ context: false });
  const storage = new AsyncLocalStorage<string>();
  expect(await storage.run('a', () => scheduler.add(() => storage.getStore()))).toBeUndefined();
  await scheduler.close();
  expect(() => new Scheduler({ context: 'no' as unknown as boolean })).toThrow(InvalidConfigError);
});
