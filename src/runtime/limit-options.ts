import { checkLimit, checkRateFor, checkUnits, parseTypeName, type LimitScope, type Request } from '../core/index.js';
import {
  fieldsOf,
  parseName,
  parseRate,
  pathTo,
  refuseConfig,
  type RateLimit,
  type RateOptions,
} from '../model/index.js';

/** A limit on tasks of one type: a rate, a number that run at a time, or both. */
export interface TypeLimitOptions extends Partial<RateOptions> {
  /** How many run at a time. */
  readonly concurrency?: number | undefined;
}

/** How much there is of a resource: so many units, or so many tokens in the course of time. */
export function capacityRequest(resource: string, given: unknown): Request {
  const field = pathTo('resources', parseName(resource, 'resource', refuseConfig));
  if (typeof given === 'number') return { kind: 'setCapacity', resource, units: checkUnits(field, given) };
  return { kind: 'setRate', scope: 'resource', key: resource, rate: rateIn(plain(given, field), field) };
}

/** How many tasks of a type run at a time, how many start in the course of time, or both. */
export function typeLimitRequests(key: string, given: unknown): Request[] {
  const field = pathTo('limits.perType', parseTypeName(key));
  if (typeof given === 'number') return [limitRequest('type', key, given)];
  const names = new Map(fieldsOf(plain(given, field), field, refuseConfig));
  const requests: Request[] = [];
  const concurrency = names.get('concurrency');
  if (concurrency !== undefined) {
    const limit = checkUnits(`${field}.concurrency`, concurrency as number);
    requests.push({ kind: 'setLimit', scope: 'type', key, limit });
  }
  if ([...names.keys()].some((name) => name !== 'concurrency')) {
    const rate = rateIn(given, field, ['concurrency']);
    checkRateFor('type', key, rate);
    requests.push({ kind: 'setRate', scope: 'type', key, rate });
  }
  return requests.length > 0 ? requests : refuseConfig(field, given, 'a concurrency, a rate, or both');
}

/** How many tasks run at a time, in all, of a type, or in a channel. All is checked here, as several are set together or not at all. */
export function limitRequest(scope: LimitScope, key: string, limit: unknown): Request {
  checkLimit(scope, key, limit as number);
  return { kind: 'setLimit', scope, key, limit: limit as number };
}

/** A rate; `undefined` where it is infinite, which takes the limit away. */
function rateIn(given: unknown, field: string, beside: readonly string[] = []): RateLimit | undefined {
  const fields = new Map(fieldsOf(given, field, refuseConfig));
  if (fields.get('rate') !== Infinity) return parseRate(given, field, refuseConfig, beside);
  // What comes with it plays no part, and is right all the same.
  parseRate({ ...Object.fromEntries(fields), rate: 1 }, field, refuseConfig, beside);
  return undefined;
}

/** A limit that is no number must be an object; this names both. */
function plain(given: unknown, field: string): object {
  if (typeof given === 'object' && given !== null) return given;
  return refuseConfig(field, given, 'a number, or an object with rate, per and burst');
}
