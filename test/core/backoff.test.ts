import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs } from '../../src/core/backoff.js';
import { type RandomSource, SeededRandom } from '../../src/model/random.js';
import type { Backoff, RetryPolicy } from '../../src/model/retry.js';

const error = { name: 'Error', message: 'no' };
const never: RandomSource = {
  next: () => {
    throw new Error('The random source was used.');
  },
};

const policy = (backoff: Backoff, rest: Partial<RetryPolicy> = {}): RetryPolicy => ({
  attempts: 10,
  backoff,
  maxDelayMs: 60_000,
  jitter: false,
  retryIf: undefined,
  ...rest,
});

describe('B3.3 backoffMs', () => {
  test('fixed waits the same each time, without chance', () => {
    const fixed = policy({ kind: 'fixed', baseMs: 100 });
    expect([1, 2, 1_000].map((attempt) => backoffMs(fixed, attempt, error, never))).toEqual([100, 100, 100]);
  });

  test('exponential doubles from the base and stops at the cap', () => {
    const doubling = policy({ kind: 'exponential', baseMs: 1_000, factor: 2 });
    expect([1, 2, 3, 6, 7, 8].map((attempt) => backoffMs(doubling, attempt, error, never))).toEqual([
      1_000, 2_000, 4_000, 32_000, 60_000, 60_000,
    ]);
  });

  test('attempt 1,000 and beyond do not overflow', () => {
    const doubling = policy({ kind: 'exponential', baseMs: 1_000, factor: 10 });
    expect(backoffMs(doubling, 1_000, error, never)).toBe(60_000);
    expect(backoffMs(doubling, Number.MAX_SAFE_INTEGER, error, never)).toBe(60_000);
    expect(backoffMs(policy({ kind: 'exponential', baseMs: 0, factor: 10 }), 1_000, error, never)).toBe(0);
  });

  test('custom gets the attempt and the error', () => {
    const seen: unknown[] = [];
    const delayMs = (...given: unknown[]): number => seen.push(given) * 7;
    expect(backoffMs(policy({ kind: 'custom', delayMs }), 4, error, never)).toBe(7);
    expect(seen).toEqual([[4, error]]);
  });

  test.each<[unknown, number]>([
    [12.6, 13],
    [-5, 0],
    [Infinity, 60_000],
    [-Infinity, 0],
    [1e300, 60_000],
    [NaN, 1_000],
    ['soon', 1_000],
    [undefined, 1_000],
  ])('a custom result of %o waits %i ms', (result, ms) => {
    expect(backoffMs(policy({ kind: 'custom', delayMs: () => result as number }), 1, error, never)).toBe(ms);
  });

  test('a custom function that throws waits a second, or the cap if that is less', () => {
    const custom: Backoff = {
      kind: 'custom',
      delayMs: () => {
        throw new Error('broken');
      },
    };
    expect(backoffMs(policy(custom), 1, error, never)).toBe(1_000);
    expect(backoffMs(policy(custom, { maxDelayMs: 10 }), 1, error, never)).toBe(10);
  });

  test('full jitter spreads over the whole wait, both ends included', () => {
    const jittered = policy({ kind: 'fixed', baseMs: 9 }, { jitter: true });
    const random = new SeededRandom(1);
    const counts = new Array<number>(10).fill(0);
    for (let i = 0; i < 10_000; i++) {
      const ms = backoffMs(jittered, 1, error, random);
      counts[ms] = counts[ms]! + 1;
    }
    expect(counts).toHaveLength(10);
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(150);
  });

  test('every wait is whole, not negative and within the cap', () => {
    const backoffs = fc.oneof(
      fc.record({ kind: fc.constant('fixed' as const), baseMs: fc.nat() }),
      fc.record({
        kind: fc.constant('exponential' as const),
        baseMs: fc.nat(),
        factor: fc.double({ min: 1, max: 1e9, noNaN: true }),
      }),
      fc.double().map((result) => ({ kind: 'custom' as const, delayMs: () => result })),
    );
    fc.assert(
      fc.property(
        backoffs,
        fc.nat(),
        fc.integer({ min: 1, max: 5_000 }),
        fc.boolean(),
        (backoff, maxDelayMs, attempt, jitter) => {
          const ms = backoffMs(policy(backoff, { maxDelayMs, jitter }), attempt, error, new SeededRandom(attempt));
          expect(Number.isSafeInteger(ms) && ms >= 0 && ms <= maxDelayMs).toBe(true);
        },
      ),
    );
  });
});
