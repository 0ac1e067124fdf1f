import type { Attempt, Outcome } from '../model/index.js';
import { failedBy } from './failure.js';
import { runPayload, type Payload, type TaskContext } from './handle.js';

/** What a slot needs of its scheduler. */
export interface SlotHost {
  /** What the attempt's handler is given. */
  contextOf(attempt: Attempt): TaskContext;
  /** Hands the outcome in and takes the next attempt for the same slot. */
  next(attempt: Attempt, outcome: Outcome): Attempt | undefined;
}

/** One busy slot: runs attempt after attempt until there is none. */
export async function runSlot(scheduler: SlotHost, first: Attempt): Promise<void> {
  let attempt: Attempt | undefined = first;
  while (attempt !== undefined) {
    const handle = attempt.task.payload as Payload;
    let outcome: Outcome;
    try {
      outcome = { kind: 'succeeded', value: await runPayload(handle, scheduler.contextOf(attempt)) };
    } catch (error) {
      outcome = failedBy(error);
    }
    attempt = scheduler.next(attempt, outcome);
  }
}
