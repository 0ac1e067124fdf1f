import type { Attempt, ErrorRecord, SchedulerError, StrategyError, Task } from '../model/index.js';

/** An attempt that is to stop, and why: the error itself where there is one. */
export interface Aborted {
  readonly attempt: Attempt;
  readonly error: ErrorRecord;
  readonly cause?: SchedulerError;
}

/** Work that a task will not do, as another call with its key has brought other work. */
export interface Renewal {
  readonly before: unknown;
  readonly after: unknown;
}

/** What the outside must act on after a command; whoever acts on it empties it. */
export interface Outbox {
  /** Tasks that have reached a final state. */
  readonly settled: Task[];
  /** What tasks were to do, and what they will do in its place. */
  readonly renewed: Renewal[];
  /** Attempts that go on after a wait; the claim that let them has returned them too. */
  readonly resumed: Attempt[];
  /** Attempts that are to make way for more urgent tasks. */
  readonly preempted: Aborted[];
  /** Attempts whose work is no longer wanted. */
  readonly aborted: Aborted[];
  /** What functions of the user's that decide have done wrong. */
  readonly faults: StrategyError[];
}
