import type { Task } from '../model/index.js';
import { Heap } from './heap.js';
import { compareRank } from './packed-heap.js';

/** Something with a best task that competes with its like: a lane, or a group of lanes. */
export interface Contender {
  /** Its one valid place among the heads; older places are dropped when they come up. */
  entry: HeadEntry | undefined;
  /** What orders contenders before their tasks do; it may grow by itself, never shrink. */
  readonly base: number;
  /** The best task and its rank, as of the last {@link refresh}. */
  readonly task: Task | undefined;
  readonly a: number;
  readonly b: number;
  /** Brings the head up to date; false when there is none to be had now. */
  refresh(): boolean;
}

/** A contender's place among the heads, with the key it was put there by: at most the true one. */
export interface HeadEntry {
  readonly owner: Contender;
  base: number;
  a: number;
  b: number;
  task: Task;
}

/**
 * The best among contenders whose heads change all the time, in O(log n).
 *
 * Keys are lower bounds: a head that was taken makes the true key larger, which is put right when the entry comes
 * to the top. Only a better head needs a new entry, and makes the old one void.
 */
export class Heads<T extends Contender> {
  private readonly heap = new Heap<HeadEntry>(compareEntries);

  /** Lets the contender compete with at least this head. */
  offer(owner: T, base: number, task: Task, a: number, b: number): void {
    const entry = owner.entry;
    if (entry !== undefined && precedes(entry, base, task, a, b)) return;
    owner.entry = { owner, base, a, b, task };
    this.heap.push(owner.entry);
  }

  /** The contender with the best head; those without any drop out until they are offered again. */
  best(): T | undefined {
    for (;;) {
      const top = this.heap.peek();
      if (top === undefined) return undefined;
      const owner = top.owner as T;
      if (owner.entry !== top) {
        this.heap.pop();
      } else if (!owner.refresh()) {
        this.heap.pop();
        owner.entry = undefined;
      } else if (this.staysOnTop(top, owner)) {
        return owner;
      }
    }
  }

  /** Takes the contender that {@link best} has just returned out of the competition. */
  dropBest(): T | undefined {
    const top = this.heap.pop();
    if (top === undefined) return undefined;
    top.owner.entry = undefined;
    return top.owner as T;
  }

  /** Puts the top's key right and lets it sink; whether it is the best even so. */
  private staysOnTop(top: HeadEntry, owner: T): boolean {
    const { base, task, a, b } = owner;
    if (top.task === task && top.base === base && top.a === a && top.b === b) return true;
    top.base = base;
    top.a = a;
    top.b = b;
    top.task = task as Task;
    if (this.heap.size === 1) return true;
    this.heap.replaceTop(top);
    return this.heap.peek() === top;
  }
}

function precedes(entry: HeadEntry, base: number, task: Task, a: number, b: number): boolean {
  if (entry.base !== base) return entry.base < base;
  return compareRank(entry.a, entry.b, entry.task, a, b, task) <= 0;
}

function compareEntries(x: HeadEntry, y: HeadEntry): number {
  if (x.base !== y.base) return x.base < y.base ? -1 : 1;
  return compareRank(x.a, x.b, x.task, y.a, y.b, y.task);
}
