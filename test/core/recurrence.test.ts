import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstAt, missed, nextAt, parseSeries } from '../../src/core/recurrence.js';
import type { RecurrenceOptions, RecurrenceSpec } from '../../src/model/recurrence.js';

const T = Date.parse('2026-01-01T00:00:00Z');
const SECOND = 1_000;
const HOUR = 3_600_000;

const previous = (scheduledWall: number, startedWall?: number, endedWall?: number) => ({
  scheduledWall,
  startedWall,
  endedWall,
});

describe('the first occurrence', () => {
  const first = (options: RecurrenceOptions): number | undefined => firstAt(parseSeries(options), T);

  test('of an interval is due at once, or at its ETA', () => {
    expect(first({ every: '1m' })).toBe(T);
    expect(first({ every: '1m', eta: T + 5 })).toBe(T + 5);
    expect(first({ every: '1m', eta: T - 5 })).toBe(T);
    expect(first({ every: '1m', eta: T })).toBe(T);
  });

  test('of a grid is on the grid, whose origin is the ETA or the submission', () => {
    expect(first({ every: '1m', from: 'grid' })).toBe(T);
    expect(first({ every: '1m', from: 'grid', eta: T + 7 })).toBe(T + 7);
    expect(first({ every: '1m', from: 'grid', eta: T - 100 * SECOND })).toBe(T + 20 * SECOND);
    expect(first({ every: '1m', from: 'grid', eta: T - 120 * SECOND })).toBe(T);
  });

  test('of a cron is the first match after the submission, or at or after the ETA', () => {
    expect(first({ cron: '0 * * * *' })).toBe(T + HOUR);
    expect(first({ cron: '0 * * * *', eta: T })).toBe(T);
    expect(first({ cron: '0 * * * *', eta: T + 2 * HOUR })).toBe(T + 2 * HOUR);
    expect(first({ cron: '0 * * * *', eta: T - 2 * HOUR })).toBe(T + HOUR);
  });

  test('does not exist when the series is over before it', () => {
    expect(first({ every: '1m', eta: T + 5, until: T + 4 })).toBeUndefined();
    expect(first({ cron: '0 * * * *', until: T + HOUR - 1 })).toBeUndefined();
    expect(first({ cron: '0 * * * *', until: T + HOUR })).toBe(T + HOUR);
    expect(first({ cron: '0 0 0 1 1 * 2020' })).toBeUndefined();
  });
});

describe('the next occurrence', () => {
  test('completion at 10 s with an interval of 60 s: 70, then 130', () => {
    const spec = parseSeries({ every: '60s' });
    expect(nextAt(spec, previous(T, T, T + 10 * SECOND), 1)).toBe(T + 70 * SECOND);
    expect(nextAt(spec, previous(T + 70 * SECOND, T + 70 * SECOND, T + 70 * SECOND), 2)).toBe(T + 130 * SECOND);
  });

  test('with an ETA of 24 h and an interval of 1 h: 24, 25, 26', () => {
    const spec = parseSeries({ every: '1h', eta: T + 24 * HOUR });
    const due = [firstAt(spec, T)!];
    for (let made = 1; made < 3; made++) due.push(nextAt(spec, previous(due.at(-1)!, due.at(-1), due.at(-1)), made)!);
    expect(due.map((wall) => (wall - T) / HOUR)).toEqual([24, 25, 26]);
  });

  test('is counted from the end, the start or the grid', () => {
    const before = previous(T, T + 2, T + 50);
    const next = (from: 'end' | 'start' | 'grid') => nextAt(parseSeries({ every: 100, from }), before, 1);
    expect([next('end'), next('start'), next('grid')]).toEqual([T + 150, T + 102, T + 100]);
  });

  test('of one that was cancelled before it started is counted from what there is', () => {
    expect(nextAt(parseSeries({ every: 100, from: 'start' }), previous(T, undefined, T + 7), 1)).toBe(T + 107);
    expect(nextAt(parseSeries({ every: 100, from: 'start' }), previous(T), 1)).toBe(T + 100);
    expect(nextAt(parseSeries({ every: 100 }), previous(T, T + 3), 1)).toBe(T + 103);
    expect(nextAt(parseSeries({ every: 100 }), previous(T), 1)).toBe(T + 100);
  });

  test('of a cron follows the tick before, however late that one ran', () => {
    const spec = parseSeries({ cron: '0 * * * *' });
    expect(nextAt(spec, previous(T, T + 5 * HOUR, T + 6 * HOUR), 1)).toBe(T + HOUR);
  });

  test('stops at the count and at the end', () => {
    const counted = parseSeries({ every: 100, count: 2 });
    expect(nextAt(counted, previous(T, T, T), 1)).toBe(T + 100);
    expect(nextAt(counted, previous(T, T, T), 2)).toBeUndefined();
    const until = parseSeries({ every: 100, until: T + 100 });
    expect(nextAt(until, previous(T, T, T), 1)).toBe(T + 100);
    expect(nextAt(until, previous(T, T, T + 1), 1)).toBeUndefined();
  });

  test('is the same for a spec that comes back from a store', () => {
    const spec = parseSeries({ cron: '30 2 * * *', timeZone: 'Europe/Berlin', count: 5, until: T * 2, eta: T });
    const stored = JSON.parse(JSON.stringify(spec)) as RecurrenceSpec;
    expect(nextAt(stored, previous(T), 1)).toBe(nextAt(spec, previous(T), 1));
  });
});

describe('after a downtime', () => {
  const after = (options: RecurrenceOptions, downMs: number, limit = 100, made = 1) => {
    const { due, nextWall } = missed(parseSeries(options), T, T + downMs, made, limit);
    return { due: due.map((wall) => wall - T), next: nextWall === undefined ? undefined : nextWall - T };
  };

  test.each<RecurrenceOptions>([{ every: '1h', from: 'grid' }, { every: '1h', from: 'start' }, { cron: '0 * * * *' }])(
    '%o: once makes the latest, all makes each, none makes none',
    (timing) => {
      const down = 3.5 * HOUR;
      expect(after(timing, down)).toEqual({ due: [3 * HOUR], next: 4 * HOUR });
      expect(after({ ...timing, catchUp: 'all' }, down)).toEqual({ due: [HOUR, 2 * HOUR, 3 * HOUR], next: 4 * HOUR });
      expect(after({ ...timing, catchUp: 'none' }, down)).toEqual({ due: [], next: 4 * HOUR });
      for (const catchUp of ['once', 'all', 'none'] as const) {
        expect(after({ ...timing, catchUp }, HOUR - 1)).toEqual({ due: [], next: HOUR });
        expect(after({ ...timing, catchUp }, -5 * HOUR)).toEqual({ due: [], next: HOUR });
      }
      expect(after(timing, HOUR)).toEqual({ due: [HOUR], next: 2 * HOUR });
    },
  );

  test('a cap keeps the earliest, and the series goes on after now', () => {
    const all = { cron: '0 * * * *', catchUp: 'all' } as const;
    expect(after(all, 5.5 * HOUR, 2)).toEqual({ due: [HOUR, 2 * HOUR], next: 6 * HOUR });
  });

  test('an interval counted from the end has missed one at most, and goes on from its end', () => {
    for (const catchUp of ['once', 'all'] as const) {
      expect(after({ every: '1h', catchUp }, 9.5 * HOUR)).toEqual({ due: [HOUR], next: undefined });
      expect(after({ every: '1h', catchUp }, 0.5 * HOUR)).toEqual({ due: [], next: HOUR });
    }
    expect(after({ every: '1h', catchUp: 'none' }, 9.5 * HOUR)).toEqual({ due: [], next: 10 * HOUR });
  });

  test('count and end hold for what is caught up too', () => {
    const all = { every: '1h', from: 'grid', catchUp: 'all' } as const;
    expect(after({ ...all, count: 3 }, 9.5 * HOUR)).toEqual({ due: [HOUR, 2 * HOUR], next: undefined });
    expect(after({ ...all, count: 1 }, 9.5 * HOUR)).toEqual({ due: [], next: undefined });
    expect(after({ ...all, until: T + 2 * HOUR }, 9.5 * HOUR)).toEqual({ due: [HOUR, 2 * HOUR], next: undefined });
    expect(after({ ...all, catchUp: 'once', until: T + 2 * HOUR }, 9.5 * HOUR)).toEqual({
      due: [2 * HOUR],
      next: undefined,
    });
  });

  test('years of missed seconds cost no more than the cap', () => {
    const years = 3 * 365 * 24 * HOUR;
    expect(after({ cron: '* * * * * *' }, years).due).toEqual([years]);
    expect(after({ every: 1, from: 'grid' }, years).due).toEqual([years]);
    expect(after({ cron: '* * * * * *', catchUp: 'all' }, years, 10).due).toHaveLength(10);
  });

  test('grid and cron ticks that are missed are just those that would have been made', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.nat(1_000),
        fc.integer({ min: 1, max: 30 }),
        (every, down, limit) => {
          const spec = parseSeries({ every, from: 'grid', catchUp: 'all' });
          const expected: number[] = [];
          let tick = T + every;
          for (; tick <= T + down; tick += every) expected.push(tick);
          expect(missed(spec, T, T + down, 1, limit)).toEqual({ due: expected.slice(0, limit), nextWall: tick });
        },
      ),
    );
  });
});
