import { type Duration, MAX_DURATION_MS, parseDuration } from './duration.js';
import type { Failure } from './error-record.js';
import { fieldsOf, parseChoice, refuseUnknown } from './fields.js';
import { type Refuse, refuseTask } from './refuse.js';
import type { Backoff, RetryPolicy } from './retry.js';

/** How a task is tried again, as a user writes it. */
export interface RetryOptions {
  /** All executions, the first included. */
  readonly attempts: number;
  /** How the wait grows, or a function of the failed attempt's number that gives it in milliseconds. */
  readonly backoff?: 'fixed' | 'exponential' | ((attempt: number, error: Failure) => number) | undefined;
  /** The first wait; one second unless given, and no wait at all when there is no backoff either. */
  readonly base?: Duration | undefined;
  /** The longest wait; an hour for an exponential backoff unless given. */
  readonly max?: Duration | undefined;
  /** What the wait is multiplied by each time; 2 unless given. */
  readonly factor?: number | undefined;
  /** Draws each wait between zero and the computed one, so that many failures do not come back together. */
  readonly jitter?: boolean | undefined;
  /** Says no to a retry for errors that cannot get better: it is given what was thrown, or a record of what was elsewhere. */
  readonly retryIf?: ((error: Failure) => boolean) | undefined;
}

const KNOWN: readonly string[] = ['attempts', 'backoff', 'base', 'max', 'factor', 'jitter', 'retryIf'];
const DEFAULT_BASE_MS = 1_000;
const DEFAULT_FACTOR = 2;
const DEFAULT_EXPONENTIAL_MAX_MS = 3_600_000;

/** The policy for `retry: 3` or `retry: { attempts: 3, ... }`; a bare number retries without a wait. */
export function parseRetry(value: unknown, field = 'retry', refuse: Refuse = refuseTask): RetryPolicy {
  const given = new Map(typeof value === 'number' ? [['attempts', value]] : fieldsOf(value, field, refuse));
  for (const [key, entry] of given) {
    if (!KNOWN.includes(key)) refuseUnknown(field, key, entry, KNOWN, refuse);
  }
  const attempts = parseAttempts(
    given.get('attempts'),
    typeof value === 'number' ? field : `${field}.attempts`,
    refuse,
  );
  const backoff = parseBackoff(given, field, refuse);
  const max = given.get('max');
  const jitter = given.get('jitter') ?? false;
  if (typeof jitter !== 'boolean') return refuse(`${field}.jitter`, jitter, 'true or false');
  return Object.freeze({
    attempts,
    backoff,
    maxDelayMs: max === undefined ? defaultMaxMs(backoff) : parseDuration(max, `${field}.max`, refuse),
    jitter,
    retryIf: parseRetryIf(given.get('retryIf'), field, refuse),
  });
}

function parseAttempts(value: unknown, field: string, refuse: Refuse): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  return refuse(field, value, 'the number of all executions, a whole number of at least 1');
}

function parseBackoff(given: ReadonlyMap<string, unknown>, field: string, refuse: Refuse): Backoff {
  const custom = given.get('backoff');
  const base = given.get('base');
  const factor = given.get('factor');
  if (typeof custom === 'function') {
    if (base !== undefined) return refuse(`${field}.base`, base, 'no base where backoff is a function');
    if (factor !== undefined) return refuse(`${field}.factor`, factor, 'no factor where backoff is a function');
    return Object.freeze({ kind: 'custom', delayMs: custom as (attempt: number, error: Failure) => number });
  }
  const asksToWait = custom !== undefined || base !== undefined || factor !== undefined;
  if (!asksToWait) return Object.freeze({ kind: 'fixed', baseMs: 0 });
  const kind =
    custom === undefined
      ? 'exponential'
      : parseChoice(custom, ['fixed', 'exponential'] as const, `${field}.backoff`, refuse);
  const baseMs = base === undefined ? DEFAULT_BASE_MS : parseDuration(base, `${field}.base`, refuse);
  if (kind === 'exponential') {
    return Object.freeze({ kind, baseMs, factor: parseFactor(factor, `${field}.factor`, refuse) });
  }
  if (factor !== undefined) return refuse(`${field}.factor`, factor, 'no factor where backoff is "fixed"');
  return Object.freeze({ kind, baseMs });
}

function parseFactor(value: unknown, field: string, refuse: Refuse): number {
  if (value === undefined) return DEFAULT_FACTOR;
  if (typeof value === 'number' && Number.isFinite(value) && value >= 1) return value;
  return refuse(field, value, 'a finite number of at least 1');
}

function defaultMaxMs(backoff: Backoff): number {
  // Only what grows by itself needs a cap: a fixed wait of two hours is what the user asked for.
  return backoff.kind === 'exponential' ? Math.max(DEFAULT_EXPONENTIAL_MAX_MS, backoff.baseMs) : MAX_DURATION_MS;
}

function parseRetryIf(value: unknown, field: string, refuse: Refuse): RetryPolicy['retryIf'] {
  if (value === undefined) return undefined;
  if (typeof value !== 'function') return refuse(`${field}.retryIf`, value, 'a function of the error');
  return value as (error: Failure) => boolean;
}
