import type { Fact } from '../model/index.js';
import { seriesAdded, seriesFor } from './decide/repeat.js';
import { recurrenceOf, specOf } from './records.js';
import { seriesEnded, seriesPaused, seriesResumed, seriesScheduled } from './recur.js';
import { seriesUpdated } from './series-update.js';
import type { State } from './state.js';

type SeriesFact = Extract<Fact, { kind: `series.${string}` }>;

/** Lets what happened to a series happen again. */
export function applyToSeries(state: State, fact: SeriesFact): void {
  if (fact.kind === 'series.added') {
    const { series: id, spec, recurrence, payload, nextAt } = fact;
    seriesAdded(state, id, specOf(spec), recurrenceOf(recurrence), payload, nextAt ?? undefined);
    return;
  }
  const series = seriesFor(state, fact.series);
  switch (fact.kind) {
    case 'series.updated':
      seriesUpdated(state, series, {
        spec: specOf(fact.spec),
        recurrence: recurrenceOf(fact.recurrence),
        payload: fact.payload,
        nextAt: fact.nextAt ?? undefined,
        queued: fact.queued,
      });
      return;
    case 'series.scheduled':
      seriesScheduled(state, series, fact.nextAt ?? undefined, fact.queued, fact.skipped);
      return;
    case 'series.paused':
      seriesPaused(state, series);
      return;
    case 'series.resumed':
      seriesResumed(state, series);
      return;
    case 'series.overran':
      // Whatever made it so is counted where it happened; this fact only tells.
      return;
    case 'series.ended':
      seriesEnded(state, series, fact.reason);
      return;
  }
}
