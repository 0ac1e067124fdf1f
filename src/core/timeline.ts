import { Heap } from '../ready/index.js';

/** What can be due, in the order in which things due at the same moment happen. */
export type DueKind = 'expiry' | 'deadline' | 'eta' | 'backoff' | 'timeout' | 'lease' | 'series';

const ORDER: readonly DueKind[] = ['expiry', 'deadline', 'eta', 'backoff', 'timeout', 'lease', 'series'];

/** Something that happens at a moment, unless it has lost its point by then. */
export interface Due<T> {
  readonly at: number;
  readonly kind: DueKind;
  /** Settles ties, so that the same state always makes the same decisions. */
  readonly sequence: number;
  readonly subject: T;
  /** Settles what the sequence leaves open: attempts of one task. */
  readonly tie: number;
}

/** What is due when, on one clock. Entries are never removed, only found void when they come up. */
export class Timeline<T> {
  private readonly heap = new Heap<Due<T>>(compareDue);
  private sweepAt = 64;

  /** `comesAt` says when an entry is due by now: later if it was put off, `undefined` if it has lost its point. */
  constructor(private readonly comesAt: (due: Due<T>) => number | undefined) {}

  get size(): number {
    return this.heap.size;
  }

  add(at: number, kind: DueKind, sequence: number, subject: T, tie = 0): void {
    this.heap.push({ at, kind, sequence, subject, tie });
    if (this.heap.size < this.sweepAt) return;
    // Sweeping each time the size has doubled keeps cancelled entries from piling up at constant cost.
    this.heap.filter((due) => this.comesAt(due) !== undefined);
    this.sweepAt = Math.max(64, 2 * this.heap.size);
  }

  /** What is still to happen, in no particular order. */
  pending(): Due<T>[] {
    return this.heap.items().filter((due) => this.comesAt(due) !== undefined);
  }

  /** When the next entry is due; `Infinity` when there is none. */
  next(): number {
    return this.peek()?.at ?? Infinity;
  }

  /** Takes the next entry that is due by now. */
  take(now: number): Due<T> | undefined {
    const due = this.peek();
    if (due === undefined || due.at > now) return undefined;
    this.heap.pop();
    // A task that was run again by hand may stand here twice for the same thing.
    for (let twin = this.heap.peek(); twin !== undefined && isTwin(due, twin); twin = this.heap.peek()) this.heap.pop();
    return due;
  }

  private peek(): Due<T> | undefined {
    for (;;) {
      const due = this.heap.peek();
      if (due === undefined) return undefined;
      const at = this.comesAt(due);
      if (at === due.at) return due;
      if (at === undefined) this.heap.pop();
      else this.heap.replaceTop({ ...due, at });
    }
  }
}

function isTwin(x: Due<unknown>, y: Due<unknown>): boolean {
  return x.at === y.at && x.kind === y.kind && x.subject === y.subject;
}

function compareDue(x: Due<unknown>, y: Due<unknown>): number {
  return x.at - y.at || ORDER.indexOf(x.kind) - ORDER.indexOf(y.kind) || x.sequence - y.sequence || x.tie - y.tie;
}
