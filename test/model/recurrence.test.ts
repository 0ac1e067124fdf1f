import { expect, test } from 'vitest';
import { parseRecurrence, type RecurrenceOptions } from '../../src/model/recurrence.js';

test('an interval is counted from the end, skips overlaps and catches up once, unless told otherwise', () => {
  expect(parseRecurrence({ every: '30s' })).toEqual({
    timing: { kind: 'every', everyMs: 30_000, from: 'end' },
    overlap: 'skip',
    catchUp: 'once',
    count: Infinity,
    untilWall: Infinity,
    etaWall: -Infinity,
    keepAlive: false,
  });
});

test('everything can be said, and the options of its tasks are none of its business', () => {
  const options = {
    cron: '0 9 * * 1-5',
    timeZone: 'Europe/Berlin',
    overlap: 'queue',
    catchUp: 'all',
    count: 3,
    until: '2026-01-02T00:00:00Z',
    eta: '2026-01-01T00:00:00Z',
    keepAlive: true,
    priority: 'high',
  } as const;
  const spec = parseRecurrence(options);
  expect(spec).toEqual({
    timing: { kind: 'cron', expression: '0 9 * * 1-5', timeZone: 'Europe/Berlin' },
    overlap: 'queue',
    catchUp: 'all',
    count: 3,
    untilWall: 1_767_312_000_000,
    etaWall: 1_767_225_600_000,
    keepAlive: true,
  });
  expect(Object.isFrozen(spec) && Object.isFrozen(spec.timing)).toBe(true);
});

test('a cron without a zone is read in UTC, not in whatever zone the machine is in', () => {
  expect(parseRecurrence({ cron: '* * * * *' }).timing).toMatchObject({ timeZone: 'UTC' });
});

test.each<[unknown, string]>([
  [{}, 'every'],
  [{ every: 5, keepAlive: 'yes' }, 'keepAlive'],
  [undefined, 'options'],
  [{ every: 0 }, 'every'],
  [{ every: -5 }, 'every'],
  [{ every: 'daily' }, 'every'],
  [{ every: 5, cron: '* * * * *' }, 'cron'],
  [{ every: 5, timeZone: 'UTC' }, 'timeZone'],
  [{ every: 5, from: 'middle' }, 'from'],
  [{ cron: '* * * * *', from: 'grid' }, 'from'],
  [{ cron: 5 }, 'cron'],
  [{ cron: '* * * * *', timeZone: 5 }, 'timeZone'],
  [{ every: 5, overlap: true }, 'overlap'],
  [{ every: 5, catchUp: 'some' }, 'catchUp'],
  [{ every: 5, count: 0 }, 'count'],
  [{ every: 5, count: 1.5 }, 'count'],
  [{ every: 5, until: 5 }, 'until'],
  [{ every: 5, eta: 'soon' }, 'eta'],
])('E1.2 refuses %o', (options, field) => {
  expect(() => parseRecurrence(options as RecurrenceOptions)).toThrow(
    expect.objectContaining({ name: 'InvalidTaskError', field }),
  );
});
