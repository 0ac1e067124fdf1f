import { parseRecurrence, type RecurrenceOptions, type RecurrenceSpec, type Timing } from '../model/recurrence.js';
import { type Refuse, refuseTask } from '../model/refuse.js';
import { type CompiledCron, lastCron, nextCron, parseCron } from './cron.js';

/** When the occurrence before was due, started and ended; what has not happened is `undefined`. */
export interface PreviousOccurrence {
  readonly scheduledWall: number;
  readonly startedWall: number | undefined;
  readonly endedWall: number | undefined;
}

/** What to make of the ticks that nobody was there for. */
export interface CaughtUp {
  /** The occurrences to make now, the earliest first. */
  readonly due: readonly number[];
  /** The first tick after now; `undefined` when the series is used up, or when it is counted from a run's end. */
  readonly nextWall: number | undefined;
}

type Interval = Extract<Timing, { kind: 'every' }>;

/** Checks a series' options, its cron expression and time zone included. */
export function parseSeries(options: RecurrenceOptions, refuse: Refuse = refuseTask): RecurrenceSpec {
  const spec = parseRecurrence(options, refuse);
  if (spec.timing.kind === 'cron') {
    compiled.set(spec.timing, parseCron(spec.timing.expression, spec.timing.timeZone, 'cron', refuse));
  }
  return spec;
}

/**
 * When the first occurrence is due; `undefined` when there is none before the series' end.
 *
 * An interval begins at once, or at its ETA; a grid whose ETA has passed begins at its next tick. A cron begins with its
 * first match after the submission, or at or after its ETA.
 */
export function firstAt(spec: RecurrenceSpec, submittedWall: number): number | undefined {
  return within(spec, firstTick(spec, submittedWall));
}

/** When the occurrence after the given one is due, after so many have been made; `undefined` when that was the last. */
export function nextAt(spec: RecurrenceSpec, previous: PreviousOccurrence, made: number): number | undefined {
  if (made >= spec.count) return undefined;
  return within(spec, nextTick(spec.timing, previous));
}

/**
 * Which occurrences to make after a downtime, by the series' policy, and when it goes on.
 *
 * Ticks after `lastScheduledWall` and up to `nowWall` were missed. `all` makes the earliest of them, `limit` at the most;
 * `once` makes the latest; `none` makes none. An interval counted from the end of a run can have missed one at most,
 * and the next one follows from that one's end.
 */
export function missed(
  spec: RecurrenceSpec,
  lastScheduledWall: number,
  nowWall: number,
  made: number,
  limit: number,
): CaughtUp {
  const upToWall = Math.min(nowWall, spec.untilWall);
  const room = Math.min(limit, spec.count - made);
  const due = room < 1 ? [] : dueTicks(spec, lastScheduledWall, upToWall, room);
  const isUsedUp = made + due.length >= spec.count;
  const waitsForEnd = due.length > 0 && isFromEnd(spec.timing);
  if (isUsedUp || waitsForEnd) return { due, nextWall: undefined };
  return {
    due,
    nextWall: within(spec, tickAfter(spec.timing, lastScheduledWall, Math.max(nowWall, lastScheduledWall))),
  };
}

/**
 * Where the interval of the schedule that this instant lies in ends: at the first tick after it. Counted from the end
 * or the start of a run, an interval begins wherever a run does. `tickWall` is any tick of the series.
 */
export function intervalEnd({ timing }: RecurrenceSpec, tickWall: number, wall: number): number {
  if (timing.kind === 'every' && timing.from !== 'grid') return wall + timing.everyMs;
  return tickAfter(timing, tickWall, wall) ?? Infinity;
}

function firstTick(spec: RecurrenceSpec, submittedWall: number): number | undefined {
  const { timing, etaWall } = spec;
  if (timing.kind === 'cron') {
    return nextCron(cronOf(timing), etaWall >= submittedWall ? etaWall - 1 : submittedWall);
  }
  if (etaWall >= submittedWall || etaWall === Number.NEGATIVE_INFINITY) return Math.max(etaWall, submittedWall);
  if (timing.from !== 'grid') return submittedWall;
  return etaWall + Math.ceil((submittedWall - etaWall) / timing.everyMs) * timing.everyMs;
}

function nextTick(timing: Timing, previous: PreviousOccurrence): number | undefined {
  if (timing.kind === 'cron') return nextCron(cronOf(timing), previous.scheduledWall);
  // An occurrence that was cancelled before its start has no start to count from, only an end.
  const { scheduledWall, startedWall, endedWall } = previous;
  switch (timing.from) {
    case 'end':
      return (endedWall ?? startedWall ?? scheduledWall) + timing.everyMs;
    case 'start':
      return (startedWall ?? endedWall ?? scheduledWall) + timing.everyMs;
    case 'grid':
      return scheduledWall + timing.everyMs;
  }
}

function dueTicks(spec: RecurrenceSpec, lastWall: number, upToWall: number, room: number): number[] {
  if (spec.catchUp === 'none') return [];
  const { timing } = spec;
  if (spec.catchUp === 'once' && !isFromEnd(timing)) {
    const latest =
      timing.kind === 'cron' ? lastCron(cronOf(timing), lastWall, upToWall) : latestOf(timing, lastWall, upToWall);
    return latest === undefined ? [] : [latest];
  }
  const due: number[] = [];
  const most = isFromEnd(timing) ? 1 : room;
  let tick = tickAfter(timing, lastWall, lastWall);
  while (tick !== undefined && tick <= upToWall && due.length < most) {
    due.push(tick);
    tick = tickAfter(timing, lastWall, tick);
  }
  return due;
}

function latestOf(timing: Interval, lastWall: number, upToWall: number): number | undefined {
  const ticks = Math.floor((upToWall - lastWall) / timing.everyMs);
  return ticks < 1 ? undefined : lastWall + ticks * timing.everyMs;
}

/** The first tick after an instant, where an interval's ticks are counted from the last one that was scheduled. */
function tickAfter(timing: Timing, lastWall: number, afterWall: number): number | undefined {
  if (timing.kind === 'cron') return nextCron(cronOf(timing), afterWall);
  return lastWall + (Math.floor((afterWall - lastWall) / timing.everyMs) + 1) * timing.everyMs;
}

function within(spec: RecurrenceSpec, tick: number | undefined): number | undefined {
  return tick === undefined || tick > spec.untilWall ? undefined : tick;
}

function isFromEnd(timing: Timing): boolean {
  return timing.kind === 'every' && timing.from === 'end';
}

// A spec that comes back from a store is plain data, so its expression is compiled again when it is first asked for.
const compiled = new WeakMap<Timing, CompiledCron>();

function cronOf(timing: Extract<Timing, { kind: 'cron' }>): CompiledCron {
  const known = compiled.get(timing);
  if (known !== undefined) return known;
  const cron = parseCron(timing.expression, timing.timeZone);
  compiled.set(timing, cron);
  return cron;
}
