import { UnknownTaskError, type RecurrenceSpec, type TaskSpec } from '../../model/index.js';
import { addTick } from '../moments.js';
import { firstAt } from '../recurrence.js';
import { goOn, seriesEnded, seriesPaused, seriesResumed, seriesScheduled, tick } from '../recur.js';
import { checkSchedulable } from '../schedulable.js';
import { nextAfterUpdate, seriesUpdated } from '../series-update.js';
import { Series } from '../series.js';
import type { State } from '../state.js';

/** Begins a series, or updates the one with this id; an occurrence that is due is made at once. */
export function repeat(state: State, id: string, spec: TaskSpec, recurrence: RecurrenceSpec, payload: unknown): Series {
  state.openChannels.check(spec.channel);
  checkSchedulable(state, id, spec);
  // Every occurrence is a task with an id of its own.
  const shared = spec.id === undefined ? spec : Object.freeze({ ...spec, id: undefined });
  const known = state.series.get(id);
  if (known !== undefined) {
    update(state, known, shared, recurrence, payload);
    return known;
  }
  const first = firstAt(recurrence, state.wall);
  const series = seriesAdded(state, id, shared, recurrence, payload, first);
  if (first === undefined) seriesEnded(state, series, 'finished');
  else if (first <= state.wall) tick(state, series);
  return series;
}

/** What a series has run counts on, and what it has made goes on as it was made; what it makes from now on is new. */
function update(state: State, series: Series, spec: TaskSpec, recurrence: RecurrenceSpec, payload: unknown): void {
  const next = nextAfterUpdate(series, recurrence, state.wall);
  const queued = series.queued.slice(0, Math.max(0, recurrence.count - series.made));
  seriesUpdated(state, series, { spec, recurrence, payload, nextAt: next, queued });
  goOn(state, series);
}

/** The series is known, and when its first occurrence is due. */
export function seriesAdded(
  state: State,
  id: string,
  spec: TaskSpec,
  recurrence: RecurrenceSpec,
  payload: unknown,
  first: number | undefined,
): Series {
  const series = new Series(state.nextSeries, state.table.next, id, spec, recurrence, payload);
  state.nextSeries += 1;
  state.series.set(id, series);
  series.nextAt = first;
  addTick(state.wallLine, series);
  state.emit?.({
    kind: 'series.added',
    series: id,
    spec,
    recurrence,
    payload,
    nextAt: first ?? null,
    wall: state.wall,
    mono: state.mono,
  });
  return series;
}

/** The series with this id. */
export function seriesFor(state: State, id: string): Series {
  const series = state.series.get(id);
  if (series === undefined) throw new UnknownTaskError({ taskId: id });
  return series;
}

/** Ends a series; the occurrences it has made go on. */
export function cancelSeries(state: State, id: string): void {
  seriesEnded(state, seriesFor(state, id), 'cancelled');
}

export function pauseSeries(state: State, id: string): void {
  const series = seriesFor(state, id);
  if (!series.paused) seriesPaused(state, series);
}

/** Goes on with a paused series. */
export function resumeSeries(state: State, id: string): void {
  const series = seriesFor(state, id);
  if (!series.paused) return;
  seriesResumed(state, series);
  // Its moment may have come up and been passed over meanwhile.
  const { nextAt, queued, skipped } = series;
  if (nextAt !== undefined && nextAt > state.wall) seriesScheduled(state, series, nextAt, queued, skipped);
  goOn(state, series);
}
