import type { Attempt, Outcome } from '../model/index.js';
import type { Breath } from './breath.js';
import { runHandler } from './generator.js';
import { endedBy } from './made-way.js';
import type { Payload } from './payload.js';
import type { RunningTask } from './running-task.js';

/** What a slot needs of its scheduler. */
export interface SlotHost {
  readonly breath: Breath;
  /** What the attempt's handler is given. */
  contextOf(attempt: Attempt): RunningTask;
  /** Hands the outcome in and takes the next attempt for the same slot. */
  next(attempt: Attempt, outcome: Outcome): Attempt | undefined;
}

/**
 * One busy slot: runs attempt after attempt until there is none.
 *
 * It waits with the same two functions for all of them: an `await` makes two for each attempt, and what goes with them.
 */
class Slot {
  private readonly succeeded = (value: unknown): void => {
    this.go(this.scheduler.next(this.attempt, { kind: 'succeeded', value }));
  };
  private readonly failed = (error: unknown): void => {
    this.go(this.scheduler.next(this.attempt, endedBy(error)));
  };

  constructor(
    private readonly scheduler: SlotHost,
    private attempt: Attempt,
  ) {}

  go(next: Attempt | undefined): void {
    const { scheduler } = this;
    for (let attempt = next; attempt !== undefined;) {
      this.attempt = attempt;
      try {
        const result = runHandler(attempt.task.payload as Payload, scheduler.contextOf(attempt));
        // A promise of the user's may have a `then` of its own.
        void Promise.prototype.then.call(Promise.resolve(result), this.succeeded, this.failed);
        return;
      } catch (error) {
        attempt = scheduler.next(attempt, endedBy(error));
      }
    }
  }
}

/** Begins with this attempt, and goes on with those that come after it. */
export function runSlot(scheduler: SlotHost, first: Attempt): void {
  new Slot(scheduler, first).go(first);
  // Whatever the first does before it waits for something, others that start now wait for.
  scheduler.breath.spend();
}
