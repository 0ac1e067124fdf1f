import { compareNames, type Task } from '../model/index.js';
import { compareHeads } from './aging.js';

/** A task with its rank. */
interface Ranked {
  readonly task: Task | undefined;
  readonly a: number;
  readonly b: number;
}

/** The best that a shape has to offer, as it competes with those of other shapes. */
export interface Front extends Ranked {
  readonly level: number;
  /** The aging window since which it has aged. */
  readonly window: number;
  /** Where its channel stands at its level, under fair sharing. */
  readonly pass: number;
  /** Where it was found, with the rank it has there. */
  readonly lane: (Ranked & { readonly channelName: string }) | undefined;
}

/** The order of two that have aged equally and whose channels take turns. */
export function compareTurns(x: Front, y: Front): number {
  if (x.level !== y.level) return x.level - y.level;
  if (x.pass !== y.pass) return x.pass - y.pass;
  const [laneX, laneY] = [x.lane, y.lane] as [NonNullable<Front['lane']>, NonNullable<Front['lane']>];
  return compareNames(laneX.channelName, laneY.channelName) || compareHeads(laneX, laneY);
}
