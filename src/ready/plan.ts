import type { Ranking } from './queue.js';

/**
 * How a strategy uses lanes.
 *
 * `none`: all tasks compete by rank alone. `aged`: by effective level first, which rises with the time spent ready.
 * `level`: by level first, and it is the level that ages; inside a level channels take turns.
 */
export type Grouping = 'none' | 'aged' | 'level';

/** A strategy as the index runs it: the rank inside a lane is (first, second, FIFO). */
export interface Plan extends Ranking {
  readonly name: string;
  readonly grouping: Grouping;
  /** Which tasks of a place share a rank, of those that have no deadline, no edges nor anything else of their own. */
  readonly alike: 'all' | 'level' | 'none';
  /** What decides, in order: "priority → deadline → FIFO". */
  describe(): string;
}
