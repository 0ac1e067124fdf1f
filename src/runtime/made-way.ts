import type { Outcome } from '../model/index.js';
import { failedBy } from './failure.js';

/** The attempt has stopped at a yield, to make way for a more urgent task. */
export class MadeWay extends Error {}

/** How an attempt has ended whose handler threw this. */
export function endedBy(error: unknown): Outcome {
  return error instanceof MadeWay ? { kind: 'aborted' } : failedBy(error);
}
