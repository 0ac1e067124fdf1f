import { refuseConfig } from '../model/index.js';

/** An option that is one of a few words. */
export function oneOf<Word extends string>(known: readonly Word[], value: unknown, field: string): Word {
  return known.find((word) => word === value) ?? refuseConfig(field, value, `one of ${known.join(', ')}`);
}
