import type { Aborted, Core } from '../core/index.js';
import type { Attempt, SchedulerError, Task } from '../model/index.js';
import type { Effect } from './journal.js';
import type { Payload } from './payload.js';
import type { Waits } from './waits.js';

/** What publishing needs of its scheduler. */
export interface PublishingHost {
  readonly core: Core;
  readonly waits: Waits;
  readonly events: { tellFaults(faults: readonly Error[]): void };
  readonly attempts: {
    goOn(attempt: Attempt): void;
    preempt(asked: readonly Aborted[]): void;
    abort(aborted: readonly Aborted[]): void;
  };
  readonly arrivals: { readonly entrance: { letIn(): void } | undefined };
  readonly keeping: { afterwards(effect: Effect): void } | undefined;
}

/** Tells whoever waits what has happened: at once, or with a store when that is kept. */
export class Publishing {
  constructor(private readonly host: PublishingHost) {}

  publish(): void {
    const { host } = this;
    const { waits, arrivals, keeping } = host;
    const { settled, resumed, preempted, aborted, faults } = host.core.outbox;
    // No store keeps what is wrong with a function.
    if (faults.length > 0) host.events.tellFaults(faults.splice(0));
    if (keeping !== undefined) {
      this.holdBack(keeping);
      return;
    }
    // The usual one is popped: emptying an array gives its memory away, and the next push has to get it back.
    if (settled.length === 1) tell(settled.pop() as Task);
    else if (settled.length > 0) settled.splice(0).forEach(tell);
    if (resumed.length > 0) for (const attempt of resumed.splice(0)) host.attempts.goOn(attempt);
    if (preempted.length > 0) host.attempts.preempt(preempted.splice(0));
    if (aborted.length > 0) host.attempts.abort(aborted.splice(0));
    if (arrivals.entrance !== undefined) arrivals.entrance.letIn();
    waits.check();
  }

  private holdBack(keeping: NonNullable<PublishingHost['keeping']>): void {
    const { waits, arrivals, attempts, core } = this.host;
    const { settled, resumed, preempted, aborted } = core.outbox;
    if (settled.length + resumed.length + preempted.length + aborted.length > 0) {
      const ends = settled.splice(0);
      const goingOn = resumed.splice(0);
      const [asked, given] = [preempted.splice(0), aborted.splice(0)];
      keeping.afterwards((failure) => {
        // What is not kept is not told: asked for their ends, handles then say why.
        ends.forEach(tell);
        if (failure !== undefined) return;
        for (const attempt of goingOn) attempts.goOn(attempt);
        attempts.preempt(asked);
        attempts.abort(given);
      });
    }
    arrivals.entrance?.letIn();
    const met = waits.takeMet();
    if (met.length === 0) return;
    keeping.afterwards((failure: SchedulerError | undefined) => {
      for (const { resolve, reject } of met) {
        if (failure === undefined) resolve(undefined);
        else reject(failure);
      }
    });
  }
}

/** Tells whoever waits for the task how it has ended. */
function tell(task: Task): void {
  (task.payload as Payload).settle(task);
}
