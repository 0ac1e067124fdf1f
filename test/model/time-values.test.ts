import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DURATION_MS, parseDuration, parsePositiveDuration } from '../../src/model/duration.js';
import { InvalidConfigError, InvalidTaskError } from '../../src/model/errors.js';
import { parseInstant } from '../../src/model/instant.js';
import { refuseConfig } from '../../src/model/refuse.js';

describe('E1.2 parseDuration', () => {
  test.each<[number | string, number]>([
    [0, 0],
    [-0, 0],
    [250, 250],
    [1000 / 3, 333],
    [0.2, 1],
    ['0s', 0],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    ['1w', 604_800_000],
    ['1h30m', 5_400_000],
    ['1w2d3h4m5s6ms', 788_645_006],
  ])('%o is %i ms', (value, ms) => {
    expect(Object.is(parseDuration(value, 'delay'), ms)).toBe(true);
  });

  test.each([
    -1,
    NaN,
    Infinity,
    MAX_DURATION_MS * 2,
    '',
    ' ',
    '5',
    's',
    '-5s',
    '5 s',
    ' 5s',
    '5s ',
    '5S',
    '1e3ms',
    '.5s',
    '5.s',
    '30m1h',
    '5s5s',
    '5min',
    '1h30',
    `${'9'.repeat(60)}w`,
    '1'.repeat(100) + 's',
    null,
    undefined,
    5n,
    {},
    [5],
    true,
  ])('refuses %o by field and value', (value) => {
    expect(() => parseDuration(value, 'delay')).toThrow(
      expect.objectContaining({ name: 'InvalidTaskError', field: 'delay', value }),
    );
  });

  test('a refusal can be one of the configuration', () => {
    expect(() => parseDuration('soon', 'aging.every', refuseConfig)).toThrow(InvalidConfigError);
  });

  test('zero is refused where it makes no sense', () => {
    for (const value of [0, -1, Infinity]) {
      expect(() => parsePositiveDuration(value, 'every')).toThrow(`every is ${value}; expected more than zero: finite`);
    }
    expect(() => parseDuration(Infinity, 'grace')).toThrow(
      'grace is Infinity; expected finite milliseconds of at least 0',
    );
    expect(parsePositiveDuration(0.001, 'every')).toBe(1);
  });

  test('every accepted number is whole, and near what was given', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: MAX_DURATION_MS, noNaN: true }), (value) => {
        const ms = parseDuration(value, 'delay');
        expect(Number.isSafeInteger(ms)).toBe(true);
        expect(Math.abs(ms - value)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('a text is the sum of its parts', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(1_000), fc.nat(1_000), (h, m, s) => {
        expect(parseDuration(`${h}h${m}m${s}s`, 'delay')).toBe(((h * 60 + m) * 60 + s) * 1_000);
      }),
    );
  });
});

describe('E1.2 parseInstant', () => {
  test.each<[number | Date | string, number]>([
    [1_767_225_600_000, 1_767_225_600_000],
    [1e11, 1e11],
    [1_767_225_600_000.25, 1_767_225_600_001],
    [new Date(5), 5],
    ['2026-01-01T00:00:00Z', 1_767_225_600_000],
    ['2026-01-01T01:00+01:00', 1_767_225_600_000],
    ['2025-12-31T19:00:00.000-05:00', 1_767_225_600_000],
    ['2024-02-29T00:00:00Z', 1_709_164_800_000],
    ['2000-02-29T00:00:00Z', 951_782_400_000],
    ['2026-04-30T00:00:00Z', 1_777_507_200_000],
    ['+002026-01-01T00:00:00Z', 1_767_225_600_000],
  ])('%o is %i', (value, epochMs) => {
    expect(parseInstant(value, 'eta')).toBe(epochMs);
  });

  test.each([
    NaN,
    Infinity,
    -Infinity,
    9e15,
    new Date(NaN),
    '',
    'tomorrow',
    '2026-01-01',
    '2026-01-01 00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:00:00+0200',
    '2026-01-01T00:00:00 CET',
    null,
    undefined,
    {},
    5n,
  ])('refuses %o by field and value', (value) => {
    expect(() => parseInstant(value, 'eta')).toThrow(
      expect.objectContaining({ name: 'InvalidTaskError', field: 'eta', value }),
    );
  });

  test.each([0, -5, 60_000, 1_767_225_600, 1e11 - 1])('takes %i for no time and points to delay', (value) => {
    expect(() => parseInstant(value, 'deadline')).toThrow(/deadline is .* use delay/);
  });

  test('a text without an offset is refused with that hint', () => {
    expect(() => parseInstant('2026-01-01T00:00:00', 'eta')).toThrow(/expected an offset/);
    expect(() => parseInstant('2026-01-01T00:00:00', 'eta')).toThrow(InvalidTaskError);
  });

  test('what a Date prints is read back', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        expect(parseInstant(date.toISOString(), 'eta')).toBe(date.getTime());
      }),
    );
  });
});
