import type { Core } from '../core/index.js';
import {
  StaleLeaseError,
  parsePositiveDuration,
  refuseConfig,
  type Attempt,
  type Duration,
  type FencingToken,
  type Moment,
  type Outcome,
} from '../model/index.js';
import { failedBy } from './failure.js';
import { runHandler } from './generator.js';
import type { TaskContext } from './handle.js';
import type { Keeping } from './keeping.js';
import type { Leases } from './leases.js';
import { endedBy } from './made-way.js';
import type { Payload } from './payload.js';
import { promised } from './promised.js';
import type { RunningTask } from './running-task.js';
import { showAs } from './shown.js';

/** What a worker may know about a task it has claimed. */
export interface ClaimedTask extends TaskContext {
  /** What the task was added with; `undefined` for a function, which brings its own. */
  readonly input: unknown;
}

/** What a claim needs of its scheduler. */
export interface ClaimHost {
  readonly core: Core;
  readonly leases: Leases;
  readonly keeping: Keeping | undefined;
  now(): Moment;
  /** Somebody may be able to start now, and something else may be due next; the attempt is in nobody's hands. */
  changed(over?: Attempt, by?: 'handler' | 'others'): void;
}

/**
 * A task granted to a worker until its lease ends. Once it has ended, been settled or given back, or the task was
 * cancelled, everything here rejects with `StaleLeaseError` and changes nothing.
 */
export class Claim {
  static {
    showAs(Claim, 'Claim', ({ task, token, workerId }) => ({ taskId: task.id, token, workerId }));
  }

  private isRun = false;

  /** @internal */
  constructor(
    private readonly host: ClaimHost,
    private readonly attempt: Attempt,
    private readonly running: RunningTask,
  ) {}

  /** The task; its signal aborts when the claim no longer counts. */
  get task(): ClaimedTask {
    return this.running;
  }

  /** Names this claim for ever; a later one of the same task has a larger token. */
  get token(): FencingToken {
    return this.attempt.token;
  }

  /** The worker that the task was granted to. */
  get workerId(): string {
    return this.attempt.workerId;
  }

  /** The task has done what it was for. */
  complete(result?: unknown): Promise<void> {
    const { host, attempt } = this;
    return promised(() => {
      const value = host.keeping === undefined ? result : host.keeping.payloads.given(attempt.task, result, 'result');
      return this.settle({ kind: 'succeeded', value }, this.caller);
    });
  }

  /** The attempt did not work out; whether there is another one is up to the task's retry policy, or the worker's. */
  fail(error: unknown): Promise<void> {
    return this.settle(failedBy(error), this.caller);
  }

  /** Gives the task back unharmed: that costs it no attempt. */
  release(): Promise<void> {
    return this.settle({ kind: 'aborted' }, this.caller);
  }

  /** The lease counts anew from now: for as long as it did at first, or for this long. */
  extend(duration?: Duration): Promise<void> {
    const { host, attempt, token } = this;
    return promised(() => {
      const leaseMs =
        duration === undefined ? attempt.leaseMs : parsePositiveDuration(duration, 'duration', refuseConfig);
      host.keeping?.check();
      host.core.handle({ kind: 'extend', now: host.now(), task: attempt.task.id, token, leaseMs });
      host.changed();
      return host.keeping?.kept(undefined);
    });
  }

  /**
   * Runs the function that the task was added with, here, and settles the claim with what comes of it. Meanwhile the
   * lease is renewed by itself.
   */
  async run(): Promise<void> {
    const { host, attempt } = this;
    // What is in other hands by now, or has been run, must not happen again.
    if (attempt.over || attempt.abandoned) return this.release();
    if (this.isRun)
      throw new StaleLeaseError({ taskId: attempt.task.id, attempt: attempt.number, reason: 'it was run' });
    this.isRun = true;
    host.leases.keep(attempt);
    host.changed();
    try {
      const outcome = await this.outcome();
      await this.settle(host.keeping?.outcome(attempt, outcome) ?? outcome);
    } finally {
      host.leases.drop(attempt);
    }
  }

  /** Whoever settles a claim is its handler, unless that is run here. */
  private get caller(): 'handler' | 'others' {
    return this.isRun ? 'others' : 'handler';
  }

  private async outcome(): Promise<Outcome> {
    try {
      return { kind: 'succeeded', value: await runHandler(this.attempt.task.payload as Payload, this.running) };
    } catch (error) {
      return endedBy(error);
    }
  }

  private settle(outcome: Outcome, by: 'handler' | 'others' = 'handler'): Promise<void> {
    const { host, attempt } = this;
    return promised(() => {
      host.keeping?.check();
      try {
        host.core.settle(host.now(), attempt, outcome);
      } finally {
        // Also when it is refused: the outcome of an attempt that was given up frees what that held.
        host.changed(attempt, by);
      }
      return host.keeping?.kept(undefined);
    });
  }
}
