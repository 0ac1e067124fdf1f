import { type Duration, parsePositiveDuration } from './duration.js';
import { fieldsOf, parseChoice } from './fields.js';
import { type Instant, parseInstant } from './instant.js';
import { type Refuse, refuseTask } from './refuse.js';

/** What an interval is counted from: the end of the occurrence before, its start, or a fixed grid. */
export type IntervalOrigin = 'end' | 'start' | 'grid';

/** When a series repeats. */
export type Timing =
  | { readonly kind: 'every'; readonly everyMs: number; readonly from: IntervalOrigin }
  | { readonly kind: 'cron'; readonly expression: string; readonly timeZone: string };

/** What happens at a tick while the occurrence before is unfinished: no new one, one after it, or one beside it. */
export type Overlap = 'skip' | 'queue' | 'allow';

/** What happens to ticks that passed while nobody was there: one run for all, one for each, or none. */
export type CatchUp = 'once' | 'all' | 'none';

/** When a series makes its occurrences, checked once and never changed afterwards. */
export interface RecurrenceSpec {
  readonly timing: Timing;
  readonly overlap: Overlap;
  readonly catchUp: CatchUp;
  /** How many occurrences are made in all; `Infinity` when unbounded. */
  readonly count: number;
  /** Epoch milliseconds after which none is due; `Infinity` when there is none. */
  readonly untilWall: number;
  /** Epoch milliseconds before which none is due; `-Infinity` when there is none. */
  readonly etaWall: number;
  /** Whether the process stays for its next occurrence. */
  readonly keepAlive: boolean;
}

/** When a task repeats, as a user writes it: either `every` or `cron`. */
export interface RecurrenceOptions {
  readonly every?: Duration | undefined;
  /** What `every` is counted from; the end of the occurrence before unless given. */
  readonly from?: IntervalOrigin | undefined;
  /** Five fields, or six with seconds first, or seven with the year last. */
  readonly cron?: string | undefined;
  /** The IANA name of the zone `cron` is read in; UTC unless given, never the machine's own. */
  readonly timeZone?: string | undefined;
  readonly overlap?: Overlap | undefined;
  readonly catchUp?: CatchUp | undefined;
  readonly count?: number | undefined;
  /** The last moment at which an occurrence may be due. */
  readonly until?: Instant | undefined;
  /** The first occurrence waits for it, and a grid is aligned to it. */
  readonly eta?: Instant | undefined;
  /** Whether the process stays alive for the series alone; not unless given. */
  readonly keepAlive?: boolean | undefined;
}

/** The options that belong to a series, not to its tasks. */
export const RECURRENCE_OPTION_NAMES: ReadonlySet<string> = new Set<keyof RecurrenceOptions>([
  'every',
  'from',
  'cron',
  'timeZone',
  'overlap',
  'catchUp',
  'count',
  'until',
  'eta',
  'keepAlive',
]);

/**
 * Checks a series' own options and ignores all others, which are its tasks'.
 *
 * The text of a cron expression and the name of its zone are left as they are: the core knows how to read them.
 */
export function parseRecurrence(options: RecurrenceOptions, refuse: Refuse = refuseTask): RecurrenceSpec {
  const given = new Map(fieldsOf(options, 'options', refuse));
  const choice = <Choice extends string>(field: string, choices: readonly Choice[], otherwise: Choice): Choice =>
    given.has(field) ? parseChoice(given.get(field), choices, field, refuse) : otherwise;
  const instant = (field: string, otherwise: number): number =>
    given.has(field) ? parseInstant(given.get(field), field, refuse) : otherwise;
  return Object.freeze({
    timing: Object.freeze(parseTiming(given, choice('from', ['end', 'start', 'grid'], 'end'), refuse)),
    overlap: choice('overlap', ['skip', 'queue', 'allow'], 'skip'),
    catchUp: choice('catchUp', ['once', 'all', 'none'], 'once'),
    count: parseCount(given.get('count'), refuse),
    untilWall: instant('until', Number.POSITIVE_INFINITY),
    etaWall: instant('eta', Number.NEGATIVE_INFINITY),
    keepAlive: parseKeepAlive(given.get('keepAlive'), refuse),
  });
}

function parseTiming(given: ReadonlyMap<string, unknown>, from: IntervalOrigin, refuse: Refuse): Timing {
  const cron = given.get('cron');
  const timeZone = given.get('timeZone');
  if (cron === undefined) {
    if (!given.has('every')) return refuse('every', undefined, 'an interval, or a cron expression as cron');
    if (timeZone !== undefined) return refuse('timeZone', timeZone, 'no time zone where there is no cron');
    return { kind: 'every', everyMs: parsePositiveDuration(given.get('every'), 'every', refuse), from };
  }
  if (given.has('every')) return refuse('cron', cron, 'either every or cron, not both');
  if (given.has('from')) return refuse('from', from, 'no from where there is a cron: its ticks are fixed');
  if (typeof cron !== 'string') return refuse('cron', cron, 'a text such as "0 9 * * 1-5"');
  if (timeZone !== undefined && typeof timeZone !== 'string') {
    return refuse('timeZone', timeZone, 'the IANA name of a time zone, such as "Europe/Berlin"');
  }
  return { kind: 'cron', expression: cron, timeZone: timeZone ?? 'UTC' };
}

function parseCount(value: unknown, refuse: Refuse): number {
  if (value === undefined) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  return refuse('count', value, 'a whole number of at least 1');
}

function parseKeepAlive(value: unknown, refuse: Refuse): boolean {
  if (value === undefined || typeof value === 'boolean') return value === true;
  return refuse('keepAlive', value, 'true or false');
}
