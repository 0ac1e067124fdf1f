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
  /** What decides, in order: "priority → deadline → FIFO". */
  describe(): string;
}
