import { beforeEach, expect, test } from 'vitest';
import { ClosedError, Scheduler, type CloseOptions, type Handle, type SchedulerOptions } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock();
});

function make(options: SchedulerOptions = {}): Scheduler {
  return new Scheduler({ concurrency: 1, clock, ...options });
}

/** A task that takes so long, unless it heeds its signal. */
function slow(scheduler: Scheduler, ms: number, heeds: 'signal' | 'nothing' = 'signal'): Handle<string> {
  return scheduler.add((task) => {
    return new Promise<string>((resolve, reject) => {
      clock.setTimer(() => {
        resolve('done');
      }, ms);
      if (heeds === 'nothing') return;
      task.signal.addEventListener('abort', () => {
        reject(task.signal.reason as Error);
      });
    });
  });
}

/** Whether the close has come to its end. */
function watch(closed: Promise<void>): () => boolean {
  let isDone = false;
  void closed.then(() => {
    isDone = true;
  });
  return () => isDone;
}

test('F6.1 what has not begun rejects with ClosedError at once, what runs has the drain time, and is then aborted', async () => {
  const scheduler = make({ concurrency: 2 });
  const [quick, late] = [slow(scheduler, 4_000), slow(scheduler, 60_000)];
  const waiting = scheduler.add(() => 1, { id: 'waiting' });
  const after = scheduler.add(() => 1, { after: [waiting] });
  const delayed = scheduler.add(() => 1, { delay: '1h' });
  await clock.settle();
  const isDone = watch(scheduler.close({ drain: '5s' }));
  for (const handle of [waiting, after, delayed]) await expect(handle.result).rejects.toThrow(ClosedError);
  expect([waiting.state, quick.state, late.state]).toEqual(['cancelled', 'running', 'running']);
  await clock.advance(4_999);
  expect([quick.state, late.state, isDone()]).toEqual(['completed', 'running', false]);
  await clock.advance(1);
  await expect(late.result).rejects.toThrow(ClosedError);
  await clock.settle();
  expect([late.state, isDone(), scheduler.running]).toEqual(['cancelled', true, 0]);
  expect(clock.timers.filter(({ waitMs }) => waitMs < 50_000)).toEqual([]);
});

test('F6.1 nothing starts once it closes: not what was ready, nor a retry, nor a claim', async () => {
  const scheduler = make({ concurrency: 1 });
  let runs = 0;
  let fail = (): void => undefined;
  const failing = scheduler.add(
    () =>
      new Promise((_, reject) => {
        runs += 1;
        fail = () => {
          reject(new Error('again'));
        };
      }),
    { retry: { attempts: 5, backoff: 'fixed', base: '1s' } },
  );
  const atOnce = scheduler.add(() => Promise.reject(new Error('no')), { retry: 5 });
  await clock.settle();
  const closed = scheduler.close({ drain: '1m' });
  fail();
  await expect(failing.result).rejects.toThrow(ClosedError);
  await closed;
  expect([runs, atOnce.state, scheduler.size]).toEqual([1, 'cancelled', 0]);
});

test('F6.1 an attempt that ignores its abort is waited for during the grace, and then left behind', async () => {
  const scheduler = make();
  const deaf = slow(scheduler, 60_000, 'nothing');
  await clock.settle();
  const isDone = watch(scheduler.close({ drain: '1s', grace: '2s' }));
  await clock.advance('1s');
  await expect(deaf.result).rejects.toThrow(ClosedError);
  await clock.advance(1_999);
  expect([isDone(), scheduler.running]).toEqual([false, 1]);
  await clock.advance(1);
  await clock.settle();
  expect([isDone(), scheduler.running]).toEqual([true, 1]);
  await clock.advance('2m');
  expect([deaf.state, scheduler.running, clock.timers]).toEqual(['cancelled', 0, []]);
});

test('F6.1 one that settles within the grace ends the close then', async () => {
  const scheduler = make();
  slow(scheduler, 1_500, 'nothing');
  await clock.settle();
  const isDone = watch(scheduler.close({ drain: 1_000, grace: '1h' }));
  await clock.advance(1_499);
  expect(isDone()).toBe(false);
  await clock.advance(1);
  await clock.settle();
  expect(isDone()).toBe(true);
});

test('F6.1 without a drain time what runs has ten seconds, with an endless one all the time it needs', async () => {
  const [bounded, endless] = [make(), make()];
  const [first, second] = [slow(bounded, 20_000), slow(endless, 20_000)];
  await clock.settle();
  void bounded.close();
  const isDone = watch(endless.close({ drain: Infinity }));
  await clock.advance('9s');
  expect(first.state).toBe('running');
  await clock.advance('1s');
  expect(first.state).toBe('cancelled');
  await clock.advance('10s');
  await clock.settle();
  expect([second.state, isDone()]).toEqual(['completed', true]);
});

test('F6.1 claims that are not settled in time are given back: their signal aborts, and they no longer count', async () => {
  const scheduler = make({ concurrency: 0 });
  const worker = scheduler.worker({ lease: '1h' });
  const held = scheduler.add(() => 1);
  const claim = await worker.next();
  const { signal } = claim.task;
  const isDone = watch(scheduler.close({ drain: '5s' }));
  await clock.advance('5s');
  await clock.settle();
  await expect(held.result).rejects.toThrow(ClosedError);
  expect([signal.aborted, signal.reason instanceof ClosedError, isDone(), scheduler.running]).toEqual([
    true,
    true,
    true,
    0,
  ]);
  await expect(claim.complete(1)).rejects.toMatchObject({ code: 'STALE_LEASE' });
});

test('row 36 F6.1 closing twice is closing once; adding afterwards is refused; an idle one closes at once', async () => {
  const scheduler = make();
  const closed = scheduler.close({ drain: '1s' });
  expect(scheduler.close({ drain: '1h' })).toBe(closed);
  await closed;
  await expect(scheduler.add(() => 1).result).rejects.toThrow(ClosedError);
  await expect(scheduler.submit(() => 1)).rejects.toThrow(ClosedError);
  await expect(scheduler.addAll([{ run: () => 1 }])[0].accepted).rejects.toThrow(ClosedError);
  expect(() => scheduler.repeat(() => 1, { every: '1s' })).toThrow(ClosedError);
  expect(() => scheduler.worker()).toThrow(ClosedError);
});

test('row 36 F6.1 close from inside a handler lets that handler finish', async () => {
  const scheduler = make();
  let closed: Promise<void> | undefined;
  const last = scheduler.add(() => {
    closed = scheduler.close();
    return 'last';
  });
  const next = scheduler.add(() => 'never');
  expect(await last).toBe('last');
  await closed;
  await expect(next.result).rejects.toThrow(ClosedError);
});

test('F6.1 await using closes, and a hundred days of drain are waited for with a timer that can count that far', async () => {
  let kept: Scheduler | undefined;
  {
    await using scheduler = make();
    kept = scheduler;
    expect(await scheduler.add(() => 1)).toBe(1);
  }
  await expect(kept.add(() => 1).accepted).rejects.toThrow(ClosedError);
  const scheduler = make();
  const last = slow(scheduler, 5_000);
  await clock.settle();
  const closed = scheduler.close({ drain: '100d' });
  await clock.advance('5s');
  await closed;
  expect(last.state).toBe('completed');
});

test.each([
  [{ drain: -1 }, 'drain'],
  [{ drain: 'soon' }, 'drain'],
  [{ grace: NaN }, 'grace'],
  [{ drian: 5 }, 'options.drian'],
  [7, 'options'],
])('F6.1 bad input: close(%j) throws, and nothing closes', async (options, field) => {
  const scheduler = make();
  expect(() => scheduler.close(options as CloseOptions)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', field }),
  );
  expect(await scheduler.add(() => 1)).toBe(1);
});
