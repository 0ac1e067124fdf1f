import { ClosedError, isFinal, type Attempt, type Outcome, type SchedulerError, type Task } from '../model/index.js';
import { failedBy } from './failure.js';
import { Kept, type Payloads } from './kept.js';

/** Whether the end of a task may be told: yes, not yet, or never, and why. */
export type Verdict = 'tell' | 'wait' | SchedulerError;

/** What may be told of a task, and what its attempts come to, where a store is to keep it. */
export class Verdicts {
  /** Why nothing can be kept any more. */
  failure: SchedulerError | undefined = undefined;
  /** What is left to the store as the scheduler closes: what has not begun, or all there is. */
  leaves: 'nothing' | 'unbegun' | 'everything' = 'nothing';
  /** Whether what runs has not ended in time, and was aborted. */
  givesBack = false;

  constructor(private readonly payloads: Payloads) {}

  on(task: Task, isEndUnkept: boolean): Verdict {
    if (isFinal(task.state) && !isEndUnkept) return 'tell';
    if (this.failure !== undefined) return this.failure;
    const isLeft = this.leaves === 'everything' || (this.leaves === 'unbegun' && task.attempt === undefined);
    return isLeft && !isFinal(task.state) ? new ClosedError({ taskId: task.id, kept: true }) : 'wait';
  }

  /** What was aborted by closing is given back unharmed; a result that cannot be kept is a failure of its attempt. */
  outcome({ task }: Attempt, outcome: Outcome): Outcome {
    if (this.givesBack && outcome.kind === 'failed') return { kind: 'aborted' };
    if (outcome.kind !== 'succeeded' || outcome.value instanceof Kept) return outcome;
    try {
      return { kind: 'succeeded', value: this.payloads.given(task, outcome.value, 'result') };
    } catch (error) {
      return { ...failedBy(error), retryable: false };
    }
  }
}
