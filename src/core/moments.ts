import { Attempt, isFinal, type Task } from '../model/index.js';
import { Series } from './series.js';
import type { Due } from './timeline.js';

/** What a moment on the timeline is about. */
export type DueSubject = Task | Attempt | Series;

/** Whether a moment belongs to a series: its tick, or one of an occurrence. */
export function repeats(subject: DueSubject): boolean {
  if (subject instanceof Series) return true;
  const task = subject instanceof Attempt ? subject.task : subject;
  return task.extra?.series !== undefined;
}

/** When a moment on the timeline comes, by what is known now; `undefined` when it has lost its point. */
export function comesAt(due: Due<DueSubject>): number | undefined {
  const { subject } = due;
  if (subject instanceof Attempt) return attemptComesAt(due, subject);
  const stands = subject instanceof Series ? seriesStands(subject, due.at) : taskStands(subject, due);
  return stands ? due.at : undefined;
}

function attemptComesAt({ kind, at }: Due<DueSubject>, attempt: Attempt): number | undefined {
  if (attempt.over) return undefined;
  // While it waits its timeout stands still, and afterwards comes that much later.
  if (kind === 'timeout') return attempt.abandoned || attempt.wait !== undefined ? undefined : attempt.timesOutAt;
  // A lease that was shortened has an entry of its own.
  return attempt.leaseEndsAt >= at ? attempt.leaseEndsAt : undefined;
}

function seriesStands(series: Series, at: number): boolean {
  return !series.ended && !series.paused && series.nextAt === at;
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
