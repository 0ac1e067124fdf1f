import type { Failure } from '../model/error-record.js';
import type { RandomSource } from '../model/random.js';
import type { Backoff, RetryPolicy } from '../model/retry.js';

/** What a custom backoff that gives no usable number waits instead: long enough not to spin, short enough to see. */
const FALLBACK_DELAY_MS = 1_000;

/**
 * How long to wait after the given failed attempt (the first is 1), in whole milliseconds, never above the cap.
 *
 * A custom function that throws, or whose result is no number, waits a second instead; a negative result is zero and an
 * infinite one is the cap. The random source is drawn from once when jitter is on, and not at all otherwise.
 */
export function backoffMs(policy: RetryPolicy, attempt: number, error: Failure, random: RandomSource): number {
  const delayMs = Math.round(Math.min(policy.maxDelayMs, Math.max(0, computedMs(policy.backoff, attempt, error))));
  if (!policy.jitter) return delayMs;
  return Math.floor(random.next() * (delayMs + 1));
}

function computedMs(backoff: Backoff, attempt: number, error: Failure): number {
  switch (backoff.kind) {
    case 'fixed':
      return backoff.baseMs;
    case 'exponential':
      // The power overflows to Infinity, which the cap takes care of; only zero times Infinity would not be a number.
      return backoff.baseMs === 0 ? 0 : backoff.baseMs * backoff.factor ** (attempt - 1);
    case 'custom':
      return customMs(backoff.delayMs, attempt, error);
  }
}

function customMs(delayMs: (attempt: number, error: Failure) => number, attempt: number, error: Failure): number {
  let result: unknown;
  try {
    result = delayMs(attempt, error);
  } catch {
    // A task must not be lost because the function that paces its retries is broken.
    return FALLBACK_DELAY_MS;
  }
  return typeof result === 'number' && !Number.isNaN(result) ? result : FALLBACK_DELAY_MS;
}
