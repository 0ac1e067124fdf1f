import type { FileCall, FileFault } from '../faulty-files.js';
import type { Chance } from './chance.js';
import type { Strength } from './climate.js';

/** Out of so many calls one fails, where it fails seldom. */
const ONE_IN = 400;

/** What goes wrong at a call to the machine, if anything does. */
export function diskFault(
  { operation }: FileCall,
  strength: Strength,
  isFull: boolean,
  chance: Chance,
): FileFault | undefined {
  const takesSpace = operation === 'write' || operation === 'create' || operation === 'link';
  if (isFull && takesSpace) return { kind: 'error', code: 'ENOSPC' };
  if (strength === 0 || !chance.oneIn(ONE_IN / strength)) return undefined;
  switch (operation) {
    case 'write':
      return chance.oneIn(2) ? { kind: 'error', code: 'ENOSPC' } : { kind: 'short', bytes: 1 + chance.roll(600) };
    case 'create':
      return { kind: 'error', code: chance.oneIn(2) ? 'ENOSPC' : 'EMFILE' };
    case 'open':
    case 'list':
      return { kind: 'error', code: chance.oneIn(2) ? 'EMFILE' : 'EACCES' };
    default:
      return { kind: 'error', code: 'EIO' };
  }
}
