import type { Fact, Setting } from '../model/index.js';
import {
  MOMENT,
  charge,
  error,
  payload,
  policy,
  rate,
  recurrence,
  spec,
  strategy,
  whenFull,
  worker,
} from './record-shapes.js';
import {
  anything,
  count,
  isObject,
  listOf,
  maybe,
  misfitIn,
  notNegative,
  number,
  oneOf,
  orNull,
  ordinal,
  positive,
  shapeOf,
  text,
  type Check,
  type Fields,
} from './shape.js';

const TASK: Fields = { ...MOMENT, task: text };
const ATTEMPT: Fields = { ...TASK, attempt: ordinal };
const AT_WORKER: Fields = { ...ATTEMPT, workerId: text };
const CHANNEL: Fields = { ...MOMENT, channel: text };
const SERIES: Fields = { ...MOMENT, series: text };
const SCHEDULE: Fields = { ...SERIES, spec, recurrence, payload, nextAt: orNull(number) };
const BOUND: Fields = { ...MOMENT, pending: count, maxPending: orNull(count) };

const SETTINGS: Readonly<Record<Setting['name'], Fields>> = {
  strategy: {},
  aging: { everyMs: orNull(positive), maxBoost: orNull(notNegative), maxWaitMs: orNull(positive) },
  capacity: { resource: text, units: orNull(notNegative) },
  limit: { scope: oneOf('global', 'type', 'channel'), key: text, limit: orNull(notNegative) },
  rate: { scope: oneOf('resource', 'type'), key: text, rate: orNull(rate) },
  weight: { channel: text, weight: positive },
  charge: { charge },
  pressure: { maxPending: orNull(count), whenFull, lowWater: orNull(count) },
  channels: { only: orNull(listOf(text)) },
};

const setting: Check = (value) => {
  if (!isObject(value) || !Object.hasOwn(SETTINGS, value['name'] as string)) return false;
  const { name } = value as { readonly name: Setting['name'] };
  return name === 'strategy' ? strategy(value) : misfitIn(value, SETTINGS[name]) === undefined;
};

/** What each fact says. */
const FACTS: Readonly<Record<Fact['kind'], Fields>> = {
  'task.submitted': {
    ...TASK,
    sequence: ordinal,
    spec,
    payload,
    after: listOf(shapeOf({ task: text, onFailure: policy })),
    eta: orNull(number),
    due: number,
    estimateMs: notNegative,
    occurrence: maybe(shapeOf({ series: text, scheduledAt: number })),
    parent: maybe(text),
  },
  'task.delayed': TASK,
  'task.ready': TASK,
  'attempt.started': { ...AT_WORKER, epoch: count, channel: text, level: number, leaseMs: orNull(notNegative) },
  'attempt.ended': {
    ...AT_WORKER,
    how: oneOf('succeeded', 'failed', 'lost', 'released', 'preempted', 'abandoned'),
  },
  'attempt.waiting': { ...AT_WORKER, awaited: text },
  'attempt.gaveWay': AT_WORKER,
  'attempt.resumed': { ...AT_WORKER, channel: text, level: number },
  'attempt.settledLate': { ...ATTEMPT, sequence: ordinal },
  'lease.extended': { ...ATTEMPT, leaseEndsAt: orNull(number) },
  'task.checkpointed': ATTEMPT,
  'cost.reported': { ...ATTEMPT, resource: text, cost: notNegative },
  'resource.closed': { ...ATTEMPT, resource: text, untilMono: number },
  'task.completed': { ...TASK, value: anything },
  'task.retryScheduled': { ...TASK, untilMono: number, spent: oneOf('failure', 'loss'), error: maybe(error) },
  'task.failed': { ...TASK, error },
  'task.cancelled': { ...TASK, error },
  'task.skipped': { ...TASK, dependency: text },
  'task.revived': TASK,
  'task.replaced': TASK,
  'task.waiting': TASK,
  'task.renewed': { ...TASK, payload, eta: orNull(number) },
  'task.pinned': TASK,
  'task.forgotten': TASK,
  'deadline.missed': TASK,
  'task.startExpected': { ...TASK, byMono: number },
  'task.starved': { ...TASK, waitedMs: number },
  'task.preempted': { ...AT_WORKER, by: text, stopByMono: number },
  'task.bypassed': { ...TASK, by: text },
  'room.kept': { ...TASK, workerId: maybe(text), untilMono: orNull(number) },
  'room.dropped': TASK,
  'priority.set': { ...TASK, level: number },
  'dependency.added': { ...TASK, dependency: text, onFailure: policy },
  'dependency.removed': { ...TASK, dependency: text },
  'channel.paused': CHANNEL,
  'channel.resumed': CHANNEL,
  'channel.closed': CHANNEL,
  'channel.opened': CHANNEL,
  configured: { ...MOMENT, setting },
  'pending.saturated': BOUND,
  'pending.relieved': BOUND,
  'series.added': SCHEDULE,
  'series.updated': { ...SCHEDULE, queued: listOf(number) },
  'series.scheduled': { ...SERIES, nextAt: orNull(number), queued: listOf(number), skipped: count },
  'series.paused': SERIES,
  'series.resumed': SERIES,
  'series.overran': { ...SERIES, from: number, until: orNull(number) },
  'series.ended': { ...SERIES, reason: oneOf('cancelled', 'finished') },
  'worker.attached': { ...MOMENT, worker },
  'worker.detached': { ...MOMENT, worker: text },
  'random.drawn': { ...MOMENT, state: listOf(count) },
  recovered: { ...MOMENT, epoch: count },
};

const BY_KIND: ReadonlyMap<unknown, Fields> = new Map(Object.entries(FACTS));

/** Why something that came out of a journal is no fact of this version; `undefined` where it is one. */
export function misfitOf(fact: { readonly kind: string }): string | undefined {
  const fields = BY_KIND.get(fact.kind);
  if (fields === undefined) return 'nothing of its kind happens';
  const field = misfitIn(fact, fields);
  return field === undefined ? undefined : `its field ${field} is not what can stand there`;
}
