import { fieldsOf, parseChoice, parsePositiveDuration, refuseConfig, refuseUnknown } from '../model/index.js';
import type { Duration } from '../model/index.js';

type SqlDurability = 'os' | 'fsync';

/** What the stores in databases are told alike. */
interface SqlOptions {
  readonly durability?: SqlDurability | undefined;
  readonly patience?: Duration | undefined;
}

// Nobody needs a database for what it forgets with the process: there is no `none`.
const DURABILITIES: readonly SqlDurability[] = ['fsync', 'os'];
const SHARED = ['durability', 'patience'];

/** Reads what is shared, and refuses what neither that nor `own` names. */
export function readSqlOptions(
  options: SqlOptions,
  own: readonly string[],
  patienceMs: number,
): { readonly durability: SqlDurability; readonly patienceMs: number } {
  const known = [...SHARED, ...own];
  for (const [key, value] of fieldsOf(options, 'options', refuseConfig)) {
    if (!known.includes(key)) refuseUnknown('', key, value, known, refuseConfig);
  }
  const { durability = 'fsync', patience = patienceMs } = options;
  return {
    durability: parseChoice(durability, DURABILITIES, 'durability', refuseConfig),
    patienceMs: parsePositiveDuration(patience, 'patience', refuseConfig),
  };
}
