import type { Attempt } from '../model/index.js';
import type { Pool } from '../ready/index.js';
import type { Holding } from './attempts.js';
import { Levels } from './levels.js';

/** What an attempt holds of every pool. */
export type HoldingsOf = (attempt: Attempt) => readonly Holding[];

/** Units by pool, and slots by the id of the worker, that some attempts hold together. */
export class Holdings {
  private readonly sums = new Map<Pool | string, number>();

  constructor(private readonly holdingsOf: HoldingsOf) {}

  of(what: Pool | string): number {
    return this.sums.get(what) ?? 0;
  }

  add(attempt: Attempt): void {
    this.count(attempt, 1);
  }

  subtract(attempt: Attempt): void {
    this.count(attempt, -1);
  }

  private count(attempt: Attempt, sign: 1 | -1): void {
    for (const { pool, amount } of this.holdingsOf(attempt)) this.sums.set(pool, this.of(pool) + sign * amount);
    this.sums.set(attempt.workerId, this.of(attempt.workerId) + sign);
  }
}

interface Level {
  /** In the order in which they started, the time spent waiting left out. */
  readonly attempts: Attempt[];
  readonly holdings: Holdings;
}

/**
 * The running attempts that may be asked to make way, by how urgent they are and by when they started. What all of a
 * level hold is known as a sum, so that a level that has nothing of what is lacked is passed over at once.
 */
export class Candidates {
  private readonly levels = new Levels<Level>();
  /** The level at which each of them stands. */
  private readonly known = new Map<Attempt, number>();

  constructor(
    private readonly holdingsOf: HoldingsOf,
    /** How long an attempt runs at the least before it is asked. */
    private readonly minRunMs: number,
  ) {}

  get size(): number {
    return this.known.size;
  }

  /** The level of the least urgent of them; `-Infinity` when there is none. */
  get leastUrgent(): number {
    return this.levels.leastUrgent;
  }

  has(attempt: Attempt): boolean {
    return this.known.has(attempt);
  }

  enter(attempt: Attempt): void {
    const { urgency } = attempt.task;
    let level = this.levels.get(urgency);
    if (level === undefined) {
      level = { attempts: [], holdings: new Holdings(this.holdingsOf) };
      this.levels.set(urgency, level);
    }
    level.attempts.splice(placeOf(level.attempts, attempt), 0, attempt);
    level.holdings.add(attempt);
    this.known.set(attempt, urgency);
  }

  leave(attempt: Attempt): void {
    const urgency = this.known.get(attempt);
    if (urgency === undefined) return;
    this.known.delete(attempt);
    const { attempts, holdings } = this.levels.get(urgency) as Level;
    attempts.splice(placeOf(attempts, attempt), 1);
    holdings.subtract(attempt);
    if (attempts.length === 0) this.levels.delete(urgency);
  }

  /** The task of the attempt may have another level by now. */
  moved(attempt: Attempt): void {
    const before = this.known.get(attempt);
    if (before === undefined || before === attempt.task.urgency) return;
    this.leave(attempt);
    this.enter(attempt);
  }

  /** How much of a pool, or how many slots of a worker, those less urgent than a level hold together. */
  heldBelow(level: number, what: Pool | string): number {
    let sum = 0;
    for (const { holdings } of this.levels.lessUrgentThan(level)) sum += holdings.of(what);
    return sum;
  }

  /** Those less urgent than a level that have run for long enough: the least urgent, then the latest started. */
  *below(level: number, mono: number): Iterable<Attempt> {
    for (const { attempts } of this.levels.lessUrgentThan(level)) {
      for (let i = this.firstYoung(attempts, mono) - 1; i >= 0; i -= 1) yield attempts[i] as Attempt;
    }
  }

  /** When the next of those less urgent than a level has run for long enough; `Infinity` for never. */
  nextBelow(level: number, mono: number): number {
    let next = Infinity;
    for (const { attempts } of this.levels.lessUrgentThan(level)) {
      const young = attempts[this.firstYoung(attempts, mono)];
      if (young !== undefined) next = Math.min(next, young.runsSince + this.minRunMs);
    }
    return next;
  }

  private firstYoung(attempts: readonly Attempt[], mono: number): number {
    return firstWhere(attempts, ({ runsSince }) => runsSince + this.minRunMs > mono);
  }

  all(): Iterable<Attempt> {
    return this.known.keys();
  }
}

/** Where the attempt stands or should stand. */
function placeOf(attempts: readonly Attempt[], { runsSince, task }: Attempt): number {
  return firstWhere(
    attempts,
    (each) => each.runsSince > runsSince || (each.runsSince === runsSince && each.task.sequence >= task.sequence),
  );
}

/** By halving: once it holds for one, it holds for all that follow. */
function firstWhere(attempts: readonly Attempt[], holds: (attempt: Attempt) => boolean): number {
  let low = 0;
  let high = attempts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(attempts[middle] as Attempt)) high = middle;
    else low = middle + 1;
  }
  return low;
}
