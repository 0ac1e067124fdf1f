import { setImmediate } from 'node:timers/promises';
import { expect, expectTypeOf, test } from 'vitest';
import { CancelledError, ClosedError, Scheduler, type CompletedEvent } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

test('F1.1 await scheduler.add gives what the function gives, and rejects with what it throws', async () => {
  const scheduler = new Scheduler({ clock: new VirtualClock() });
  const five = await scheduler.add(() => 5);
  expectTypeOf(five).toEqualTypeOf<number>();
  const error = new Error('no');
  const thrown = scheduler.add(() => {
    throw error;
  });
  expect([five, await thrown.catch((reason: unknown) => reason)]).toEqual([5, error]);
  await scheduler.close();
});

test('F1.1 an AbortSignal goes in, and one reaches the handler', async () => {
  const scheduler = new Scheduler({ clock: new VirtualClock() });
  const controller = new AbortController();
  const heard: unknown[] = [];
  const task = scheduler.add(
    (context) =>
      new Promise((_, reject) => {
        context.signal.addEventListener('abort', () => {
          heard.push(context.signal.reason);
          reject(context.signal.reason as Error);
        });
      }),
    { signal: controller.signal },
  );
  const result = task.result.catch((reason: unknown) => reason);
  await setImmediate();
  controller.abort(new Error('the request is gone'));
  expect(await result).toMatchObject({ code: 'CANCELLED', reason: 'the request is gone' });
  await setImmediate();
  expect(heard).toEqual([expect.any(CancelledError)]);
  await scheduler.close();
});

test('F1.1 await using closes the scheduler, and a worker, at the end of the block', async () => {
  const clock = new VirtualClock();
  let outside: Scheduler;
  {
    await using scheduler = new Scheduler({ clock, concurrency: 0 });
    outside = scheduler;
    scheduler.add(() => 'never').catch(() => undefined);
    await using worker = scheduler.worker();
    expect(await worker.claim()).toBeDefined();
  }
  await expect(outside.submit(() => 1)).rejects.toBeInstanceOf(ClosedError);
});

test('F1.1 claims, mapped results and occurrences are async iterators', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 0 });
  const worker = scheduler.worker();
  const pulled: string[] = [];
  const pulling = (async () => {
    for await (const claim of worker) {
      pulled.push(claim.task.id);
      await claim.run();
    }
  })();
  scheduler.add(() => undefined, { id: 'a' }).catch(() => undefined);
  const doubled: number[] = [];
  for await (const each of scheduler.map([1, 2, 3], (item) => item * 2)) doubled.push(each);
  const series = scheduler.repeat(({ id }) => id, { every: '1s', count: 2, id: 'tick' });
  const runs: string[] = [];
  const reading = (async () => {
    for await (const occurrence of series.occurrences) runs.push(await occurrence.result);
  })();
  await clock.advance('5s');
  await reading;
  await scheduler.close();
  await pulling;
  expect([pulled[0], doubled, runs.length, pulled.length]).toEqual(['a', [2, 4, 6], 2, 6]);
});

test('F1.1 events and what they carry are typed', async () => {
  const scheduler = new Scheduler({ clock: new VirtualClock() });
  const told: unknown[] = [];
  scheduler.on('completed', (event) => {
    expectTypeOf(event).toEqualTypeOf<CompletedEvent>();
    told.push(event.result);
  });
  await scheduler.add(() => 'done');
  expect(told).toEqual(['done']);
  await scheduler.close();
});
