import type { Task } from '../model/index.js';
import { intervalEnd } from './recurrence.js';
import { finite } from './resources.js';
import type { RunsInInterval, Series } from './series.js';
import type { State } from './state.js';

/** An attempt has started: the first one of an occurrence is a run of its series. */
export function countStart(state: State, task: Task): void {
  const series = task.attempts === 1 ? state.seriesOf(task) : undefined;
  if (series !== undefined) countRun(state, series);
}

/**
 * One more run. A second one within an interval is more than the schedule gives, and that is told; not again before
 * an interval has passed with one run or none.
 */
export function countRun(state: State, series: Series): void {
  const { wall } = state;
  const { interval, recurrence, lastAt } = series;
  // Where the wall clock was set back, counting begins anew.
  const isLater = interval !== undefined && interval.from <= wall;
  if (isLater && wall < interval.until) {
    series.interval = { ...interval, runs: interval.runs + 1 };
    if (!series.overran) seriesOverran(state, series, series.interval);
    return;
  }
  const goesOn = isLater && interval.runs > 1 && wall < intervalEnd(recurrence, lastAt, interval.until);
  if (!goesOn) series.overran = false;
  series.interval = { from: wall, until: intervalEnd(recurrence, lastAt, wall), runs: 1 };
}

function seriesOverran(state: State, series: Series, { from, until }: RunsInInterval): void {
  series.overran = true;
  state.emit?.({
    kind: 'series.overran',
    series: series.id,
    from,
    until: finite(until),
    wall: state.wall,
    mono: state.mono,
  });
}
