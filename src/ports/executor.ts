import type { CapabilityValue, Duration, FencingToken, Metadata } from '../model/index.js';

/** One attempt, as an executor is handed it. */
export interface Work {
  readonly taskId: string;
  /** The attempt's number, from 1. */
  readonly attempt: number;
  /** Names this attempt for ever: what is written elsewhere on its behalf can be fenced by it. */
  readonly token: FencingToken;
  /** The name that the task's handler was defined with; empty for a function that was added itself. */
  readonly name: string;
  readonly channel: string;
  /** What the task was added with. */
  readonly input: unknown;
  /** The results of the tasks it came after, in the order they were named. */
  readonly dependencies: readonly unknown[];
  /** The task's last checkpoint; `undefined` when there is none. */
  readonly resumed: unknown;
  /** The task's metadata; `undefined` when it has none. */
  readonly metadata: Metadata | undefined;
  /** Runs the task's own function in this process, as the built-in slots do. */
  run(): Promise<unknown>;
  /** Keeps how far the attempt has come, for the next one. */
  checkpoint(state: unknown): void;
  /** Tells how far the attempt has come: a fraction from 0 to 1, or anything else that says so. */
  progress(progress: unknown): void;
}

/** How an attempt ended, as an executor tells it. */
export type ExecutionOutcome =
  | { readonly kind: 'succeeded'; readonly value: unknown }
  /** It is tried again as its retry policy says, unless that is said to be of no use. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly retryable?: boolean }
  /** It was given up before it came to anything; that costs the task no attempt. */
  | { readonly kind: 'aborted' }
  /** Whatever ran it is gone; it is tried again as often as attempts may be lost. */
  | { readonly kind: 'lost'; readonly error?: unknown };

/**
 * Somewhere to run attempts: threads, other processes, other machines. The scheduler decides what runs and never hands
 * over more than there are slots; the executor runs it and tells how it ended. `executorChecks` in `precedence/testing`
 * shows whether one keeps to this.
 *
 * @example
 * ```ts
 * const shell: Executor = {
 *   id: 'shell',
 *   slots: 2,
 *   capabilities: { shell: true },
 *   exclusive: true,
 *   async execute(work, signal) {
 *     const { stdout } = await execFile('sh', ['-c', String(work.input)], { signal });
 *     return { kind: 'succeeded', value: stdout };
 *   },
 * };
 * const scheduler = new Scheduler({ executors: [shell] });
 * ```
 */
export interface Executor {
  /** Unique among the executors and workers of a scheduler. */
  readonly id: string;
  /** How many attempts it runs at a time. */
  readonly slots: number;
  /** What it offers to tasks that ask for capabilities: a value, or several of which any will do. */
  readonly capabilities?: Readonly<Record<string, CapabilityValue | readonly CapabilityValue[]>> | undefined;
  /** Takes only tasks that ask for a capability; otherwise also those that ask for none. */
  readonly exclusive?: boolean | undefined;
  /**
   * For one that may vanish: how long an attempt counts without a sign of life before it is lost. The scheduler renews
   * it by itself for as long as {@link isAlive} says so. Without one, attempts are never lost.
   */
  readonly lease?: Duration | undefined;
  /**
   * Runs one attempt. When the signal aborts, what it does is no longer wanted and had better end soon: its slot is taken
   * until it has. Throwing is the same as the outcome `failed`.
   */
  execute(work: Work, signal: AbortSignal): Promise<ExecutionOutcome>;
  /** Whether it is there: while it is not, it is handed nothing and its leases run out. It is there unless given. */
  isAlive?(): boolean;
  /** Nothing more will come, and nothing runs any more. */
  close?(): Promise<void> | void;
}
