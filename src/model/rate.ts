import { parsePositiveDuration, type Duration } from './duration.js';
import { fieldsOf, refuseUnknown } from './fields.js';
import type { Refuse } from './refuse.js';

/** A rate as a user gives it: so many tokens for each stretch of time, and how many are there at once after a pause. */
export interface RateOptions {
  /** Tokens for each stretch: above zero, fractions allowed; `Infinity` for no limit, as where one is taken away. */
  readonly rate: number;
  /** The stretch; a second unless given. */
  readonly per?: Duration | undefined;
  /**
   * The most tokens there ever are; those of one stretch unless given, and at least one. Time is counted in whole
   * milliseconds: a burst of exactly one cost has no room for what comes in before the next of them.
   */
  readonly burst?: number | undefined;
}

/** A rate limit, checked: never more than burst + rate * (t / perMs) tokens are taken in any stretch t. */
export interface RateLimit {
  readonly rate: number;
  readonly perMs: number;
  readonly burst: number;
}

const NAMES: readonly string[] = ['rate', 'per', 'burst'];
const isAboveZero = (value: unknown): value is number => typeof value === 'number' && value > 0 && value < Infinity;

/** Checks a rate as a user gives it; `beside` names what the caller reads itself. */
export function parseRate(value: unknown, field: string, refuse: Refuse, beside: readonly string[] = []): RateLimit {
  const given = new Map(fieldsOf(value, field, refuse));
  for (const [key, each] of given) {
    const known = [...NAMES, ...beside];
    if (!known.includes(key)) refuseUnknown(field, key, each, known, refuse);
  }
  const rate = given.get('rate');
  const perMs = parsePositiveDuration(given.has('per') ? given.get('per') : 1_000, `${field}.per`, refuse);
  const burst = given.has('burst') ? given.get('burst') : isAboveZero(rate) ? Math.max(1, rate) : 1;
  return checkRate({ rate, perMs, burst }, field, refuse);
}

/** Refuses numbers that make no rate. */
export function checkRate(
  limit: { readonly rate: unknown; readonly perMs: unknown; readonly burst: unknown },
  field: string,
  refuse: Refuse,
): RateLimit {
  const { rate, perMs, burst } = limit;
  if (!isAboveZero(rate)) return refuse(`${field}.rate`, rate, 'a finite number of tokens above 0');
  if (!isAboveZero(perMs)) return refuse(`${field}.per`, perMs, 'a duration above 0');
  if (!isAboveZero(burst)) return refuse(`${field}.burst`, burst, 'a finite number of tokens above 0');
  return { rate, perMs, burst };
}
