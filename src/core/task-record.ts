import type { Attempt, Task, TaskExtra } from '../model/index.js';
import { finite } from './resources.js';
import type { AttemptRecord, ExtraRecord, TaskRecord } from './snapshot-format.js';

/** A task as plain data; `spec` is the place of its spec among the snapshot's. */
export function taskRecord(task: Task, spec: number): TaskRecord {
  const extra = task.extra === undefined ? {} : extraRecord(task.extra);
  return {
    sequence: task.sequence,
    spec,
    ...(task.payload === undefined ? {} : { payload: task.payload }),
    due: task.due,
    state: task.state,
    urgency: task.urgency,
    ready: task.ready,
    attempts: task.attempts,
    ...(task.attempt === undefined ? {} : { attempt: attemptRecord(task.attempt) }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...(task.state === 'completed' && task.value !== undefined ? { value: task.value } : {}),
  };
}

/** What a task without anything extra has. */
const NOTHING_EXTRA: ReadonlyMap<string, unknown> = new Map<keyof TaskExtra, unknown>([
  ['deadline', Infinity],
  ['eta', -Infinity],
  ['backoffUntil', -Infinity],
  ['failures', 0],
  ['losses', 0],
  ['estimateMs', 1],
  ['scheduledAt', 0],
  ['deadlineMissed', false],
  ['startsBy', -Infinity],
  ['reservationsSeen', 0],
  ['starved', false],
  ['preemptions', 0],
  ['bypasses', 0],
  ['turnPaid', false],
]);

function extraRecord({ moved: _, ...extra }: TaskExtra): ExtraRecord {
  // Orders are made anew after a restart, so no task has moved there.
  const told = Object.entries(extra).filter(([field, value]) => value !== NOTHING_EXTRA.get(field));
  return Object.fromEntries(told);
}

/** An attempt as plain data. */
export function attemptRecord(attempt: Attempt): AttemptRecord {
  const { number, epoch, workerId, charged, costs, stopBy } = attempt;
  const started = { wall: attempt.started.wall, mono: attempt.started.mono };
  const lease = { leaseMs: finite(attempt.leaseMs), leaseEndsAt: finite(attempt.leaseEndsAt) };
  return {
    ...{ number, epoch, workerId, started, ...lease },
    ...(charged === undefined ? {} : { charged }),
    ...(costs === undefined ? {} : { costs: [...costs] }),
    ...(stopBy === undefined ? {} : { stopBy }),
    ...waitsRecord(attempt),
  };
}

function waitsRecord({ wait, abandoned, resumptions, waitedMs, runningSince }: Attempt): Pick<AttemptRecord, 'waits'> {
  if (wait === undefined && resumptions === 0) return {};
  const on = wait === undefined || abandoned ? null : (wait.on?.sequence ?? null);
  return { waits: { resumptions, waitedMs, runningSince, since: wait?.since ?? null, on } };
}
