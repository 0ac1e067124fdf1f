import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { Scheduler } from '../../src/index.js';
import { SIM_START, VirtualClock } from '../../src/testing/index.js';

const nothing = (): void => undefined;

function started(): { readonly clock: VirtualClock; readonly scheduler: Scheduler } {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ clock }) };
}

test('E2.1 a series runs at once and then at its interval, and says when and how often', async () => {
  const { clock, scheduler } = started();
  const ran: number[] = [];
  const series = scheduler.repeat(() => ran.push(clock.now().mono), { every: '10s', id: 'ping' });
  expect([series.id, series.state, series.runs]).toEqual(['ping', 'active', 1]);
  await clock.advance('25s');
  expect(ran).toEqual([0, 10_000, 20_000]);
  expect([series.runs, series.skipped, series.next, series.overran]).toEqual([3, 0, SIM_START + 30_000, false]);
  await scheduler.close();
});

test('E7.1 E7.4 a series is paused, resumed and cancelled by its handle; an ended one only lets itself be cancelled', async () => {
  const { clock, scheduler } = started();
  let runs = 0;
  const series = scheduler.repeat(() => (runs += 1), { every: '10s' });
  await clock.advance('10s');
  series.pause();
  await clock.advance('60s');
  expect([runs, series.state]).toEqual([2, 'paused']);
  series.resume();
  await clock.advance('0s');
  expect([runs, series.state]).toEqual([3, 'active']);
  series.cancel();
  await clock.advance('60s');
  expect([runs, series.state, series.next]).toEqual([3, 'ended', undefined]);
  const successor = scheduler.repeat(nothing, { every: '10s', id: series.id });
  series.cancel();
  for (const act of ['pause', 'resume'] as const) {
    expect(() => {
      series[act]();
    }).toThrow(expect.objectContaining({ code: 'UNKNOWN_TASK', taskId: series.id }));
  }
  expect(successor.state).toBe('active');
  await scheduler.close();
});

test('F1.1 occurrences are an async iterator: each with its result, to the end of the series', async () => {
  const { clock, scheduler } = started();
  const series = scheduler.repeat(
    (task) => {
      if (task.id === 'task-2') throw new Error('not today');
      return task.id;
    },
    { every: '10s', count: 3 },
  );
  const seen: unknown[] = [];
  const loop = (async () => {
    for await (const { id, scheduledAt, state, result } of series.occurrences) {
      seen.push([id, (scheduledAt - SIM_START) / 1_000, state, await result.catch((error: unknown) => String(error))]);
    }
  })();
  await clock.advance('1m');
  await loop;
  expect(seen).toEqual([
    ['task-1', 0, 'completed', 'task-1'],
    ['task-2', 10, 'failed', 'Error: not today'],
    ['task-3', 20, 'completed', 'task-3'],
  ]);
  await scheduler.close();
});

test('F1.1 the iterator ends with a series that is cancelled, after the occurrence that still runs', async () => {
  const { clock, scheduler } = started();
  let open: () => void = nothing;
  const series = scheduler.repeat(() => new Promise<void>((resolve) => (open = resolve)), { every: '10s' });
  const states: string[] = [];
  const loop = (async () => {
    for await (const { state } of series.occurrences) states.push(state);
  })();
  await clock.settle();
  series.cancel();
  await clock.settle();
  expect(states).toEqual([]);
  open();
  await loop;
  expect(states).toEqual(['completed']);
  for await (const _ of series.occurrences) expect.unreachable('nothing comes of a series that has ended');
  await scheduler.close();
});

test('a reader who is slow loses the oldest occurrences', async () => {
  const { clock, scheduler } = started();
  const series = scheduler.repeat(nothing, { every: 1, from: 'grid', count: 1_500 });
  const reader = series.occurrences[Symbol.asyncIterator]();
  const first = reader.next();
  await clock.advance(2_000);
  expect(((await first).value as { scheduledAt: number }).scheduledAt).toBe(SIM_START);
  expect(((await reader.next()).value as { scheduledAt: number }).scheduledAt).toBe(SIM_START + 500);
  for (let left = 998; left >= 0; left -= 1) await reader.next();
  expect((await reader.next()).done).toBe(true);
  await scheduler.close();
});

test('E7.3 the handle says that its series runs more often than its schedule gives', async () => {
  const { clock, scheduler } = started();
  const told: unknown[] = [];
  scheduler.on('overran', (event) => told.push(event));
  const series = scheduler.repeat(nothing, { every: '10s', from: 'grid', catchUp: 'all' });
  await clock.advance('10s');
  clock.jump(30_000);
  await clock.advance('10s');
  expect([series.runs, series.overran]).toEqual([6, true]);
  const from = SIM_START + 50_000;
  expect(told).toEqual([{ seriesId: series.id, from, until: from + 10_000, at: from }]);
  await clock.advance('20s');
  expect([series.overran, told.length]).toEqual([false, 1]);
  await scheduler.close();
});

test('B10.1 a handle of an occurrence that failed tells what comes of it when it is run again', async () => {
  const { clock, scheduler } = started();
  let isBroken = true;
  scheduler.repeat(
    () => {
      if (isBroken) throw new Error('broken');
      return 'mended';
    },
    { every: '1h', id: 'flaky' },
  );
  const handle = scheduler.handle(scheduler.pending()[0]?.id ?? '');
  await expect(handle?.result).rejects.toThrow('broken');
  isBroken = false;
  scheduler.retry(handle?.id ?? '');
  await clock.settle();
  expect(await handle?.result).toBe('mended');
  expect(scheduler.handle(handle?.id ?? '')).toBe(handle);
  await scheduler.close();
});

test('F1.1 a signal cancels its series, and is let go of when that has ended', async () => {
  const { clock, scheduler } = started();
  const controller = new AbortController();
  const { signal } = controller;
  const series = scheduler.repeat(nothing, { every: '10s', signal });
  const counted = scheduler.repeat(nothing, { every: '10s', count: 2, signal });
  const byHand = scheduler.repeat(nothing, { every: '10s', signal });
  await clock.advance('10s');
  byHand.cancel();
  expect([series.state, counted.state, byHand.state]).toEqual(['active', 'ended', 'ended']);
  controller.abort('enough');
  await clock.advance('1m');
  expect([series.state, series.runs]).toEqual(['ended', 2]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(() => scheduler.repeat(nothing, { every: '10s', id: 'late', signal })).toThrow(
    expect.objectContaining({ code: 'CANCELLED', taskId: 'late', reason: 'enough' }),
  );
  expect(() => scheduler.repeat(nothing, { every: '10s', signal: {} as AbortSignal })).toThrow(/signal/);
  await scheduler.close();
});

test('closing ends every series, and none can be begun afterwards', async () => {
  const { clock, scheduler } = started();
  const series = scheduler.repeat(nothing, { every: '10s' });
  await clock.settle();
  await scheduler.close();
  expect(series.state).toBe('ended');
  expect(() => scheduler.repeat(nothing, { every: '10s' })).toThrow(expect.objectContaining({ code: 'CLOSED' }));
});

test.each([
  [{}, /every/],
  [{ every: 0 }, /every/],
  [{ every: '1s', cron: '* * * * *' }, /cron/],
  [{ cron: 'often' }, /cron/],
  [{ every: '1s', after: [] }, /after/],
  [{ every: '1s', delay: 5 }, /delay/],
  [{ every: '1s', priority: 'urgent' }, /priority/],
])('bad input: a series with %j is refused and changes nothing', async (options, message) => {
  const { scheduler } = started();
  scheduler.repeat(nothing, { every: '1h', id: 'taken' });
  const size = scheduler.size;
  expect(() => scheduler.repeat(nothing, options as never)).toThrow(message);
  expect(() => scheduler.repeat(7 as never, { every: '1s' })).toThrow(/run/);
  expect(scheduler.size).toBe(size);
  await scheduler.close();
});
