import type { Failure } from './error-record.js';

/** How long to wait before the attempt after a failed one. */
export type Backoff =
  | { readonly kind: 'fixed'; readonly baseMs: number }
  | { readonly kind: 'exponential'; readonly baseMs: number; readonly factor: number }
  | {
      readonly kind: 'custom';
      /** The wait after a failed attempt; the first one has number 1. */
      readonly delayMs: (attempt: number, error: Failure) => number;
    };

/** How often a task is tried, and how long it rests in between. */
export interface RetryPolicy {
  /** All executions, the first included. */
  readonly attempts: number;
  readonly backoff: Backoff;
  /** No wait is longer than this. */
  readonly maxDelayMs: number;
  /** Full jitter: the wait is drawn between zero and the computed delay. */
  readonly jitter: boolean;
  /** Says no to a retry for errors that cannot get better: it is given what was thrown, or a record of what was elsewhere. */
  readonly retryIf: ((error: Failure) => boolean) | undefined;
}
