import { Attempt, isFinal, type Task } from '../model/index.js';
import { Series } from './series.js';
import type { Due, Timeline } from './timeline.js';

/** What a moment on the timeline is about. */
export type DueSubject = Task | Attempt | Series;

/**
 * Whether the process need not stay for a moment: it belongs to a series, as its tick or one of an occurrence, and
 * the series does not ask for it.
 */
export function isFree(subject: DueSubject, seriesOf: (task: Task) => Series | undefined): boolean {
  if (subject instanceof Series) return !subject.recurrence.keepAlive;
  const task = subject instanceof Attempt ? subject.task : subject;
  return task.extra?.series !== undefined && seriesOf(task)?.recurrence.keepAlive !== true;
}

/** Puts the next tick of the series, if there is one, on the timeline. */
export function addTick(line: Timeline<DueSubject>, series: Series): void {
  const { nextAt, sequence } = series;
  if (nextAt !== undefined) line.add(nextAt, 'series', sequence, series, hold(series));
}

/** Tells apart what stands for the same tick and lies elsewhere, because the series did not ask for the process then. */
function hold({ recurrence }: Series): number {
  return recurrence.keepAlive ? 1 : 0;
}

/** When a moment on the timeline comes, by what is known now; `undefined` when it has lost its point. */
export function comesAt(due: Due<DueSubject>): number | undefined {
  const { subject } = due;
  if (subject instanceof Attempt) return attemptComesAt(due, subject);
  const stands = subject instanceof Series ? seriesStands(subject, due) : taskStands(subject, due);
  return stands ? due.at : undefined;
}

function attemptComesAt({ kind, at }: Due<DueSubject>, attempt: Attempt): number | undefined {
  if (attempt.over) return undefined;
  // While it waits its timeout stands still, and afterwards comes that much later.
  if (kind === 'timeout') return attempt.abandoned || attempt.wait !== undefined ? undefined : attempt.timesOutAt;
  // A lease that was shortened has an entry of its own.
  return attempt.leaseEndsAt >= at ? attempt.leaseEndsAt : undefined;
}

function seriesStands(series: Series, { at, tie }: Due<DueSubject>): boolean {
  return !series.ended && !series.paused && series.nextAt === at && tie === hold(series);
}

function taskStands({ state, attempt, extra }: Task, { kind, at }: Due<DueSubject>): boolean {
  switch (kind) {
    case 'eta':
      return state === 'delayed' && extra?.eta === at;
    case 'backoff':
      return state === 'delayed' && extra?.backoffUntil === at;
    case 'expiry':
      return attempt === undefined && !isFinal(state);
    default:
      return !isFinal(state) && extra?.deadlineMissed !== true;
  }
}
