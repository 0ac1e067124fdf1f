import { describe, expect, test } from 'vitest';
import { ClosedError, Scheduler, StoreError, type CloseOptions, type SchedulerOptions } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { ControlledStore } from './controlled-store.js';

const FULL = new StoreError({ operation: 'append', kind: 'full' });
const GIVEN_UP = { code: 'STORE', kind: 'failed', cause: FULL };

interface Bench {
  readonly store: ControlledStore;
  readonly clock: VirtualClock;
  readonly scheduler: Scheduler;
}

function bench(store = new ControlledStore(), options: SchedulerOptions = {}): Bench {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ store, clock, concurrency: 0, ...options });
  scheduler.define('work', (input: unknown) => input);
  scheduler.define('fails', () => Promise.reject(new Error('no')));
  return { store, clock, scheduler };
}

function withoutSpace(store: ControlledStore): void {
  store.failures = Array.from({ length: 1_000 }, () => FULL);
}

/** What has become of promises by now. */
function watch(promises: Readonly<Record<string, PromiseLike<unknown>>>): Record<string, unknown> {
  const ends: Record<string, unknown> = {};
  for (const [name, promise] of Object.entries(promises)) {
    promise.then(
      () => (ends[name] = 'done'),
      (error: unknown) => (ends[name] = error),
    );
  }
  return ends;
}

describe('row 7 F6.1 closing on a disk that is full', () => {
  test.each<[how: string, options: CloseOptions | undefined, endsAfterMs: number]>([
    ['without any time', { drain: 0, grace: 0 }, 0],
    ['as it is unless said otherwise', undefined, 11_000],
    ['with times of its own', { drain: '1m', grace: '30s' }, 90_000],
  ])('gives up when its time is over, tells what is not kept, and loses nothing else: %s', async (_, options, ms) => {
    const { store, clock, scheduler } = bench();
    const told: unknown[] = [];
    scheduler.on('error', ({ error }) => told.push(error));
    const kept = scheduler.add('work', 1, { id: 'kept' });
    await kept.accepted;
    withoutSpace(store);
    const lost = scheduler.add('work', 2, { id: 'lost' });
    const ends = watch({ kept, lost, accepted: lost.accepted });
    await clock.settle();
    const closed = watch({ close: scheduler.close(options) });
    for (let turn = 0; turn < 10; turn += 1) await clock.settle();
    if (ms > 0) {
      await clock.advance(ms - 1);
      expect([closed, ends]).toEqual([{}, {}]);
    }
    await clock.advance(1);
    for (let turn = 0; turn < 10; turn += 1) await clock.settle();
    expect(closed).toEqual({ close: 'done' });
    expect(ends).toMatchObject({ accepted: GIVEN_UP, lost: GIVEN_UP, kept: GIVEN_UP });
    expect(told).toMatchObject([{ kind: 'full' }, GIVEN_UP]);
    expect(clock.timers).toEqual([]);
    const next = bench(await store.crash('lost'));
    await next.scheduler.start();
    expect(next.scheduler.pending().map(({ id }) => id)).toEqual(['kept']);
    await next.scheduler.close();
  });

  test('keeps everything where there is space again before that', async () => {
    const { store, clock, scheduler } = bench();
    await scheduler.start();
    withoutSpace(store);
    const handle = scheduler.add('work', 1, { id: 'kept' });
    const ends = watch({ handle, accepted: handle.accepted, close: scheduler.close() });
    await clock.advance('6s');
    expect(ends).toEqual({});
    store.failures = [];
    await clock.advance(4_999);
    for (let turn = 0; turn < 10; turn += 1) await clock.settle();
    expect(ends).toMatchObject({ accepted: 'done', close: 'done', handle: { code: 'CLOSED', kept: true } });
    expect(clock.timers).toEqual([]);
  });

  test('ends also where it was full when it was opened, and where a signal asks for it', async () => {
    const signal = 'SIGUSR2';
    const before = process.listenerCount(signal);
    const { store, clock, scheduler } = bench(undefined, { shutdownOn: [signal] });
    const listen = (): void => undefined;
    process.on(signal, listen);
    withoutSpace(store);
    const ends = watch({ start: scheduler.start() });
    await clock.settle();
    process.emit(signal, signal);
    await clock.advance('11s');
    for (let turn = 0; turn < 10; turn += 1) await clock.settle();
    expect(ends).toMatchObject({ start: GIVEN_UP });
    expect(process.listenerCount(signal)).toBe(before + 1);
    process.off(signal, listen);
  });
});

test('F6.1 what has not begun is said to be kept when it is', async () => {
  const { store, clock, scheduler } = bench();
  await scheduler.start();
  store.holds = true;
  const handle = scheduler.add('work', 1);
  const ends = watch({ handle });
  await clock.settle();
  const closed = scheduler.close();
  await clock.settle();
  expect(ends).toEqual({});
  store.holds = false;
  store.letGo();
  await clock.settle();
  await clock.settle();
  expect(ends).toMatchObject({ handle: { code: 'CLOSED', kept: true } });
  await closed;
});

describe('F6.1 once it is closed', () => {
  test('nothing can be steered any more, and what the store has stays as it was', async () => {
    const { store, clock, scheduler } = bench(undefined, { concurrency: 1 });
    const controller = new AbortController();
    const failed = scheduler.add('fails', undefined, { id: 'failed' });
    await expect(failed.result).rejects.toThrow('no');
    const { signal } = controller;
    const waiting = scheduler.add('work', 1, { id: 'waiting', delay: '1h', signal });
    const other = scheduler.add('work', 1, { id: 'other', delay: '1h' });
    const series = scheduler.repeat('work', 1, { id: 'series', every: '1h', eta: clock.now().wall + 3_600_000 });
    await other.accepted;
    await scheduler.close();
    const records = store.bodies.length;
    const steering: Record<string, () => unknown> = {
      cancel: () => scheduler.cancel('waiting'),
      'cancel by a function': () => scheduler.cancel(() => true),
      'cancel of a handle': () => waiting.cancel(),
      clear: () => scheduler.clear(),
      retry: () => {
        scheduler.retry('failed');
      },
      setPriority: () => {
        scheduler.setPriority('waiting', 'high');
      },
      'setPriority of a handle': () => {
        waiting.setPriority('high');
      },
      addDependency: () => {
        scheduler.addDependency('other', 'waiting');
      },
      setConcurrency: () => {
        scheduler.setConcurrency(2);
      },
      setStrategy: () => {
        scheduler.setStrategy('fifo');
      },
      setLimit: () => {
        scheduler.setLimit({ global: 1 });
      },
      pauseChannel: () => {
        scheduler.pauseChannel('default');
      },
      'cancel of a series': () => {
        series.cancel();
      },
    };
    for (const [name, steer] of Object.entries(steering)) expect(steer, name).toThrow(ClosedError);
    expect(scheduler.cancel('failed')).toBe(0);
    const uncaught: unknown[] = [];
    const note = (error: unknown): unknown => uncaught.push(error);
    process.prependOnceListener('uncaughtException', note);
    controller.abort();
    await clock.settle();
    process.off('uncaughtException', note);
    expect(uncaught).toEqual([]);
    expect(store.bodies).toHaveLength(records);
    const next = bench(await store.crash('lost'));
    await next.scheduler.start();
    expect(['failed', 'waiting', 'other'].map((id) => next.scheduler.get(id)?.state)).toEqual([
      'failed',
      'delayed',
      'delayed',
    ]);
    await next.scheduler.close();
  });

  test('the same without a store, where nothing would ever come of it', async () => {
    const clock = new VirtualClock();
    const scheduler = new Scheduler({ clock });
    const failed = scheduler.add(() => Promise.reject(new Error('no')), { id: 'failed' });
    await expect(failed.result).rejects.toThrow('no');
    await scheduler.close();
    expect(() => {
      scheduler.retry('failed');
    }).toThrow(ClosedError);
    expect(failed.state).toBe('failed');
    expect([failed.cancel(), scheduler.cancel('failed')]).toEqual([false, 0]);
  });
});
