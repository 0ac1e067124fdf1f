import { checkAging, checkStrategy, type Core, type CoreOptions, type StrategyChoice } from '../core/index.js';
import {
  fieldsOf,
  parseChoice,
  parseDuration,
  parsePositiveDuration,
  parseRate,
  refuseConfig,
  refuseUnknown,
  type Duration,
  type Moment,
  type RateLimit,
  type RateOptions,
} from '../model/index.js';

/** How waiting turns into urgency. */
export interface AgingOptions {
  /** One level for each such stretch of waiting; ten seconds unless given. */
  readonly every?: Duration | undefined;
  /** At most so many levels. */
  readonly maxBoost?: number | undefined;
  /** A task that has waited for as long goes before all others. */
  readonly maxWait?: Duration | undefined;
}

/** A limit on tasks of one type: a rate, a number that run at a time, or both. */
export interface TypeLimitOptions extends Partial<RateOptions> {
  /** How many run at a time. */
  readonly concurrency?: number | undefined;
}

/** What a scheduler is made with. */
export interface SchedulerOptions {
  /** How many tasks run at a time; 16 unless given. */
  readonly concurrency?: number | undefined;
  /** Who goes first; by priority unless given. */
  readonly strategy?: StrategyChoice | 'weighted_random' | undefined;
  readonly aging?: AgingOptions | false | undefined;
  /** Named resources: so many units, held while a task runs, or so many tokens in the course of time. */
  readonly resources?: Readonly<Record<string, number | RateOptions>> | undefined;
  readonly limits?:
    | {
        readonly global?: number | undefined;
        /** How many of a type run at a time, how many start in the course of time, or both. */
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
      }
    | undefined;
  /** How many finished tasks are kept, and for how long. */
  readonly retain?: { readonly count?: number | undefined; readonly age?: Duration | undefined } | undefined;
  /** Of whatever is random: the same seed makes the same choices. */
  readonly seed?: number | string | undefined;
}

const KNOWN = {
  '': ['concurrency', 'strategy', 'aging', 'resources', 'limits', 'channels', 'retain', 'seed'],
  aging: ['every', 'maxBoost', 'maxWait'],
  limits: ['global', 'perType', 'perChannel'],
  channels: ['weights', 'charge'],
  retain: ['count', 'age'],
} as const;

/** The options of one section, of which every name is known. */
function section(options: unknown, name: keyof typeof KNOWN): Map<string, unknown> {
  const fields = options === undefined ? [] : fieldsOf(options, name === '' ? 'options' : name, refuseConfig);
  for (const [key, value] of fields) {
    const known: readonly string[] = KNOWN[name];
    if (!known.includes(key)) refuseUnknown(name === '' ? key : `${name}.${key}`, key, value, known, refuseConfig);
  }
  return new Map(fields);
}

/** How many tasks run at a time. */
export function concurrencyOf(options: SchedulerOptions): number {
  const { concurrency = 16 } = options;
  if (concurrency === Infinity || (Number.isInteger(concurrency) && concurrency > 0)) return concurrency;
  return refuseConfig('concurrency', concurrency, 'a whole number of at least 1, or Infinity');
}

/** The part of the options that a core is made with; all names are checked here. */
export function coreOptions(options: SchedulerOptions, origin: Moment): Partial<CoreOptions> & { origin: Moment } {
  const given = section(options, '');
  const channels = section(options.channels, 'channels');
  section(options.limits, 'limits');
  const { seed } = options;
  if (seed !== undefined && typeof seed !== 'string' && !Number.isFinite(seed)) {
    refuseConfig('seed', seed, 'a finite number or a text');
  }
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
  };
}

/** The part that is set on a core, as it may be again later. */
export function applySettings(core: Core, options: SchedulerOptions, now: Moment): void {
  const { limits = {}, channels = {} } = options;
  for (const [resource, given] of entries(options.resources, 'resources')) {
    if (typeof given === 'number') core.handle({ kind: 'setCapacity', now, resource, units: given });
    else limitResource(core, now, resource, given);
  }
  if (limits.global !== undefined) {
    core.handle({ kind: 'setLimit', now, scope: 'global', key: '', limit: limits.global });
  }
  for (const [key, given] of entries(limits.perType, 'limits.perType')) limitType(core, now, key, given);
  for (const [key, limit] of numbers(limits.perChannel, 'limits.perChannel')) {
    core.handle({ kind: 'setLimit', now, scope: 'channel', key, limit });
  }
  for (const [channel, weight] of numbers(channels.weights, 'channels.weights')) {
    core.handle({ kind: 'setWeight', now, channel, weight });
  }
}

function entries(record: unknown, field: string): [string, unknown][] {
  return record === undefined ? [] : fieldsOf(record, field, refuseConfig);
}

/** A limit that is no number must be an object; this names both. */
function plain(given: unknown, field: string): object {
  if (typeof given === 'object' && given !== null) return given;
  return refuseConfig(field, given, 'a number, or an object with rate, per and burst');
}

function setRate(core: Core, now: Moment, scope: 'resource' | 'type', key: string, rate: RateLimit): void {
  core.handle({ kind: 'setRate', now, scope, key, rate });
}

function limitResource(core: Core, now: Moment, resource: string, given: unknown): void {
  const field = `resources.${resource}`;
  setRate(core, now, 'resource', resource, parseRate(plain(given, field), field, refuseConfig));
}

function limitType(core: Core, now: Moment, key: string, given: unknown): void {
  const field = `limits.perType.${key}`;
  const { concurrency, rate } = typeof given === 'number' ? { concurrency: given } : rateAndConcurrency(given, field);
  if (concurrency !== undefined) core.handle({ kind: 'setLimit', now, scope: 'type', key, limit: concurrency });
  if (rate !== undefined) setRate(core, now, 'type', key, rate);
}

function rateAndConcurrency(given: unknown, field: string): { concurrency?: number; rate?: RateLimit } {
  const names = new Map(fieldsOf(plain(given, field), field, refuseConfig));
  const concurrency = names.get('concurrency');
  if (concurrency !== undefined && (typeof concurrency !== 'number' || !(concurrency >= 0))) {
    return refuseConfig(`${field}.concurrency`, concurrency, 'a number of at least 0, or Infinity');
  }
  const hasRate = [...names.keys()].some((name) => name !== 'concurrency');
  if (!hasRate && concurrency === undefined) return refuseConfig(field, given, 'a concurrency, a rate, or both');
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(hasRate ? { rate: parseRate(given, field, refuseConfig, ['concurrency']) } : {}),
  };
}

function numbers(record: unknown, field: string): [string, number][] {
  if (record === undefined) return [];
  return fieldsOf(record, field, refuseConfig).map(([key, value]) => {
    return typeof value === 'number' ? [key, value] : refuseConfig(`${field}.${key}`, value, 'a number');
  });
}

function retainOf(retain: SchedulerOptions['retain']): CoreOptions['retain'] {
  const given = section(retain, 'retain');
  const count = given.get('count') ?? 1_000;
  if (typeof count !== 'number' || !(count >= 0)) return refuseConfig('retain.count', count, 'a number of at least 0');
  const ageMs = given.has('age') ? parseDuration(given.get('age'), 'retain.age', refuseConfig) : 3_600_000;
  return { count, ageMs };
}

function agingMs(aging: AgingOptions): { everyMs?: number; maxBoost?: number; maxWaitMs?: number } {
  const given = section(aging, 'aging');
  const duration = (name: string): number => parsePositiveDuration(given.get(name), `aging.${name}`, refuseConfig);
  return {
    ...(given.has('every') ? { everyMs: duration('every') } : {}),
    ...(aging.maxBoost === undefined ? {} : { maxBoost: aging.maxBoost }),
    ...(given.has('maxWait') ? { maxWaitMs: duration('maxWait') } : {}),
  };
}
