import type { Core } from '../core/index.js';
import {
  PayloadError,
  StaleLeaseError,
  parsePositiveDuration,
  refuseConfig,
  type Attempt,
  type Duration,
  type FencingToken,
  type Moment,
  type Outcome,
} from '../model/index.js';
import type { Breath } from './breath.js';
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
  readonly breath: Breath;
  now(): Moment;
  /** Somebody may be able to start now, and something else may be due next; the attempt is in nobody's hands. */
  changed(over?: Attempt, by?: 'handler' | 'others'): void;
}

/**
 * A task granted to a worker until its lease ends. Once it has ended, been settled or given back, or the task was
 * cancelled, everything here but `run` rejects with `StaleLeaseError` and changes nothing.
 */
export class Claim {
  static {
    showAs(Claim, 'Claim', ({ task, token, workerId }) => ({ taskId: task.id, token, workerId }));
  }

  private isRun = false;
  /** Whether whoever holds the claim has settled it or given it back. */
  private isSettled = false;

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

  /** The task has done what it was for. The result is a value: a promise of one is refused with `PayloadError`. */
  complete(result?: unknown): Promise<void> {
    return this.settle(() => ({ kind: 'succeeded', value: this.given(result) }), this.caller);
  }

  /** The attempt did not work out; whether there is another one is up to the task's retry policy, or the worker's. */
  fail(error: unknown): Promise<void> {
    return this.settle(() => failedBy(error), this.caller);
  }

  /** Gives the task back unharmed: that costs it no attempt. */
  release(): Promise<void> {
    return this.settle(() => ({ kind: 'aborted' }), this.caller);
  }

  /** The lease counts anew from now: for as long as it did at first, or for this long. */
  extend(duration?: Duration): Promise<void> {
    const { host, attempt, token } = this;
    return answered(() => {
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
   *
   * Resolves when that has ended, however it did: also when the task failed, and when it no longer counted because it timed
   * out, was cancelled or was given back meanwhile. One that was taken away before runs nothing. So a worker's loop goes on.
   * Running a claim twice, or one that was settled, is refused with `StaleLeaseError`.
   */
  async run(): Promise<void> {
    const { host, attempt } = this;
    // What has been run, or settled, must not happen again.
    if (this.isRun || this.isSettled) throw this.stale(this.isRun ? 'it was run' : 'it was settled or given back');
    this.isRun = true;
    // What is in other hands by now only gives back what it holds.
    if (attempt.over || attempt.abandoned) return this.settleIfCounted({ kind: 'aborted' });
    host.leases.keep(attempt);
    host.changed();
    try {
      const outcome = await this.outcome();
      await this.settleIfCounted(host.keeping?.outcome(attempt, outcome) ?? outcome);
    } finally {
      host.leases.drop(attempt);
    }
  }

  /** That it came too late is nothing that whoever runs claims could have done otherwise: a timeout is that, and a cancellation. */
  private async settleIfCounted(outcome: Outcome): Promise<void> {
    try {
      await this.settle(() => outcome);
    } catch (error) {
      if (!(error instanceof StaleLeaseError)) throw error;
    }
  }

  private stale(reason: string): StaleLeaseError {
    const { task, number } = this.attempt;
    return new StaleLeaseError({ taskId: task.id, attempt: number, reason });
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

  /** The result as the task has it. */
  private given(result: unknown): unknown {
    const { host, attempt } = this;
    if (isPromise(result)) {
      throw new PayloadError({ taskId: attempt.task.id, part: 'result', reason: 'it is a promise; await it first' });
    }
    return host.keeping === undefined ? result : host.keeping.payloads.given(attempt.task, result, 'result');
  }

  private settle(outcome: () => Outcome, by: 'handler' | 'others' = 'handler'): Promise<void> {
    const { host, attempt } = this;
    return answered(() => {
      host.keeping?.check();
      const settled = outcome();
      host.breath.spend();
      try {
        host.core.settle(host.now(), attempt, settled);
        this.isSettled = true;
      } finally {
        // Also when it is refused: the outcome of an attempt that was given up frees what that held.
        host.changed(attempt, by);
      }
      return host.keeping?.kept(undefined);
    });
  }
}

/**
 * What comes of the work, as a promise. One that is refused as stale was about a task that is in other hands by now, and its
 * signal says so: where nobody awaits it, that must not end the process.
 */
function answered(work: () => Promise<void> | undefined): Promise<void> {
  let isStale = false as boolean;
  const answer = promised(() => {
    try {
      return work();
    } catch (error) {
      isStale = error instanceof StaleLeaseError;
      throw error;
    }
  });
  if (isStale) answer.catch(ignore);
  return answer;
}

const ignore = (): void => undefined;

/** Anything that a promise would wait for. */
function isPromise(value: unknown): boolean {
  const mayBe = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return mayBe && typeof (value as { readonly then?: unknown }).then === 'function';
}
