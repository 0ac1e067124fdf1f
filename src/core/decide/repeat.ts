import { DuplicateTaskError, UnknownTaskError, type RecurrenceSpec, type TaskSpec } from '../../model/index.js';
import { firstAt } from '../recurrence.js';
import { goOn, seriesEnded, seriesPaused, seriesResumed, tick } from '../recur.js';
import { checkSchedulable } from '../schedulable.js';
import { Series } from '../series.js';
import type { State } from '../state.js';

/** Begins a series; its first occurrence is made at once when it is due. */
export function repeat(state: State, id: string, spec: TaskSpec, recurrence: RecurrenceSpec, payload: unknown): Series {
  if (state.series.has(id)) throw new DuplicateTaskError({ taskId: id });
  state.openChannels.check(spec.channel);
  checkSchedulable(state, id, spec);
  const first = firstAt(recurrence, state.wall);
  // Every occurrence is a task with an id of its own.
  const shared = spec.id === undefined ? spec : { ...spec, id: undefined };
  const series = seriesAdded(state, id, shared, recurrence, payload, first);
  if (first === undefined) seriesEnded(state, series, 'finished');
  else if (first <= state.wall) tick(state, series);
  return series;
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
  if (first !== undefined) state.wallLine.add(first, 'series', series.sequence, series);
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
  goOn(state, series);
}
