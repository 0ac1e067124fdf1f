import {
  anything,
  count,
  either,
  entryOf,
  isObject,
  listOf,
  maybe,
  notNegative,
  number,
  oneOf,
  optional,
  orNull,
  ordinal,
  positive,
  shapeOf,
  text,
  time,
  truth,
  type Check,
  type Fields,
} from './shape.js';

/*
 * What facts and snapshots have in common, as it comes out of a store: numbers that are infinite are `null`, and what says
 * nothing is not there.
 */

export const MOMENT: Fields = { wall: time, mono: time };

export const policy: Check = oneOf('fail', 'skip', 'run');
export const taskState: Check = oneOf(
  ...['waiting', 'delayed', 'ready', 'running', 'completed', 'failed', 'cancelled', 'skipped'],
);
export const finalState: Check = oneOf('completed', 'failed', 'cancelled', 'skipped');
export const whenFull: Check = oneOf('wait', 'reject', 'drop-oldest', 'drop-lowest');
export const charge: Check = oneOf('turns', 'time');

const capability: Check = either(text, number, truth);

/** Whether there is one of that name, the core knows. */
export const strategy: Check = shapeOf({ strategy: text, custom: truth });

export const rate: Check = shapeOf({ rate: positive, perMs: positive, burst: positive });

/** An error; what it follows from is one too, a few deep. */
export const error: Check = (value) =>
  shapeOf({
    name: text,
    message: text,
    code: maybe(text),
    stack: maybe(text),
    data: maybe(isObject),
    causes: maybe(listOf(text)),
    because: maybe(error),
  })(value);

const retry: Check = shapeOf({
  attempts: ordinal,
  backoff: either(
    shapeOf({ kind: oneOf('fixed'), baseMs: notNegative }),
    shapeOf({ kind: oneOf('exponential'), baseMs: notNegative, factor: positive }),
  ),
  maxDelayMs: optional(notNegative),
  jitter: truth,
});

const rare: Check = shapeOf({
  metadata: maybe(isObject),
  durable: maybe(truth),
  ifExists: maybe(oneOf('keep', 'replace')),
  key: maybe(text),
  debounceMs: maybe(notNegative),
  throttleMs: maybe(notNegative),
});

export const spec: Check = shapeOf({
  id: optional(text),
  type: optional(text),
  channel: text,
  level: number,
  deadline: optional(number),
  expires: optional(number),
  eta: optional(number),
  delayMs: optional(notNegative),
  needs: optional(listOf(shapeOf({ resource: text, amount: positive }))),
  yieldable: optional(listOf(text)),
  capabilities: optional(listOf(entryOf(text, capability))),
  retry: optional(retry),
  timeoutMs: optional(positive),
  leaseMs: optional(notNegative),
  estimateMs: optional(notNegative),
  preemptible: optional(truth),
  onDependencyFailure: optional(policy),
  rare: optional(rare),
});

export const recurrence: Check = shapeOf({
  timing: either(
    shapeOf({ kind: oneOf('every'), everyMs: positive, from: oneOf('end', 'start', 'grid') }),
    shapeOf({ kind: oneOf('cron'), expression: text, timeZone: text }),
  ),
  overlap: oneOf('skip', 'queue', 'allow'),
  catchUp: oneOf('once', 'all', 'none'),
  count: optional(ordinal),
  untilWall: optional(number),
  etaWall: optional(number),
  keepAlive: maybe(truth),
});

export const worker: Check = shapeOf({
  id: text,
  slots: orNull(count),
  capabilities: listOf(entryOf(text, either(capability, listOf(capability)))),
  strategy: orNull(strategy),
  filtered: truth,
  exclusive: maybe(oneOf(true)),
  leaseMs: orNull(notNegative),
  retries: orNull(count),
});

/** What a task carries, as a store keeps it. */
export const payload: Check = maybe(shapeOf({ input: anything, gaps: maybe(listOf(count)) }));
