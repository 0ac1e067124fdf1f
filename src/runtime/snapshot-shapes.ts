import type { CoreSnapshot, ListName } from '../core/index.js';
import {
  MOMENT,
  charge,
  error,
  finalState,
  payload,
  rate,
  recurrence,
  spec,
  strategy,
  taskState,
  whenFull,
  worker,
} from './record-shapes.js';
import {
  anything,
  count,
  entryOf,
  isObject,
  listOf,
  maybe,
  misfitIn,
  notNegative,
  number,
  optional,
  orNull,
  ordinal,
  positive,
  shapeOf,
  text,
  truth,
  type Check,
  type Fields,
} from './shape.js';

const moment = shapeOf(MOMENT);
const limits = listOf(entryOf(text, orNull(notNegative)));
const rates = maybe(listOf(entryOf(text, rate)));
const flows = listOf(entryOf(text, shapeOf({ since: number, spent: number, closedUntil: orNull(number) })));

/** What only the making of a core sets. */
export const FIXED_SETTINGS: Fields = {
  retain: shapeOf({ count: orNull(notNegative), ageMs: orNull(notNegative) }),
  maxLosses: orNull(notNegative),
  maxCatchUp: orNull(notNegative),
  serviceMs: orNull(positive),
  maxBypasses: orNull(notNegative),
  workersMayCome: maybe(truth),
  sliceMs: orNull(notNegative),
  preemption: shapeOf({
    graceMs: orNull(notNegative),
    minRunMs: orNull(notNegative),
    maxPerTask: orNull(notNegative),
  }),
};

const settings = shapeOf({
  ...FIXED_SETTINGS,
  strategy,
  aging: shapeOf({ everyMs: orNull(positive), maxBoost: orNull(notNegative), maxWaitMs: orNull(positive) }),
  charge,
  pressure: shapeOf({ maxPending: orNull(count), whenFull, lowWater: orNull(count), saturated: truth }),
  resources: shapeOf({
    global: orNull(notNegative),
    capacities: limits,
    types: limits,
    channels: limits,
    weights: listOf(entryOf(text, positive)),
    rates,
    typeRates: rates,
  }),
  channels: shapeOf({ only: orNull(listOf(text)), closed: listOf(text) }),
});

const attempt = shapeOf({
  number: ordinal,
  epoch: count,
  workerId: text,
  started: moment,
  leaseMs: orNull(notNegative),
  leaseEndsAt: orNull(number),
  charged: maybe(shapeOf({ level: number, amount: number })),
  costs: maybe(listOf(entryOf(text, notNegative))),
  stopBy: maybe(number),
  waits: maybe(
    shapeOf({
      resumptions: count,
      waitedMs: number,
      runningSince: number,
      since: orNull(number),
      on: orNull(ordinal),
    }),
  ),
});

const extra = shapeOf({
  level: maybe(number),
  deadline: maybe(number),
  eta: maybe(number),
  backoffUntil: maybe(number),
  failures: maybe(count),
  losses: maybe(count),
  estimateMs: maybe(notNegative),
  series: maybe(text),
  scheduledAt: maybe(number),
  parent: maybe(ordinal),
  deadlineMissed: maybe(truth),
  startsBy: maybe(number),
  reservationsSeen: maybe(count),
  starved: maybe(truth),
  preemptions: maybe(count),
  bypasses: maybe(count),
  turnPaid: maybe(truth),
  error: maybe(error),
});

const task = shapeOf({
  sequence: ordinal,
  spec: count,
  payload,
  due: number,
  state: taskState,
  urgency: number,
  ready: number,
  attempts: count,
  attempt: maybe(attempt),
  extra: maybe(extra),
});

const series = shapeOf({
  sequence: count,
  firstTask: count,
  id: text,
  spec: count,
  recurrence,
  payload,
  nextAt: orNull(number),
  lastAt: number,
  made: count,
  skipped: count,
  active: count,
  queued: listOf(number),
  paused: truth,
  interval: orNull(shapeOf({ from: number, until: orNull(number), runs: count })),
  overran: truth,
});

/** What can stand in each list of a snapshot. */
const LISTS: Readonly<Record<ListName, Check>> = {
  specs: spec,
  tasks: task,
  strays: task,
  edges: entryOf(ordinal, ordinal, count),
  kept: entryOf(ordinal, orNull(number)),
  series,
  keys: entryOf(text, optional(ordinal), optional(number), optional(number)),
  named: entryOf(text, finalState),
  numbered: entryOf(ordinal, finalState),
  held: entryOf(count, ordinal),
};

/** A snapshot; where its lists are told in parts, they are empty in what comes first. */
const HEAD: Readonly<Record<keyof CoreSnapshot, Check>> = {
  version: ordinal,
  factVersion: ordinal,
  origin: moment,
  now: moment,
  epoch: count,
  nextSequence: ordinal,
  nextSeries: count,
  reservations: maybe(count),
  random: listOf(count),
  settings,
  held: listOf(entryOf(text, notNegative)),
  flows: maybe(shapeOf({ resources: flows, types: flows })),
  paused: listOf(entryOf(text, listOf(ordinal))),
  abandoned: listOf(entryOf(ordinal, attempt)),
  tombstones: shapeOf({ named: listOf(entryOf(text, finalState)), numbered: listOf(entryOf(ordinal, finalState)) }),
  means: listOf(entryOf(text, count, notNegative)),
  turns: orNull(
    listOf(shapeOf({ level: number, virtualTime: number, agesFrom: number, accounts: listOf(listOf(anything)) })),
  ),
  workers: listOf(worker),
  served: listOf(text),
  mostUrgent: number,
  rooms: listOf(entryOf(ordinal, orNull(text), orNull(number))),
  untold: listOf(isObject),
  specs: listOf(LISTS.specs),
  tasks: listOf(LISTS.tasks),
  strays: listOf(LISTS.strays),
  edges: listOf(LISTS.edges),
  kept: listOf(LISTS.kept),
  series: listOf(LISTS.series),
  keys: maybe(listOf(LISTS.keys)),
};

/** Why something that came out of a store is no snapshot of this version; `undefined` where it is one. */
export function misfitOfHead(head: unknown): string | undefined {
  const field = misfitIn(head, HEAD);
  return field === undefined ? undefined : `its field ${field} is not what can stand there`;
}

/** Whether an entry may stand in a list of a snapshot. */
export function isListed(list: ListName, entry: unknown): boolean {
  return LISTS[list](entry);
}
