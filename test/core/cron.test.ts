import { Cron } from 'croner';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { lastCron, nextCron, parseCron } from '../../src/core/cron.js';
import { TimeZone } from '../../src/core/time-zone.js';

const at = (text: string): number => Date.parse(text);

function runs(expression: string, timeZone: string, after: string, count: number): string[] {
  const cron = parseCron(expression, timeZone);
  const found: string[] = [];
  let wall: number | undefined = at(after);
  for (let i = 0; i < count; i++) {
    wall = nextCron(cron, wall);
    if (wall === undefined) break;
    found.push(new Date(wall).toISOString().replace(':00.000Z', 'Z'));
  }
  return found;
}

describe('daylight saving: a time that is listed happens once a day', () => {
  test('Berlin, spring: the skipped 02:30 runs when the gap ends', () => {
    expect(runs('30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00:00Z', 3)).toEqual([
      '2026-03-28T01:30Z',
      '2026-03-29T01:00Z',
      '2026-03-30T00:30Z',
    ]);
  });

  test('Berlin, spring: several skipped times run once, together', () => {
    expect(runs('15,30 2,4 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 4)).toEqual([
      '2026-03-29T01:00Z',
      '2026-03-29T02:15Z',
      '2026-03-29T02:30Z',
      '2026-03-30T00:15Z',
    ]);
  });

  test('Berlin, autumn: the repeated times run in the first pass only', () => {
    expect(runs('0,30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 3)).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T00:30Z',
      '2026-10-26T01:00Z',
    ]);
  });

  test('Berlin, autumn: asked in the second pass, the times of the first are over', () => {
    expect(runs('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10:00Z', 1)).toEqual(['2026-10-26T01:30Z']);
  });

  test('New York, spring and autumn', () => {
    expect(runs('30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 2)).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-09T06:30Z',
    ]);
    expect(runs('30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T05:30Z',
      '2026-11-02T06:30Z',
    ]);
  });

  test('nine in the morning stays nine in the morning', () => {
    expect(runs('0 9 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', 2)).toEqual([
      '2026-03-28T08:00Z',
      '2026-03-29T07:00Z',
    ]);
  });

  test('a day that a zone skipped has no runs', () => {
    // Samoa went from 29 to 31 December 2011.
    expect(runs('0 9 * * *', 'Pacific/Apia', '2011-12-29T00:00:00Z', 3)).toEqual([
      '2011-12-29T19:00Z',
      '2011-12-30T19:00Z',
      '2011-12-31T19:00Z',
    ]);
  });
});

describe('daylight saving: a wildcard follows the clock as it passes', () => {
  test('every half hour goes on every half hour, through the gap and through the repeat', () => {
    for (const after of ['2026-03-29T00:00:00Z', '2026-10-24T23:30:00Z']) {
      const expected = Array.from({ length: 8 }, (_, i) => new Date(at(after) + (i + 1) * 1_800_000).toISOString());
      expect(runs('*/30 * * * *', 'Europe/Berlin', after, 8)).toEqual(
        expected.map((text) => text.replace(':00.000Z', 'Z')),
      );
    }
  });
});

describe('single times', () => {
  test.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC', 'America/Sao_Paulo'])(
    'in %s they are what the package itself finds',
    (timeZone) => {
      const start = at('2018-01-01T00:00:00Z');
      fc.assert(
        fc.property(fc.nat(59), fc.nat(23), fc.nat(365 * 4), (minute, hour, day) => {
          const expression = `${minute} ${hour} * * *`;
          const after = start + day * 86_400_000 + 12_345;
          const theirs = new Cron(expression, { timezone: timeZone, paused: true }).nextRun(new Date(after));
          expect(nextCron(parseCron(expression, timeZone), after)).toBe(theirs?.getTime());
        }),
        { numRuns: 60 },
      );
    },
  );
});

describe('time zones', () => {
  test.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'])(
    'the first instant that shows a local time in %s is never after another that shows it',
    (name) => {
      const zone = TimeZone.named(name);
      fc.assert(
        fc.property(fc.integer({ min: at('2000-01-01T00:00:00Z'), max: at('2037-01-01T00:00:00Z') }), (wall) => {
          const first = zone.toWall(zone.toLocal(wall));
          expect(first).toBeLessThanOrEqual(wall);
          expect(zone.toLocal(first!)).toBe(zone.toLocal(wall));
        }),
      );
    },
  );
});

describe('what is read', () => {
  test.each([
    '',
    'x',
    '* * * *',
    '61 * * * *',
    '*/0 * * * *',
    '0 0 1 1 8',
    '@reboot',
    '2030-01-01T00:00:00',
    5,
    null,
    '* '.repeat(200),
  ])('refuses %o by field and value', (expression) => {
    expect(() => parseCron(expression, 'UTC')).toThrow(
      expect.objectContaining({ name: 'InvalidTaskError', field: 'cron', value: expression }),
    );
  });

  test('refuses an expression that no date matches', () => {
    expect(() => parseCron('0 0 31 2 *', 'UTC')).toThrow(/some date matches/);
  });

  test.each(['', 'Nowhere/Else', 'Europe/Berlin\0'])('refuses the zone %o', (timeZone) => {
    expect(() => parseCron('0 0 * * *', timeZone)).toThrow(
      expect.objectContaining({ name: 'InvalidTaskError', field: 'timeZone', value: timeZone }),
    );
  });

  test('nicknames, seconds and years', () => {
    expect(runs('@daily', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual(['2026-01-02T00:00Z']);
    expect(runs('@hourly', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual(['2026-01-01T01:00Z']);
    expect(nextCron(parseCron('*/10 * * * * *', 'UTC'), at('2026-01-01T00:00:00.500Z'))).toBe(
      at('2026-01-01T00:00:10Z'),
    );
    expect(runs('0 0 0 1 1 * 2020', 'UTC', '2019-01-01T00:00:00Z', 3)).toEqual(['2020-01-01T00:00Z']);
  });

  test('a match is strictly after the instant asked about', () => {
    expect(runs('* * * * *', 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual(['2026-01-01T00:01Z']);
    expect(runs('* * * * *', 'UTC', '2026-01-01T00:00:59.999Z', 1)).toEqual(['2026-01-01T00:01Z']);
    expect(runs('1 0 * * *', 'UTC', '2026-01-01T00:00:59.999Z', 1)).toEqual(['2026-01-01T00:01Z']);
  });
});

describe('lastCron', () => {
  test('is the last of all matches between two instants', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('*/20 * * * *', '0,30 2,3 * * *', '0 9 * * 1'),
        fc.nat(10 * 86_400),
        fc.nat(3 * 86_400),
        (expression, from, length) => {
          const cron = parseCron(expression, 'Europe/Berlin');
          const after = at('2026-03-24T00:00:00Z') + from * 1_000;
          const upTo = after + length * 1_000;
          let expected: number | undefined;
          for (let next = nextCron(cron, after); next !== undefined && next <= upTo; next = nextCron(cron, next)) {
            expected = next;
          }
          expect(lastCron(cron, after, upTo)).toBe(expected);
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('the clock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is never asked: at any time of day the answer is the same, and no timer is set', () => {
    vi.useFakeTimers();
    const answers = ['1999-12-31T23:59:59Z', '2026-03-29T00:59:59Z', '2080-06-01T00:00:00Z'].map((now) => {
      vi.setSystemTime(at(now));
      return ['30 2 * * *', '*/7 * * * *', '? ? 1 * *'].map((expression) =>
        runs(expression, 'Europe/Berlin', '2026-03-28T12:00:00Z', 5),
      );
    });
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
