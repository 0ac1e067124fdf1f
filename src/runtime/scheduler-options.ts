import {
  CORE_DEFAULTS,
  checkAging,
  checkBalance,
  checkPressure,
  checkStrategy,
  type Balance,
  type Core,
  type CoreOptions,
  type PreemptionSettings,
  type PressureSettings,
  type Request,
  type StrategyChoice,
  type WhenFull,
} from '../core/index.js';
import {
  fieldsOf,
  parseChoice,
  parseDuration,
  parsePositiveDuration,
  pathTo,
  refuseConfig,
  refuseUnknown,
  type Duration,
  type Moment,
  type RateOptions,
} from '../model/index.js';
import type { Executor } from '../ports/executor.js';
import type { Logger } from '../ports/logger.js';
import type { Load } from './admission.js';
import type { Clock } from './clock.js';
import type { StoreOptions } from './store-options.js';
import { capacityRequest, limitRequest, typeLimitRequests, type TypeLimitOptions } from './limit-options.js';

/** How waiting turns into urgency. */
export interface AgingOptions {
  /** One level for each such stretch of waiting; ten seconds unless given. */
  readonly every?: Duration | undefined;
  /** At most so many levels. */
  readonly maxBoost?: number | undefined;
  /** A task that has waited for as long goes before all others. */
  readonly maxWait?: Duration | undefined;
}

/** How running tasks that allow it are stopped for more urgent ones. */
export interface PreemptionOptions {
  /** How long a stopped attempt may take to make way; one second unless given. */
  readonly grace?: Duration | undefined;
  /** How long an attempt runs at the least before it is stopped; one second unless given. */
  readonly minRun?: Duration | undefined;
  /** How often one task is stopped at the most; three times unless given. */
  readonly maxPerTask?: number | undefined;
}

/** What a scheduler is made with. */
export interface SchedulerOptions extends StoreOptions {
  /** How many tasks run at a time; 16 unless given. With 0, only workers that claim for themselves get any. */
  readonly concurrency?: number | undefined;
  /** Where tasks run beside the slots of this process, each of what it suits. */
  readonly executors?: readonly Executor[] | undefined;
  /**
   * Who gets a task that several executors or workers suit: whoever has most slots free (`least-loaded`, as unless given), or
   * whoever was given nothing for longest (`round-robin`). Pulling workers that claim for themselves are not asked.
   */
  readonly balance?: Balance | undefined;
  /** Who goes first; by priority unless given. */
  readonly strategy?: StrategyChoice | 'weighted_random' | undefined;
  readonly aging?: AgingOptions | false | undefined;
  /** Named resources: so many units, held while a task runs, or so many tokens in the course of time. */
  readonly resources?: Readonly<Record<string, number | RateOptions>> | undefined;
  readonly limits?:
    | {
        readonly global?: number | undefined;
        /** How many of a type run at a time, how many start in the course of time, or both; the type of closures is empty. */
        readonly perType?: Readonly<Record<string, number | TypeLimitOptions>> | undefined;
        /** `*` is for every channel without a limit of its own. */
        readonly perChannel?: Readonly<Record<string, number>> | undefined;
      }
    | undefined;
  readonly channels?:
    | {
        readonly weights?: Readonly<Record<string, number>> | undefined;
        /** What channels share: the turns unless given, or the time. */
        readonly charge?: 'turns' | 'time' | undefined;
        /** The channels there are: a task for any other is refused. Every name will do unless given. */
        readonly only?: readonly string[] | undefined;
      }
    | undefined;
  /** Watches for tasks that wait beyond their bound; nobody does unless given. */
  readonly starvation?: { /** How long an attempt takes at the most. */ readonly service: Duration } | undefined;
  /**
   * Whether workers may still be attached, as they may unless told otherwise. With `false`, a task that asks for what
   * none of those that are there offers is refused instead of waiting for one that does.
   */
  readonly workersMayCome?: boolean | undefined;
  /** How many tasks may be pending, which is unfinished and not running; any number unless given. */
  readonly maxPending?: number | undefined;
  /** What happens to a task for which there is no room; it waits to be let in unless given. */
  readonly whenFull?: WhenFull | undefined;
  /** How many tasks may wait to be let in; as many as may be pending unless given. */
  readonly maxWaiting?: number | undefined;
  /** What the number of pending tasks must fall to before `saturated` ends; half of `maxPending` unless given. */
  readonly lowWater?: number | undefined;
  /**
   * Asked before anything starts: `false` holds all starts back, until something changes or `admitEvery` has passed. One
   * that throws, or gives anything but true or false, counts as a yes, and is told of by the event `error`.
   */
  readonly admit?: ((load: Load) => boolean) | undefined;
  /** How soon `admit` is asked again while it holds starts back and nothing changes; 100 ms unless given. */
  readonly admitEvery?: Duration | undefined;
  /** How tasks that are `preemptible` are stopped for more urgent ones. */
  readonly preemption?: PreemptionOptions | undefined;
  /** How long a handler that is a generator runs before it gives way at a yield to others as urgent; 50 ms unless given. */
  readonly slice?: Duration | undefined;
  /** How many finished tasks are kept, and for how long. */
  readonly retain?: { readonly count?: number | undefined; readonly age?: Duration | undefined } | undefined;
  /** Whether handlers run in the AsyncLocalStorage context of whoever added their task; they do unless given. */
  readonly context?: boolean | undefined;
  /** Of whatever is random: the same seed makes the same choices. */
  readonly seed?: number | string | undefined;
  /**
   * Signals on which the process closes the scheduler and then ends, such as `['SIGTERM']`; none unless given. What else
   * listens to the signal decides itself when the process ends.
   */
  readonly shutdownOn?: readonly NodeJS.Signals[] | undefined;
  /** Where the time comes from; the machine's own clocks unless given. */
  readonly clock?: Clock | undefined;
  /** Gets a record of every event; any logger shaped like pino's. Nothing is logged unless it is given. */
  readonly logger?: Logger | undefined;
  /** Records attempts for `timeline()`: the latest 10,000, or as many as the limit says. */
  readonly timeline?: boolean | { readonly limit: number } | undefined;
}

const KNOWN = {
  '': [
    ...['logger', 'timeline', 'shutdownOn'],
    ...['concurrency', 'strategy', 'aging', 'resources', 'limits', 'channels', 'retain', 'seed', 'clock'],
    ...['maxPending', 'whenFull', 'maxWaiting', 'lowWater', 'admit', 'admitEvery', 'starvation', 'workersMayCome'],
    ...['context', 'executors', 'balance', 'preemption', 'slice', 'store', 'codec', 'maxPayloadBytes', 'snapshotEvery'],
  ],
  aging: ['every', 'maxBoost', 'maxWait'],
  limits: ['global', 'perType', 'perChannel'],
  channels: ['weights', 'charge', 'only'],
  retain: ['count', 'age'],
  starvation: ['service'],
  preemption: ['grace', 'minRun', 'maxPerTask'],
} as const;

/** The options of one section, of which every name is known. */
function section(options: unknown, name: keyof typeof KNOWN): Map<string, unknown> {
  const fields = options === undefined ? [] : fieldsOf(options, name === '' ? 'options' : name, refuseConfig);
  for (const [key, value] of fields) {
    const known: readonly string[] = KNOWN[name];
    if (!known.includes(key)) refuseUnknown(name, key, value, known, refuseConfig);
  }
  return new Map(fields);
}

/** How many tasks run at a time. */
export function concurrencyOf({ concurrency = 16 }: SchedulerOptions): number {
  return parseConcurrency(concurrency);
}

/** A number of tasks that may run at a time. */
export function parseConcurrency(concurrency: number): number {
  if (concurrency === Infinity || (Number.isInteger(concurrency) && concurrency >= 0)) return concurrency;
  return refuseConfig('concurrency', concurrency, 'a whole number of at least 0, or Infinity');
}

/** How tasks are distributed where several would take them. */
export function balanceOf({ balance = 'least-loaded' }: SchedulerOptions): Balance {
  return checkBalance(balance);
}

/** Whether handlers run in the context of whoever added their task. */
export function keepsContext({ context = true }: SchedulerOptions): boolean {
  return typeof context === 'boolean' ? context : refuseConfig('context', context, 'true or false');
}

/** The part of the options that a core is made with; all names are checked here. */
export function coreOptions(options: SchedulerOptions, origin: Moment): Partial<CoreOptions> & { origin: Moment } {
  const given = section(options, '');
  const channels = section(options.channels, 'channels');
  const { seed } = options;
  if (seed !== undefined && typeof seed !== 'string' && !Number.isFinite(seed)) {
    refuseConfig('seed', seed, 'a finite number or a text');
  }
  const { workersMayCome = true } = options;
  if (typeof workersMayCome !== 'boolean') refuseConfig('workersMayCome', workersMayCome, 'true or false');
  return {
    origin,
    ...(seed === undefined ? {} : { seed }),
    ...(given.has('strategy') ? { strategy: checkStrategy(options.strategy, 'strategy') } : {}),
    ...(options.aging === undefined
      ? {}
      : { aging: checkAging(options.aging === false ? false : agingMs(options.aging)) }),
    ...(channels.has('charge')
      ? { charge: parseChoice(channels.get('charge'), ['turns', 'time'], 'channels.charge', refuseConfig) }
      : {}),
    retain: retainOf(options.retain),
    pressure: pressureOf(options),
    serviceMs: serviceMsOf(options.starvation),
    workersMayCome,
    preemption: preemptionOf(options.preemption),
    ...(given.has('slice') ? { sliceMs: parseDuration(given.get('slice'), 'slice', refuseConfig) } : {}),
  };
}

/** The part that is set on a core, as it may be again later. */
export function applySettings(core: Core, options: SchedulerOptions, now: Moment): void {
  const { channels = {}, limits = {} } = options;
  for (const [resource, given] of entries(options.resources, 'resources')) {
    core.handle({ ...capacityRequest(resource, given), now });
  }
  for (const request of limitRequests(limits)) core.handle({ ...request, now });
  for (const [channel, weight] of numbers(channels.weights, 'channels.weights')) {
    core.handle({ kind: 'setWeight', now, channel, weight });
  }
  if (channels.only !== undefined) core.handle({ kind: 'setChannels', now, only: channels.only });
}

/** What sets the limits, of which every name and value is known to be right. */
export function limitRequests(limits: NonNullable<SchedulerOptions['limits']>): Request[] {
  const given = section(limits, 'limits');
  const requests: Request[] = [];
  const global = given.get('global');
  if (global !== undefined) requests.push(limitRequest('global', '', global));
  for (const [key, each] of entries(given.get('perType'), 'limits.perType')) {
    requests.push(...typeLimitRequests(key, each));
  }
  for (const [key, limit] of entries(given.get('perChannel'), 'limits.perChannel')) {
    requests.push(limitRequest('channel', key, limit));
  }
  return requests;
}

function entries(record: unknown, field: string): [string, unknown][] {
  return record === undefined ? [] : fieldsOf(record, field, refuseConfig);
}

function numbers(record: unknown, field: string): [string, number][] {
  if (record === undefined) return [];
  return fieldsOf(record, field, refuseConfig).map(([key, value]) => {
    return typeof value === 'number' ? [key, value] : refuseConfig(pathTo(field, key), value, 'a number');
  });
}

function pressureOf({ maxPending, whenFull, lowWater }: SchedulerOptions): PressureSettings {
  return checkPressure({
    ...(maxPending === undefined ? {} : { maxPending }),
    ...(whenFull === undefined ? {} : { whenFull }),
    ...(lowWater === undefined ? {} : { lowWater }),
  });
}

function preemptionOf(options: SchedulerOptions['preemption']): PreemptionSettings {
  const given = section(options, 'preemption');
  const { graceMs, minRunMs, maxPerTask: most } = CORE_DEFAULTS.preemption;
  const duration = (name: string, unless: number): number =>
    given.has(name) ? parseDuration(given.get(name), `preemption.${name}`, refuseConfig) : unless;
  const maxPerTask = given.has('maxPerTask') ? given.get('maxPerTask') : most;
  if (
    typeof maxPerTask !== 'number' ||
    !(maxPerTask === Infinity || (Number.isSafeInteger(maxPerTask) && maxPerTask >= 0))
  ) {
    return refuseConfig('preemption.maxPerTask', maxPerTask, 'a whole number of at least 0, or Infinity');
  }
  return { graceMs: duration('grace', graceMs), minRunMs: duration('minRun', minRunMs), maxPerTask };
}

function serviceMsOf(starvation: SchedulerOptions['starvation']): number {
  if (starvation === undefined) return Infinity;
  return parsePositiveDuration(section(starvation, 'starvation').get('service'), 'starvation.service', refuseConfig);
}

function retainOf(retain: SchedulerOptions['retain']): CoreOptions['retain'] {
  const given = section(retain, 'retain');
  const count = given.has('count') ? given.get('count') : 1_000;
  if (typeof count !== 'number' || !(count >= 0)) return refuseConfig('retain.count', count, 'a number of at least 0');
  const ageMs = given.has('age') ? parseDuration(given.get('age'), 'retain.age', refuseConfig) : 3_600_000;
  return { count, ageMs };
}

function agingMs(aging: AgingOptions): { everyMs?: number; maxBoost?: number; maxWaitMs?: number } {
  const given = section(aging, 'aging');
  const duration = (name: string): number => parsePositiveDuration(given.get(name), `aging.${name}`, refuseConfig);
  return {
    ...(given.has('every') ? { everyMs: duration('every') } : {}),
    ...(given.has('maxBoost') ? { maxBoost: given.get('maxBoost') as number } : {}),
    ...(given.has('maxWait') ? { maxWaitMs: duration('maxWait') } : {}),
  };
}
