import { checkRate, parseChoice, parseName, pathTo, refuseConfig, type RateLimit } from '../model/index.js';
import { checkUnits } from './resources.js';

/** What a limit on running tasks is for: all of them, those of a type, or those of a channel. */
export type LimitScope = 'global' | 'type' | 'channel';

/** The options in which a user finds them. */
const OPTIONS = { global: 'limits.global', type: 'limits.perType', channel: 'limits.perChannel' } as const;

/** A limit as a command gives it; what is limited is named, unless that is everything. */
export function checkLimit(scope: LimitScope, key: string, limit: number): void {
  const option = OPTIONS[parseChoice(scope, ['global', 'type', 'channel'], 'scope', refuseConfig)];
  if (scope === 'channel') parseName(key, option, refuseConfig);
  else if (scope === 'type') parseTypeName(key);
  checkUnits(scope === 'global' ? option : pathTo(option, key), limit);
}

/** A type of tasks; that of closures is empty. */
export function parseTypeName(key: string): string {
  return key === '' ? key : parseName(key, OPTIONS.type, refuseConfig);
}

/** A rate as a command gives it; `undefined` takes the limit away. A type's tasks cost one token each. */
export function checkRateFor(scope: 'resource' | 'type', key: string, rate: RateLimit | undefined): void {
  const isType = parseChoice(scope, ['resource', 'type'], 'scope', refuseConfig) === 'type';
  const field = isType
    ? pathTo(OPTIONS.type, parseTypeName(key))
    : pathTo('resources', parseName(key, 'resource', refuseConfig));
  if (rate === undefined) return;
  const { burst } = checkRate(rate, field, refuseConfig);
  if (isType && burst < 1) refuseConfig(`${field}.burst`, burst, 'at least 1, what a task of a type costs');
}
