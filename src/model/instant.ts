import { type Refuse, refuseTask } from './refuse.js';

/** Epoch milliseconds, a `Date`, or ISO 8601 with an offset: `"2026-03-29T09:00:00+02:00"`, `"...Z"`. */
export type Instant = number | Date | string;

/** Smaller numbers are seconds, or durations, taken for a time by mistake; 1e11 is in March 1973. */
const SMALLEST_NUMBER = 1e11;
const LARGEST_NUMBER = 8.64e15;

const EXPECTED = 'epoch milliseconds, a valid Date, or ISO 8601 with an offset such as "2026-03-29T09:00:00Z"';
const ISO = /^(\d{4}|[+-]\d{6})-(\d\d)-(\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?$/;

/** A time in whole epoch milliseconds; a fraction is rounded up, so that nothing happens before its time. */
export function parseInstant(value: unknown, field: string, refuse: Refuse = refuseTask): number {
  if (typeof value === 'number') return readNumber(value, field, refuse);
  const epochMs = typeof value === 'string' ? readText(value, field, refuse) : readDate(value);
  return Number.isNaN(epochMs) ? refuse(field, value, EXPECTED) : epochMs;
}

function readNumber(value: number, field: string, refuse: Refuse): number {
  if (!Number.isFinite(value) || value > LARGEST_NUMBER) return refuse(field, value, EXPECTED);
  if (value < SMALLEST_NUMBER) {
    return refuse(field, value, 'epoch milliseconds (at least 1e11); use delay for a time from now');
  }
  return Math.ceil(value);
}

function readDate(value: unknown): number {
  return value instanceof Date ? value.getTime() : Number.NaN;
}

function readText(text: string, field: string, refuse: Refuse): number {
  const found = ISO.exec(text);
  if (found === null) return Number.NaN;
  const [, year, month, day, offset] = found;
  if (offset === undefined) {
    return refuse(field, text, 'an offset at the end of the time, such as "Z" or "+02:00"');
  }
  // The engine reads February 30 as March 2, so the day is checked here.
  if (Number(day) > daysInMonth(Number(year), Number(month))) return Number.NaN;
  return Date.parse(text);
}

function daysInMonth(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2) return isLeap ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
