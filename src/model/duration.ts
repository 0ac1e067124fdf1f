import { type Refuse, refuseTask } from './refuse.js';

/** Milliseconds, or a text such as `"250ms"`, `"30s"`, `"5m"`, `"1.5h"`, `"2d"`, `"1w"` or `"1h30m"`. */
export type Duration = number | string;

/** The longest duration: added to any date of the calendar it is still a safe integer. */
export const MAX_DURATION_MS = 100_000_000 * 3_600_000;

const TEXTS = 'a text such as "250ms", "30s", "5m", "1.5h", "2d", "1w" or "1h30m"';
const LONGEST_TEXT = 64;

const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

/**
 * A duration in whole milliseconds, zero included; a positive one never becomes zero by rounding.
 *
 * @example parseDuration('1h30m', 'timeout') is 5_400_000.
 */
export function parseDuration(value: unknown, field: string, refuse: Refuse = refuseTask): number {
  return wholeMs(value) ?? refuse(field, value, `finite milliseconds of at least 0, or ${TEXTS}`);
}

/** Like `parseDuration`, for what makes no sense at zero: an interval, a timeout, a lease. */
export function parsePositiveDuration(value: unknown, field: string, refuse: Refuse = refuseTask): number {
  const ms = wholeMs(value);
  return ms !== undefined && ms > 0 ? ms : refuse(field, value, `more than zero: finite milliseconds, or ${TEXTS}`);
}

function wholeMs(value: unknown): number | undefined {
  const exactMs = typeof value === 'string' ? readText(value) : value;
  if (typeof exactMs !== 'number' || !(exactMs >= 0 && exactMs <= MAX_DURATION_MS)) return undefined;
  return exactMs === 0 ? 0 : Math.max(1, Math.round(exactMs));
}

function readText(text: string): number {
  if (text.length > LONGEST_TEXT) return Number.NaN;
  const part = /(\d+(?:\.\d+)?)(ms|[smhdw])/y;
  let totalMs = 0;
  let smallerThan = Number.POSITIVE_INFINITY;
  let position = 0;
  while (position < text.length) {
    const found = part.exec(text);
    const unitMs = UNIT_MS.get(found?.[2] ?? '');
    // Units go from large to small, each once: "30m1h" or "5s5s" is more likely a mistake than a wish.
    if (found === null || unitMs === undefined || unitMs >= smallerThan) return Number.NaN;
    totalMs += Number(found[1]) * unitMs;
    smallerThan = unitMs;
    position = part.lastIndex;
  }
  return position === 0 ? Number.NaN : totalMs;
}
