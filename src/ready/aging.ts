import { unboxed, type Task } from '../model/index.js';
import { Heads, type Contender, type HeadEntry } from './heads.js';
import { compareRank } from './packed-heap.js';

/** How waiting turns into urgency. */
export interface Aging {
  /** One level for each window of so many milliseconds; `Infinity` switches aging off. */
  readonly everyMs: number;
  /** At most so many levels. */
  readonly maxBoost: number;
  /** A task that has been ready for longer goes before all others; `Infinity` for never. */
  readonly maxWaitMs: number;
}

/** No aging at all. */
export const NO_AGING: Aging = { everyMs: Infinity, maxBoost: Infinity, maxWaitMs: Infinity };

/** The clock-aligned aging window a monotonic time falls into. */
export function windowOf(aging: Aging, mono: number): number {
  if (aging.everyMs === Infinity) return 0;
  return unboxed(Math.floor(mono / aging.everyMs));
}

/** Contenders of one level that have aged since the same window. */
export interface Aged extends Contender {
  readonly level: number;
  /** May grow (a level that was served starts over), never shrink. */
  readonly window: number;
  /** Whether it competes with its boost at the cap. */
  capped: boolean;
  entry: HeadEntry | undefined;
}

/**
 * The level that counts in this window, plus the window: what orders tasks by how urgent they have become.
 *
 * For one that still rises it is the key that stays, to the last digit. A level less a boost would be rounded otherwise, and tasks
 * that are equally urgent would be so in one place and not in another.
 */
export function agedKey({ level, window }: Pick<Aged, 'level' | 'window'>, maxBoost: number, now: number): number {
  return level + Math.max(window, now - maxBoost);
}

/**
 * The best of contenders whose urgency rises with time, without ever rescanning them.
 *
 * Between two uncapped contenders the present cancels out, so level + window is a key that stays. A capped one
 * has the key level. Only the best rising one needs the cap test: one below it that is over the cap ranks lower
 * still. Whole groups move from one heap to the other, so a window's end costs as many moves as there are groups.
 */
export class AgedHeads<T extends Aged> {
  private readonly rising = new Heads<T>();
  private readonly capped = new Heads<T>();
  private anyCapped = false;

  constructor(private readonly maxBoost: number) {}

  offer(owner: T, task: Task, a: number, b: number): void {
    if (owner.capped && owner.entry !== undefined) this.capped.offer(owner, owner.base, task, a, b);
    else this.rise(owner, task, a, b);
  }

  /** The best contender in this window. */
  best(now: number): T | undefined {
    // A level that was served since starts over: it must be among the rising ones before they are looked at.
    if (this.anyCapped) this.bestCapped(now);
    const rising = this.bestRising(now);
    if (!this.anyCapped) return rising;
    const capped = this.bestCapped(now);
    if (rising === undefined || capped === undefined) return rising ?? capped;
    const difference = agedKey(rising, this.maxBoost, now) - agedKey(capped, this.maxBoost, now);
    if (difference !== 0) return difference < 0 ? rising : capped;
    return compareHeads(rising, capped) < 0 ? rising : capped;
  }

  private bestRising(now: number): T | undefined {
    for (;;) {
      const top = this.rising.best();
      if (top === undefined || now - top.window < this.maxBoost) return top;
      this.rising.dropBest();
      top.capped = true;
      this.anyCapped = true;
      this.capped.offer(top, top.base, top.task as Task, top.a, top.b);
    }
  }

  private bestCapped(now: number): T | undefined {
    for (;;) {
      const top = this.capped.best();
      if (top === undefined || now - top.window >= this.maxBoost) return top;
      this.capped.dropBest();
      this.rise(top, top.task as Task, top.a, top.b);
    }
  }

  private rise(owner: T, task: Task, a: number, b: number): void {
    owner.capped = false;
    this.rising.offer(owner, owner.base, task, a, b);
  }
}

/** The order of two contenders of equal effective level. */
export function compareHeads(x: Pick<Contender, 'task' | 'a' | 'b'>, y: Pick<Contender, 'task' | 'a' | 'b'>): number {
  return compareRank(x.a, x.b, x.task as Task, y.a, y.b, y.task as Task);
}
