import { Task, extraOf } from '../model/index.js';
import { expectedMs } from './execution.js';
import { addTick } from './moments.js';
import { countStart } from './overrun.js';
import { missed, nextAt } from './recurrence.js';
import type { Series } from './series.js';
import type { State } from './state.js';
import { ready, submitted } from './transitions.js';

/** The series' next tick, its waiting ticks and its skipped ones, as they are from now on. */
export function seriesScheduled(
  state: State,
  series: Series,
  next: number | undefined,
  queued: readonly number[],
  skipped: number,
): void {
  series.nextAt = next;
  series.queued = [...queued];
  series.skipped = skipped;
  addTick(state.wallLine, series);
  state.emit?.({
    kind: 'series.scheduled',
    series: series.id,
    nextAt: next ?? null,
    queued,
    skipped,
    wall: state.wall,
    mono: state.mono,
  });
}

/** The series makes no more occurrences. */
export function seriesEnded(state: State, series: Series, reason: 'cancelled' | 'finished'): void {
  series.ended = true;
  series.nextAt = undefined;
  state.series.delete(series.id);
  state.emit?.({ kind: 'series.ended', series: series.id, reason, wall: state.wall, mono: state.mono });
}

/** The series makes no occurrences for the time being. */
export function seriesPaused(state: State, series: Series): void {
  series.paused = true;
  state.emit?.({ kind: 'series.paused', series: series.id, wall: state.wall, mono: state.mono });
}

/** The series makes occurrences again. */
export function seriesResumed(state: State, series: Series): void {
  series.paused = false;
  state.emit?.({ kind: 'series.resumed', series: series.id, wall: state.wall, mono: state.mono });
}

/** A tick has come. Ticks that were missed as well, because the clock jumped or nobody was there, follow the policy. */
export function tick(state: State, series: Series): void {
  const at = series.nextAt;
  if (at === undefined || series.paused || series.ended) return;
  const { timing } = series.recurrence;
  // What was missed is counted from the tick before the one that is due.
  const before = timing.kind === 'every' ? at - timing.everyMs : at - 1;
  const caught = missed(series.recurrence, before, state.wall, series.used, state.options.maxCatchUp);
  // A tick that is due just now is no missed one, whatever the policy.
  const due = caught.due.length === 0 && isOnTime(series, at, state.wall) ? [at] : [...caught.due];
  const follows = series.fromEnd || series.fromStart;
  place(state, series, due, follows && due.length > 0 ? undefined : caught.nextWall);
}

/** A timer is never exact: a tick counts as missed only when the one after it is due as well. */
function isOnTime(series: Series, at: number, wall: number): boolean {
  const { recurrence } = series;
  if (recurrence.catchUp !== 'none' || series.usedUp) return false;
  const unbounded = { ...recurrence, count: Infinity, untilWall: Infinity };
  const following = nextAt(unbounded, { scheduledWall: at, startedWall: at, endedWall: at }, 0);
  return following === undefined || following > wall;
}

/** Makes the occurrences that are due, as far as the series lets them overlap. */
function place(state: State, series: Series, due: readonly number[], next: number | undefined): void {
  const { overlap, catchUp } = series.recurrence;
  const { maxCatchUp } = state.options;
  const queued = [...series.queued];
  let { skipped } = series;
  let making: number | undefined;
  for (const at of due) {
    if (series.active === 0 && making === undefined) making = at;
    else if (overlap === 'queue' || (due.length > 1 && catchUp === 'all')) {
      // An occurrence that never ends must not gather ticks for ever.
      if (queued.length < maxCatchUp) queued.push(at);
      else skipped += 1;
    } else if (overlap === 'skip') skipped += 1;
    else making = makeBeside(state, series, making, at);
  }
  // A tick that was passed over has no run to count from; the one after it follows the tick itself.
  const passedOver = making === undefined && next === undefined && due.length > 0 && queued.length === 0;
  const after = passedOver ? afterTick(series, due[due.length - 1] as number) : next;
  seriesScheduled(state, series, after, queued, skipped);
  if (making !== undefined) makeOccurrence(state, series, making);
  endIfDone(state, series);
}

function makeBeside(state: State, series: Series, making: number | undefined, at: number): number {
  if (making !== undefined) makeOccurrence(state, series, making);
  return at;
}

function afterTick(series: Series, at: number): number | undefined {
  return nextAt(series.recurrence, { scheduledWall: at, startedWall: at, endedWall: at }, series.used);
}

function makeOccurrence(state: State, series: Series, scheduledAt: number): void {
  const due = Math.max(scheduledAt, state.wall) - state.origin.wall;
  const task = new Task(state.table.next, series.spec, series.payload, due);
  const estimateMs = expectedMs(state, series.spec);
  if (estimateMs !== undefined) extraOf(task).estimateMs = estimateMs;
  submitted(state, task, [], { series: series.id, scheduledAt });
  ready(state, task);
}

/** An occurrence has started: an interval counted from the start goes on from here. */
export function occurrenceStarted(state: State, task: Task): void {
  countStart(state, task);
  const series = state.seriesOf(task);
  if (series?.fromStart !== true || task.attempts !== 1 || series.nextAt !== undefined) return;
  const previous = { scheduledWall: series.lastAt, startedWall: state.wall, endedWall: undefined };
  const next = nextAt(series.recurrence, previous, series.used);
  if (next !== undefined) seriesScheduled(state, series, next, series.queued, series.skipped);
}

/** An occurrence has ended, however: a waiting tick gets its turn, an interval counted from the end goes on. */
export function occurrenceEnded(state: State, task: Task): void {
  const series = state.seriesOf(task);
  if (series === undefined) return;
  if (makeWaiting(state, series)) return;
  // A paused series still knows when it would go on, so that it does so at the right time once resumed.
  if (series.nextAt === undefined && (series.fromEnd || series.fromStart) && series.active === 0) {
    const previous = { scheduledWall: series.lastAt, startedWall: undefined, endedWall: state.wall };
    const next = nextAt(series.recurrence, previous, series.used);
    if (next !== undefined) seriesScheduled(state, series, next, series.queued, series.skipped);
  }
  endIfDone(state, series);
}

/** A series is resumed or updated: ticks that have passed follow its catch-up policy, and waiting ones get their turn. */
export function goOn(state: State, series: Series): void {
  if (series.nextAt !== undefined && series.nextAt <= state.wall) tick(state, series);
  if (!makeWaiting(state, series)) endIfDone(state, series);
}

/** The tick that has waited for longest gets its occurrence once nothing of the series is left to run. */
function makeWaiting(state: State, series: Series): boolean {
  const [waiting, ...others] = series.queued;
  if (waiting === undefined || series.active > 0 || series.paused) return false;
  seriesScheduled(state, series, series.nextAt, others, series.skipped);
  makeOccurrence(state, series, waiting);
  return true;
}

/** A series ends when its count or its time is used up and nothing of it is left to run. */
function endIfDone(state: State, series: Series): void {
  if (series.ended || series.paused || series.nextAt !== undefined || series.active > 0 || series.queued.length > 0)
    return;
  seriesEnded(state, series, 'finished');
}
