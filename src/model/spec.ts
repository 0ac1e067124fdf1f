import type { Metadata } from './json.js';
import type { RetryPolicy } from './retry.js';

/** What becomes of a task when a dependency fails, is cancelled or skipped. */
export type FailurePolicy = 'fail' | 'skip' | 'run';

/** A capability asked for: the worker must offer it with this value, or with an array that contains it. */
export type CapabilityValue = string | number | boolean;

/** So many units of a named resource, held while an attempt runs. */
export interface Need {
  readonly resource: string;
  readonly amount: number;
}

/**
 * What a task asks for, checked once and never changed afterwards.
 *
 * Many tasks may share one spec: whatever differs from task to task (input, dependencies) travels beside it.
 */
export interface TaskSpec {
  /** The user's own id; without one the scheduler derives an id from the sequence. */
  readonly id: string | undefined;
  /** The handler's name; empty for closures. */
  readonly type: string;
  readonly channel: string;
  readonly level: number;
  /** Epoch milliseconds; `Infinity` when there is none. */
  readonly deadline: number;
  /** Epoch milliseconds after which an unstarted task is dropped; `Infinity` when there is none. */
  readonly expires: number;
  /** Epoch milliseconds before which the task does not start; `-Infinity` when there is none. */
  readonly eta: number;
  /** Milliseconds after submission before which the task does not start. */
  readonly delayMs: number;
  /** Sorted by resource, each resource once. */
  readonly needs: readonly Need[];
  /** Names of needs that are given back while an attempt waits for another task; sorted. */
  readonly yieldable: readonly string[];
  /** Sorted by name. */
  readonly capabilities: readonly (readonly [name: string, value: CapabilityValue])[];
  /** Without a policy the worker's number of retries applies, with no backoff. */
  readonly retry: RetryPolicy | undefined;
  /** How long one attempt may take; `Infinity` when unbounded. */
  readonly timeoutMs: number;
  /** Overrides the worker's lease; `undefined` leaves it to the worker. */
  readonly leaseMs: number | undefined;
  /** Expected duration, for the critical path. */
  readonly estimateMs: number | undefined;
  /** Whether an attempt may be stopped to let a more urgent task start; it goes again later, and has lost nothing else. */
  readonly preemptible: boolean;
  /** For dependencies that name no policy of their own. */
  readonly onDependencyFailure: FailurePolicy;
  /** What few tasks say. */
  readonly rare: RareSpec | undefined;
}

/** What becomes of a task whose id another one has: that one is kept, or it gives way. */
export type IfExists = 'keep' | 'replace';

/** What few tasks say; kept apart so that the specs of all others stay small. Only what was said is there. */
export interface RareSpec {
  /** What the task carries for its owner. */
  readonly metadata?: Metadata;
  /** Whether a store keeps it; where that is not said, the store decides. */
  readonly durable?: boolean;
  /** What becomes of the call if there is a task with its id already; otherwise it is refused. */
  readonly ifExists?: IfExists;
  /** What it shares with the calls that mean the same work; among tasks of one type. */
  readonly key?: string;
  /** How long no further call with the key may have come before it starts. */
  readonly debounceMs?: number;
  /** How long after the last start with the key it starts at the earliest. */
  readonly throttleMs?: number;
}
