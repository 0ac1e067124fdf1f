import type { Assignment, Balance } from '../core/index.js';
import type { Task } from '../model/index.js';
import { Adding } from './adding.js';
import type { Claim } from './claim.js';
import type { Definition } from './definition.js';
import { Handle, type Handler } from './handle.js';
import type { CloseOptions } from './closing.js';
import { promised } from './promised.js';
import type { PullingWorker } from './pulling-worker.js';
import { SeriesHandle, SeriesWork, type RepeatOptions, type SeriesHost } from './series-handle.js';
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
    const { engine } = this;
    engine.closing.checkOpen();
    const { handler, input, spec, recurrence } = engine.intake.repeated(run, second, third);
    const id = spec.id ?? this.nextSeriesName();
    const known = engine.core.state.series.get(id)?.payload as SeriesWork | undefined;
    const handle = known?.handle ?? new SeriesHandle(this.seriesHost());
    const work = new SeriesWork(handler, input, engine.capture(), handle);
    handle.series = engine.core.repeat(engine.now(), id, spec, recurrence, work);
    engine.dispatchSoon();
    return handle;
  }

  /** An id that no series has: one that is in use would update its series. */
  private nextSeriesName(): string {
    const { series, nextSeries } = this.engine.core.state;
    let number = nextSeries;
    while (series.has(`series-${number}`)) number += 1;
    return `series-${number}`;
  }

  private seriesHost(): SeriesHost {
    const { engine } = this;
    return {
      resultOf: <Result>(task: Task) => {
        const { run } = task.payload as SeriesWork;
        return Object.assign(new Handle(engine, run as Handler<Result>), { task }).result;
      },
      until: (holds) => engine.waits.until(holds),
      steer: (kind, series) => {
        engine.tell({ kind, series });
      },
    };
  }

  /** Begins to work, as the first use does by itself: in memory there is nothing to bring back first. */
  start(): Promise<void> {
    return promised(() => {
      this.engine.closing.checkOpen();
      this.engine.dispatchSoon();
    });
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
    return promised(() => {
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
   * longer is left behind. Claims of workers are given back. Closing again gives the first promise.
   */
  close(options?: CloseOptions): Promise<void> {
    return this.engine.closing.begin(options);
  }

  /** Closes the scheduler at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
