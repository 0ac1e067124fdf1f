import type { RecurrenceSpec, TaskSpec } from '../model/index.js';
import { addTick } from './moments.js';
import { firstAt } from './recurrence.js';
import type { Series } from './series.js';
import type { State } from './state.js';

/** What of a series is new. */
export interface SeriesUpdate {
  readonly spec: TaskSpec;
  readonly recurrence: RecurrenceSpec;
  readonly payload: unknown;
  readonly nextAt: number | undefined;
  readonly queued: readonly number[];
}

/** The series makes other occurrences from now on, or at other times. */
export function seriesUpdated(state: State, series: Series, update: SeriesUpdate): void {
  const { spec, recurrence, payload, nextAt, queued } = update;
  // How often it runs is counted anew where the schedule is another one.
  if (!isSameSchedule(series.recurrence, recurrence)) {
    series.interval = undefined;
    series.overran = false;
  }
  Object.assign(series, { spec, recurrence, payload, nextAt, queued: [...queued] });
  addTick(state.wallLine, series);
  state.emit?.({
    kind: 'series.updated',
    series: series.id,
    spec,
    recurrence,
    payload,
    nextAt: nextAt ?? null,
    queued,
    wall: state.wall,
    mono: state.mono,
  });
}

/**
 * When a series goes on under other rules; `undefined` when an unfinished occurrence decides that, or when it is used up.
 *
 * The same schedule goes on as if nothing had been said. Another interval is counted from the run before, and begins at
 * once where it has passed already: what would have been due by the new rules is not caught up with.
 */
export function nextAfterUpdate(series: Series, recurrence: RecurrenceSpec, wall: number): number | undefined {
  const { timing, etaWall, untilWall, count } = recurrence;
  if (series.used >= count) return undefined;
  if (series.nextAt !== undefined && isSameSchedule(series.recurrence, recurrence)) {
    return series.nextAt > untilWall ? undefined : series.nextAt;
  }
  const isAligned = timing.kind === 'cron' || (timing.from === 'grid' && etaWall !== Number.NEGATIVE_INFINITY);
  if (isAligned || series.made === 0 || etaWall > wall) return firstAt(recurrence, wall);
  if (series.active > 0 && (timing.from === 'end' || (timing.from === 'start' && series.nextAt === undefined))) {
    return undefined;
  }
  const { everyMs } = timing;
  const before = lastRunAt(series);
  const next =
    timing.from === 'grid'
      ? before + Math.max(1, Math.ceil((wall - before) / everyMs)) * everyMs
      : Math.max(before + everyMs, wall);
  return next > untilWall ? undefined : next;
}

/** What the next interval is counted from: where one counts already, from there, else from the latest tick. */
function lastRunAt({ recurrence: { timing }, nextAt, lastAt }: Series): number {
  return timing.kind === 'every' && nextAt !== undefined ? nextAt - timing.everyMs : lastAt;
}

function isSameSchedule(x: RecurrenceSpec, y: RecurrenceSpec): boolean {
  if (x.etaWall !== y.etaWall) return false;
  if (x.timing.kind === 'cron') {
    const { timing } = y;
    return timing.kind === 'cron' && timing.expression === x.timing.expression && timing.timeZone === x.timing.timeZone;
  }
  return y.timing.kind === 'every' && y.timing.everyMs === x.timing.everyMs && y.timing.from === x.timing.from;
}
