import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseLevel } from '../../src/model/level.js';

test('B1.1 the names are levels 0 to 4, the most urgent lowest', () => {
  expect(['critical', 'high', 'normal', 'low', 'idle'].map((name) => parseLevel(name))).toEqual([0, 1, 2, 3, 4]);
});

test('B1.1 every finite number is its own level, and minus zero is zero', () => {
  expect(Object.is(parseLevel(-0), 0)).toBe(true);
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (level) => {
      expect(parseLevel(level) === level).toBe(true);
    }),
  );
});

test.each([
  '5',
  '',
  'HIGH',
  'constructor',
  '__proto__',
  NaN,
  Infinity,
  -Infinity,
  null,
  undefined,
  5n,
  [1],
  {},
  new Number(1),
])('B1.1 refuses %o by field and value', (value) => {
  expect(() => parseLevel(value)).toThrow(
    expect.objectContaining({ name: 'InvalidTaskError', field: 'priority', value }),
  );
});
