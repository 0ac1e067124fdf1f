import type { Attempt, Outcome } from '../model/index.js';
import { runHandler } from './generator.js';
import type { Payload } from './payload.js';
import { endedBy } from './made-way.js';
import type { RunningTask } from './running-task.js';

/** What a slot needs of its scheduler. */
export interface SlotHost {
  /** What the attempt's handler is given. */
  contextOf(attempt: Attempt): RunningTask;
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
      outcome = { kind: 'succeeded', value: await runHandler(handle, scheduler.contextOf(attempt)) };
    } catch (error) {
      outcome = endedBy(error);
    }
    attempt = scheduler.next(attempt, outcome);
  }
}
