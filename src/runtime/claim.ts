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
  now(): Moment;
  /** Somebody may be able to start now, and something else may be due next; the attempt is in nobody's hands. */
  changed(over?: Attempt): void;
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
    return this.settle({ kind: 'succeeded', value: result });
  }

  /** The attempt did not work out; whether there is another one is up to the task's retry policy, or the worker's. */
  fail(error: unknown): Promise<void> {
    return this.settle(failedBy(error));
  }

  /** Gives the task back unharmed: that costs it no attempt. */
  release(): Promise<void> {
    return this.settle({ kind: 'aborted' });
  }

  /** The lease counts anew from now: for as long as it did at first, or for this long. */
  extend(duration?: Duration): Promise<void> {
    const { host, attempt, token } = this;
    return promised(() => {
      const leaseMs =
        duration === undefined ? attempt.leaseMs : parsePositiveDuration(duration, 'duration', refuseConfig);
      host.core.handle({ kind: 'extend', now: host.now(), task: attempt.task.id, token, leaseMs });
      host.changed();
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
      await this.settle(await this.outcome());
    } finally {
      host.leases.drop(attempt);
    }
  }

  private async outcome(): Promise<Outcome> {
    try {
      return { kind: 'succeeded', value: await runHandler(this.attempt.task.payload as Payload, this.running) };
    } catch (error) {
      return endedBy(error);
    }
  }

  private settle(outcome: Outcome): Promise<void> {
    const { host, attempt } = this;
    return promised(() => {
      try {
        host.core.settle(host.now(), attempt, outcome);
      } finally {
        // Also when it is refused: the outcome of an attempt that was given up frees what that held.
        host.changed(attempt);
      }
    });
  }
}
