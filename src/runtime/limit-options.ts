import { checkUnits, type Request } from '../core/index.js';
import { fieldsOf, parseRate, refuseConfig, type RateLimit, type RateOptions } from '../model/index.js';

/** A limit on tasks of one type: a rate, a number that run at a time, or both. */
export interface TypeLimitOptions extends Partial<RateOptions> {
  /** How many run at a time. */
  readonly concurrency?: number | undefined;
}

/** How much there is of a resource: so many units, or so many tokens in the course of time. */
export function capacityRequest(resource: string, given: unknown): Request {
  if (typeof given === 'number') return { kind: 'setCapacity', resource, units: given };
  const field = `resources.${resource}`;
  return {
    kind: 'setRate',
    scope: 'resource',
    key: resource,
    rate: parseRate(plain(given, field), field, refuseConfig),
  };
}

/** How many tasks of a type run at a time, how many start in the course of time, or both. */
export function typeLimitRequests(key: string, given: unknown): Request[] {
  const field = `limits.perType.${key}`;
  const { concurrency, rate } =
    typeof given === 'number' ? { concurrency: checkUnits(field, given) } : rateAndConcurrency(given, field);
  const requests: Request[] = [];
  if (concurrency !== undefined) requests.push({ kind: 'setLimit', scope: 'type', key, limit: concurrency });
  if (rate !== undefined) requests.push({ kind: 'setRate', scope: 'type', key, rate });
  return requests;
}

/** How many tasks run at a time, in all or in a channel. */
export function limitRequest(scope: 'global' | 'channel', key: string, limit: unknown, field: string): Request {
  return { kind: 'setLimit', scope, key, limit: checkUnits(field, limit as number) };
}

/** A limit that is no number must be an object; this names both. */
function plain(given: unknown, field: string): object {
  if (typeof given === 'object' && given !== null) return given;
  return refuseConfig(field, given, 'a number, or an object with rate, per and burst');
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
