import { Heap } from '../ready/index.js';

/** What can be due, in the order in which things due at the same moment happen. */
export type DueKind =
  'expiry' | 'deadline' | 'eta' | 'backoff' | 'timeout' | 'lease' | 'series' | 'starvation' | 'grace';

const ORDER: readonly DueKind[] = [
  'expiry',
  'deadline',
  'eta',
  'backoff',
  'timeout',
  'lease',
  'series',
  'starvation',
  'grace',
];

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

/** Says when an entry is due by now: later if it was put off, `undefined` if it has lost its point. */
type ComesAt<T> = (due: Due<T>) => number | undefined;

/**
 * What is due when, on one clock. Entries are never removed, only found void when they come up.
 *
 * What the process need not stay for lies apart, so that one can tell in O(1) whether anything else is due.
 */
export class Timeline<T> {
  private readonly held: DueHeap<T>;
  private readonly free: DueHeap<T>;

  constructor(
    comesAt: ComesAt<T>,
    /** Whether the process need not stay for what is due about the subject. */
    private readonly isFree: (subject: T) => boolean = () => false,
  ) {
    this.held = new DueHeap(comesAt);
    this.free = new DueHeap(comesAt);
  }

  get size(): number {
    return this.held.size + this.free.size;
  }

  add(at: number, kind: DueKind, sequence: number, subject: T, tie = 0): void {
    (this.isFree(subject) ? this.free : this.held).add({ at, kind, sequence, subject, tie });
  }

  /** What is still to happen, in no particular order. */
  pending(): Due<T>[] {
    return [...this.held.pending(), ...this.free.pending()];
  }

  /** When the next entry is due; `Infinity` when there is none. */
  next(): number {
    const held = this.nextHeld();
    return this.free.size === 0 ? held : Math.min(held, this.free.peek()?.at ?? Infinity);
  }

  /** When the next entry is due that the process stays for; `Infinity` when there is none. */
  nextHeld(): number {
    return this.held.size === 0 ? Infinity : (this.held.peek()?.at ?? Infinity);
  }

  /** Takes the next entry that is due by now. */
  take(now: number): Due<T> | undefined {
    const held = this.held.peek();
    const free = this.free.peek();
    const isHeld = held !== undefined && (free === undefined || compareDue(held, free) < 0);
    return (isHeld ? this.held : this.free).take(now);
  }
}

/** Entries in the order in which they are due. */
class DueHeap<T> {
  private readonly heap = new Heap<Due<T>>(compareDue);
  private sweepAt = 64;

  constructor(private readonly comesAt: ComesAt<T>) {}

  get size(): number {
    return this.heap.size;
  }

  add(due: Due<T>): void {
    this.heap.push(due);
    if (this.heap.size < this.sweepAt) return;
    // Sweeping each time the size has doubled keeps cancelled entries from piling up at constant cost.
    this.heap.filter((each) => this.comesAt(each) !== undefined);
    this.sweepAt = Math.max(64, 2 * this.heap.size);
  }

  pending(): Due<T>[] {
    return this.heap.items().filter((due) => this.comesAt(due) !== undefined);
  }

  take(now: number): Due<T> | undefined {
    const due = this.peek();
    if (due === undefined || due.at > now) return undefined;
    this.heap.pop();
    // A task that was run again by hand may stand here twice for the same thing.
    for (let twin = this.heap.peek(); twin !== undefined && isTwin(due, twin); twin = this.heap.peek()) this.heap.pop();
    return due;
  }

  /** The next entry that still has a point, at the time at which it is due by now. */
  peek(): Due<T> | undefined {
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
