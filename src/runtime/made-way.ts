import type { Outcome } from '../model/index.js';
import { failedBy } from './failure.js';

/** What an attempt ends with that stops at a yield, to make way for a more urgent task. */
export const MADE_WAY = new Error('The attempt makes way for a more urgent task.');

/** How an attempt has ended whose handler threw this. */
export function endedBy(error: unknown): Outcome {
  // Nothing is asked of what was thrown, which may be anything.
  return error === MADE_WAY ? { kind: 'aborted' } : failedBy(error);
}
