import { Cron, CronPattern } from 'croner';
import { type Refuse, refuseTask } from '../model/refuse.js';
import { TimeZone } from './time-zone.js';

/** A cron expression that has been read, with the zone its times are in. */
export interface CompiledCron {
  /** Searches on the zone's own time line, or on that of a clock without changes where `zone` is set. */
  readonly search: Cron;
  /** Set where the expression names its times one by one: each of them then happens once a day, come what may. */
  readonly zone: TimeZone | undefined;
}

const LONGEST_EXPRESSION = 256;
const EXPECTED = 'a cron expression such as "0 9 * * 1-5"';

/**
 * Reads a cron expression of five fields, six with seconds first, or seven with the year last.
 *
 * An expression with a wildcard among its times runs by the clock on the wall as it passes: through a repeated hour
 * twice, and not in a skipped one. One that lists its times runs once for each: at the first of two equal times, and
 * for those that are skipped once, when the gap ends.
 */
export function parseCron(
  expression: unknown,
  timeZone: string,
  field = 'cron',
  refuse: Refuse = refuseTask,
): CompiledCron {
  if (typeof expression !== 'string' || expression.length > LONGEST_EXPRESSION)
    return refuse(field, expression, EXPECTED);
  // With a colon the package would read the text as a single date.
  if (expression.includes(':')) return refuse(field, expression, EXPECTED);
  const zone = parseZone(timeZone, refuse);
  const cron = compile(expression, timeZone, zone, field, refuse);
  if (nextCron(cron, 0) === undefined) return refuse(field, expression, 'an expression that some date matches');
  return cron;
}

/** The first match strictly after an instant; `undefined` when there is none any more. */
export function nextCron(cron: CompiledCron, afterWall: number): number | undefined {
  const { search, zone } = cron;
  if (zone === undefined) return search.nextRun(new Date(afterWall))?.getTime();
  let local: Date | null = new Date(zone.toLocal(afterWall));
  for (;;) {
    local = search.nextRun(local);
    if (local === null) return undefined;
    const wall = zone.toWall(local.getTime());
    // In the second pass through a repeated hour the times ahead have all been had in the first.
    if (wall !== undefined && wall > afterWall) return wall;
  }
}

/** The last match after one instant and not after another; `undefined` when there is none between them. */
export function lastCron(cron: CompiledCron, afterWall: number, upToWall: number): number | undefined {
  const isBetween = (wall: number | undefined): wall is number => wall !== undefined && wall <= upToWall;
  let last = nextCron(cron, afterWall);
  if (!isBetween(last)) return undefined;
  // Bisection, because walking through all matches of years would take as long as there are many.
  let none = upToWall;
  while (none - last > 1) {
    const middle = Math.floor((last + none) / 2);
    const match = nextCron(cron, middle);
    if (isBetween(match)) last = match;
    else none = middle;
  }
  return last;
}

function parseZone(timeZone: string, refuse: Refuse): TimeZone {
  try {
    return TimeZone.named(timeZone);
  } catch {
    return refuse('timeZone', timeZone, 'the IANA name of a time zone, such as "Europe/Berlin"');
  }
}

function compile(expression: string, timeZone: string, zone: TimeZone, field: string, refuse: Refuse): CompiledCron {
  try {
    const byList = listsItsTimes(new CronPattern(expression).pattern);
    // Paused and without a function to call, so that the package never sets a timer.
    const search = new Cron(expression, { timezone: byList ? 'UTC' : timeZone, paused: true });
    return Object.freeze({ search, zone: byList ? zone : undefined });
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^Cron\w*: /, '') : 'it cannot be read';
    return refuse(field, expression, `${EXPECTED} (${reason})`);
  }
}

// The traditional rule: with a wildcard in its seconds, minutes or hours it is an interval, otherwise a list of times.
function listsItsTimes(pattern: string): boolean {
  const fields = pattern.trim().split(/\s+/);
  const times = fields.slice(0, fields.length === 5 ? 2 : 3);
  return times.every((time) => !/[*?]/.test(time));
}
