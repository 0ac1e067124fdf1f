import type { Assignment, Balance } from '../core/index.js';
import { Adding } from './adding.js';
import type { Claim } from './claim.js';
import type { Definition } from './definition.js';
import type { Handler } from './handle.js';
import type { CloseOptions } from './closing.js';
import type { PullingWorker } from './pulling-worker.js';
import type { RepeatOptions, SeriesHandle } from './series-handle.js';
import { closeOnSignals } from './shutdown.js';
import type { SchedulerOptions } from './scheduler-options.js';
import type { WorkerOptions } from './worker-options.js';

/** Repeating, pulling and closing: a scheduler without what observes it. */
export class Scheduler extends Adding {
  constructor(options: SchedulerOptions = {}) {
    super(options);
    if (options.shutdownOn === undefined) return;
    this.engine.closing.afterwards = closeOnSignals(options.shutdownOn, () => this.close());
  }

  /**
   * Adds a task that repeats, at an interval or by a cron expression: a function and its options, or a definition (or its
   * name), the input of every run, and its options. The first run of an interval is at once, or at its ETA.
   *
   * An `id` that is in use updates that series and gives its handle: runs count on, what was made goes on as it was, and a
   * schedule that is the same keeps its next moment; another interval counts from the run before. A paused one stays paused.
   *
   * @example
   * ```ts
   * const report = scheduler.define('report', (input: { team: string }) => send(input.team));
   * scheduler.repeat(report, { team: 'infra' }, { id: 'weekly', cron: '0 9 * * 1', timeZone: 'Europe/Berlin' });
   * ```
   */
  repeat<Result>(run: Handler<Result, readonly []>, options: RepeatOptions): SeriesHandle<Result>;
  repeat<Input, Result>(
    definition: Definition<Input, Result, readonly []>,
    input: Input,
    options: RepeatOptions,
  ): SeriesHandle<Result>;
  repeat(name: string, input: unknown, options: RepeatOptions): SeriesHandle<unknown>;
  repeat(run: unknown, second: unknown, third?: unknown): SeriesHandle<unknown> {
    return this.engine.repeating.repeat(run, second, third);
  }

  /**
   * Begins to work, as the first use does by itself. With a store it resolves when everything is back that the last
   * scheduler left there, and rejects when that is not possible; what is added before waits for it.
   */
  async start(): Promise<void> {
    this.engine.closing.checkOpen();
    await this.engine.keeping?.start();
    this.engine.dispatchSoon();
  }

  /** A worker that claims tasks for itself, beside the slots of this scheduler or, with `concurrency: 0`, alone. */
  worker(options?: WorkerOptions): PullingWorker {
    this.engine.closing.checkOpen();
    return this.engine.pulling.add(options);
  }

  /**
   * Distributes up to so many of the best tasks over the pulling workers that have a slot free, in one step, and returns
   * the claims; `balance` is that of the scheduler unless given. Those workers that have a filter are left out; `foresee`
   * tells who would get what.
   */
  assign(count: number, options?: { readonly balance?: Balance | undefined }): Promise<Claim[]> {
    return this.engine.pulling.soon(() => {
      this.engine.closing.checkOpen();
      return this.engine.pulling.assign(count, options?.balance ?? this.engine.balance);
    });
  }

  /** What `assign` would give to whom now. Costs O(n), as it is tried out on a copy of everything. */
  foresee(count: number, options?: { readonly balance?: Balance | undefined }): Assignment[] {
    return this.engine.pulling.foresee(count, options?.balance ?? this.engine.balance);
  }

  /**
   * Takes and starts nothing more; what has not begun rejects with `ClosedError`. What runs may go on for the time of
   * `drain`, is then aborted with `ClosedError`, and has the time of `grace` to notice: one that ignores its signal for
   * longer is left behind. Claims of workers are given back. Closing again gives the first promise; steering what is closed
   * throws `ClosedError`. For space in its store it waits as long as both times together: then what is not kept rejects.
   */
  close(options?: CloseOptions): Promise<void> {
    return this.engine.closing.begin(options);
  }

  /** Closes the scheduler at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
