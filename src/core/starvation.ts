import { needsOf, type Task } from '../model/index.js';
import type { ReadyIndex } from '../ready/index.js';
import type { DueKind } from './timeline.js';

/*
 * The bound on a ready task's wait.
 *
 *   bound = W + (B / m + 1) × S, and for a task that needs resources + (P + 3 k + 2) × S
 *
 * W is how long newcomers may still go before the task, which follows from the order. After that only those can start
 * first that are there already: B unfinished tasks at that moment, on the m slots of the workers that would take it, each
 * for the service time S at the most. S is what the user says; without it nothing is watched. What lacks a resource may be
 * passed over P times before it is given a reservation, and waits for k reservations of others.
 *
 * A task is looked at twice, by an entry on the timeline each: when W has passed, and B is known, and when the rest has; and
 * again where reservations were given meanwhile.
 */

/** What watching needs to know from the core. */
export interface StarvationSources {
  readonly index: ReadyIndex;
  isPaused(task: Task): boolean;
  /** How often a task that lacks a resource is passed over before it is given a reservation; `Infinity`: it is given none. */
  readonly maxBypasses: number;
  /** Puts an entry on the monotonic timeline. */
  add(at: number, kind: DueKind, sequence: number, task: Task): void;
}

/** Who is looked at when, lest he wait beyond his bound. */
export class Starvation {
  /** The most urgent level that a watched task has had, or `critical`: it says how long newcomers may go before others. */
  mostUrgent = 0;

  constructor(
    /** How long an attempt takes at the most; `Infinity`: nobody watches. */
    readonly serviceMs: number,
    private readonly sources: StarvationSources,
  ) {}

  get isWatched(): boolean {
    return this.serviceMs !== Infinity;
  }

  /** When the task is looked at next; `undefined` when there is nothing to look for. */
  at(task: Task): number | undefined {
    const { extra } = task;
    if (task.state !== 'ready' || extra?.starved === true || this.sources.isPaused(task)) return undefined;
    if (extra !== undefined && extra.startsBy !== -Infinity) return extra.startsBy;
    const at = task.ready + this.passableMs(task);
    return at === Infinity ? undefined : at;
  }

  /** The task's wait counts from now on, or by other values. */
  watch(task: Task): void {
    if (!this.isWatched) return;
    if (task.urgency < this.mostUrgent) this.mostUrgent = task.urgency;
    const at = this.at(task);
    if (at !== undefined) this.sources.add(at, 'starvation', task.sequence, task);
  }

  /** Another order is in force: every wait is bounded by that from now on. */
  watchAll(): void {
    if (!this.isWatched) return;
    for (const task of this.sources.index.all()) this.watch(task);
  }

  /** How long newcomers may go before this task, from when it became ready on; `Infinity` where there is no bound. */
  private passableMs(task: Task): number {
    const { aging, main } = this.sources.index;
    const { everyMs, maxBoost, maxWaitMs } = aging;
    if (this.sources.maxBypasses === Infinity && needsOf(task).length > 0) return Infinity;
    if (main.choice === 'fifo') return 0;
    const ages = main.choice === 'priority' || main.choice === 'critical-path';
    if (!ages || everyMs === Infinity || maxBoost !== Infinity) return maxWaitMs;
    return Math.min(maxWaitMs, (task.urgency - this.mostUrgent + 1) * everyMs);
  }
}
