import { describe, expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { Scheduler } from '../../src/index.js';
import { SIM_START, VirtualClock, sim, type Sim } from '../../src/testing/index.js';

const SECOND = 1_000;
const at = (seconds: number): Date => new Date(SIM_START + seconds * SECOND);
const nothing = (): void => undefined;

/** When the series goes on, in seconds from the beginning. */
function next(s: Sim, series = 'series'): number | undefined {
  const nextAt = s.core.state.series.get(series)?.nextAt;
  return nextAt === undefined ? undefined : (nextAt - SIM_START) / SECOND;
}

/** Runs what is due and ends it at once, for so many seconds. */
function live(s: Sim, seconds: number): void {
  for (let left = seconds; left >= 0; left -= 1) {
    for (const attempt of s.running()) s.complete(attempt);
    if (left > 0) s.advance(SECOND);
  }
}

/** A series that runs every 10 s, and has run at 0, 10 and 20 s; now it is 24 s. */
function running(options: Parameters<Sim['repeat']>[1] = { every: '10s' }): Sim {
  const s = sim({ slots: 1 });
  s.repeat('series', options);
  live(s, 24);
  expect(s.core.state.series.get('series')?.made).toBe(3);
  return s;
}

describe('E2.4 the same id again updates the series', () => {
  test('with the same schedule it keeps its next moment and its runs, and runs what is new', () => {
    const s = running();
    s.repeat('series', { every: '10s', payload: 'new', priority: 'high' });
    expect([next(s), s.core.state.series.get('series')?.made]).toEqual([30, 3]);
    s.advance(6 * SECOND);
    const [attempt = ''] = s.running();
    expect(s.task(attempt.slice(0, -2))).toMatchObject({ payload: 'new', level: 1 });
  });

  test.each([
    ['a longer interval counts from the run before', { every: '60s' }, 80],
    ['a shorter one too', { every: '7s' }, 27],
    ['counted from the start as well', { every: '7s', from: 'start' }, 27],
    ['a grid without an ETA goes on from the last tick', { every: '3s', from: 'grid' }, 26],
    ['a grid is aligned to its ETA', { every: '7s', from: 'grid', eta: at(1) }, 29],
    ['an ETA to come is waited for', { every: '7s', eta: at(100) }, 100],
    ['a cron goes on at its next match', { cron: '* * * * *' }, 60],
  ] as const)('%s', (_, options, seconds) => {
    const s = running();
    s.repeat('series', options);
    expect(next(s)).toBe(seconds);
    s.advance((seconds - 24) * SECOND);
    expect(s.running()).toHaveLength(1);
  });

  test('an interval that has passed already runs at once, and nothing is caught up with', () => {
    for (const from of ['end', 'start'] as const) {
      const s = running();
      s.repeat('series', { every: '1s', from, catchUp: 'all' });
      expect(s.core.state.series.get('series')).toMatchObject({ made: 4, queued: [] });
      s.complete(s.running()[0] ?? '');
      expect(next(s)).toBe(25);
    }
  });

  test('an occurrence that runs goes on as it was made, and the interval counts from its end', () => {
    const s = running();
    s.advance(6 * SECOND);
    const [attempt = ''] = s.running();
    s.repeat('series', { every: '5s', payload: 'new' });
    expect([s.running(), next(s)]).toEqual([[attempt], undefined]);
    s.advance(3 * SECOND);
    s.complete(attempt);
    expect(next(s)).toBe(38);
  });

  test('one from the start that has not begun is waited for', () => {
    const s = sim();
    s.repeat('series', { every: '10s', from: 'start' });
    s.repeat('series', { every: '5s', from: 'start' });
    expect(next(s)).toBeUndefined();
    s.advance(4 * SECOND);
    s.claim();
    expect(next(s)).toBe(9);
  });

  test('a series that has not begun begins by what is new', () => {
    const s = sim({ slots: 1 });
    s.repeat('series', { every: '10s', eta: at(100) });
    s.repeat('series', { every: '10s', eta: at(50) });
    expect(next(s)).toBe(50);
    s.repeat('series', { every: '10s' });
    expect(s.running()).toHaveLength(1);
  });

  test('a paused one stays paused, and goes on by what is new', () => {
    const s = running();
    s.send({ kind: 'pauseSeries', series: 'series' });
    s.repeat('series', { every: '7s' });
    s.advance(60 * SECOND);
    expect(s.running()).toEqual([]);
    s.send({ kind: 'resumeSeries', series: 'series' });
    expect(s.running()).toHaveLength(1);
  });

  test('runs count towards the new count, and a series that is used up ends', () => {
    const s = running();
    s.repeat('series', { every: '10s', count: 4 });
    live(s, 60);
    expect([s.core.state.series.size, s.facts.at(-1)]).toMatchObject([0, { kind: 'series.ended', reason: 'finished' }]);
    const over = running();
    over.repeat('series', { every: '10s', count: 3 });
    expect(over.core.state.series.size).toBe(0);
    const late = running();
    late.repeat('series', { every: '10s', until: at(29) });
    expect(late.core.state.series.size).toBe(0);
    const other = running();
    other.repeat('series', { every: '60s', until: at(79) });
    expect(other.core.state.series.size).toBe(0);
  });

  test('another schedule is no reason to warn of too many runs', () => {
    const s = running({ every: '10s', from: 'grid' });
    s.repeat('series', { every: '1s', from: 'grid' });
    live(s, 3);
    expect(s.core.state.series.get('series')).toMatchObject({ made: 7, overran: false });
  });

  test('a higher count lets a series go on whose last occurrence runs', () => {
    const s = sim({ slots: 1 });
    s.repeat('series', { every: '10s', from: 'grid', count: 1 });
    expect(next(s)).toBeUndefined();
    s.advance(SECOND);
    s.repeat('series', { every: '10s', from: 'grid', count: 2 });
    expect(next(s)).toBe(10);
  });

  test('ticks that wait for the occurrence before are kept as far as the count goes', () => {
    const s = sim({ slots: 1 });
    s.repeat('series', { every: '10s', from: 'grid', overlap: 'queue' });
    s.advance(45 * SECOND);
    const series = s.core.state.series.get('series');
    expect(series?.queued).toHaveLength(4);
    s.repeat('series', { every: '10s', from: 'grid', overlap: 'queue', count: 3 });
    expect([series?.queued.length, next(s)]).toEqual([2, undefined]);
    live(s, 5);
    expect([series?.made, series?.ended]).toEqual([3, true]);
  });

  test('what is refused changes nothing', () => {
    const s = running();
    s.send({ kind: 'closeChannel', channel: 'closed' });
    const before = JSON.stringify(s.core.snapshot());
    for (const options of [
      { every: '1s', channel: 'closed' },
      { every: '1s', needs: { gpu: 1 } },
    ]) {
      expect(() => {
        s.repeat('series', options);
      }).toThrow();
    }
    expect(JSON.stringify(s.core.snapshot())).toBe(before);
  });

  test('it survives a snapshot, and its facts tell it again', () => {
    const s = running();
    s.repeat('series', { cron: '30 * * * * *', payload: 'new', keepAlive: true });
    const snapshot = JSON.parse(JSON.stringify(s.core.snapshot())) as ReturnType<Core['snapshot']>;
    const restored = Core.restore(snapshot);
    expect(restored.state.series.get('series')).toMatchObject({
      payload: 'new',
      made: 3,
      nextAt: SIM_START + 30 * SECOND,
      recurrence: { keepAlive: true },
    });
    expect(restored.keepsAlive).toBe(true);
    const replayed = sim({ slots: 1 });
    for (const fact of s.facts) replayed.core.apply(JSON.parse(JSON.stringify(fact)) as typeof fact);
    expect(replayed.core.state.series.get('series')).toMatchObject({ payload: 'new', nextAt: SIM_START + 30 * SECOND });
  });
});

describe('E2.4 through the scheduler', () => {
  test('repeat gives the same handle, and its readers go on', async () => {
    const clock = new VirtualClock();
    const scheduler = new Scheduler({ clock });
    const series = scheduler.repeat(() => 'old', { id: 'series', every: '10s' });
    const seen: unknown[] = [];
    const loop = (async () => {
      for await (const { result } of series.occurrences) seen.push(await result);
    })();
    await clock.advance('15s');
    const updated = scheduler.repeat(() => 7, { id: 'series', every: '10s', count: 4 });
    expect(updated).toBe(series);
    await clock.advance('1m');
    await loop;
    expect([seen, updated.runs, updated.state]).toEqual([['old', 'old', 7, 7], 4, 'ended']);
    await scheduler.close();
  });

  test('one that was made before the update runs what it was made with', async () => {
    const clock = new VirtualClock();
    const scheduler = new Scheduler({ clock });
    const ran: string[] = [];
    scheduler.pause();
    scheduler.repeat(() => ran.push('old'), { id: 'series', every: '10s' });
    scheduler.repeat(() => ran.push('new'), { id: 'series', every: '10s' });
    scheduler.resume();
    await clock.advance('10s');
    expect(ran).toEqual(['old', 'new']);
    await scheduler.close();
  });

  test('a series without an id updates none, not even one that was given such a name', async () => {
    const clock = new VirtualClock();
    const scheduler = new Scheduler({ clock });
    const ids = ['series-1', 'series-2', undefined, undefined].map(
      (id) => scheduler.repeat(nothing, { every: '10s', ...(id === undefined ? {} : { id }) }).id,
    );
    expect(new Set(ids).size).toBe(4);
    await scheduler.close();
  });
});

test('E2.5 a definition repeats with its input and its options, by itself or by its name', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  const ran: unknown[] = [];
  const report = scheduler.define(
    'report',
    (input: { team: string }, task) => {
      ran.push([input.team, task.input === input, task.channel]);
      return input.team;
    },
    { channel: 'reports', retry: 2 },
  );
  const series = scheduler.repeat(report, { team: 'infra' }, { every: '10s', count: 1 });
  scheduler.repeat('report', { team: 'web' }, { every: '10s', count: 1, channel: 'other' });
  const first = series.occurrences[Symbol.asyncIterator]().next();
  await clock.settle();
  expect(ran).toEqual([
    ['infra', true, 'reports'],
    ['web', true, 'other'],
  ]);
  expect(await ((await first).value as { result: Promise<string> }).result).toBe('infra');
  expect(scheduler.get('task-1')?.type).toBe('report');
  expect(() => scheduler.repeat('unknown', 1, { every: '1s' })).toThrow(
    expect.objectContaining({ code: 'UNKNOWN_HANDLER', type: 'unknown' }),
  );
  const foreign = new Scheduler({ clock }).define('report', nothing);
  expect(() => scheduler.repeat(foreign, undefined, { every: '1s' })).toThrow(/run/);
  await scheduler.close();
});

test('E5.4 with keepAlive the process stays for a series, and for what is due about its occurrences', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  const isAlive = async (): Promise<boolean | undefined> => {
    await clock.settle();
    return clock.timers[0]?.keepsAlive;
  };
  scheduler.repeat(() => Promise.reject(new Error('no')), {
    id: 'series',
    every: '1h',
    retry: { attempts: 2, backoff: 'fixed', base: '10s' },
    keepAlive: true,
  });
  expect([await isAlive(), clock.timers[0]?.waitMs]).toEqual([true, 10_000]);
  await clock.advance('10s');
  expect([await isAlive(), clock.timers[0]?.waitMs]).toEqual([true, 3_600_000]);
  const series = scheduler.repeat(nothing, { id: 'series', every: '1h' });
  expect(await isAlive()).toBe(false);
  scheduler.repeat(nothing, { id: 'series', every: '1h', keepAlive: true });
  expect(await isAlive()).toBe(true);
  series.cancel();
  expect(await isAlive()).toBeUndefined();
  await scheduler.close();
});
