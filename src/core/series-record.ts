import { recurrenceRecord } from './records.js';
import { finite } from './resources.js';
import type { Series } from './series.js';
import type { SeriesRecord } from './snapshot-format.js';

/** A series as plain data; `spec` is the place of its spec among the snapshot's. */
export function seriesRecord(series: Series, spec: number): SeriesRecord {
  const { sequence, firstTask, id, payload, nextAt, lastAt, made, skipped, active, queued, paused } = series;
  const { interval, overran } = series;
  return {
    sequence,
    firstTask,
    id,
    spec,
    recurrence: recurrenceRecord(series.recurrence),
    ...(payload === undefined ? {} : { payload }),
    nextAt: nextAt ?? null,
    lastAt,
    made,
    skipped,
    active,
    queued: [...queued],
    paused,
    interval: interval === undefined ? null : { ...interval, until: finite(interval.until) },
    overran,
  };
}
