import { parseSeries, type Assignment, type Balance } from '../core/index.js';
import { RECURRENCE_OPTION_NAMES, parseTaskOptions, refuseTask } from '../model/index.js';
import { Adding } from './adding.js';
import type { Claim } from './claim.js';
import { Handle, type Handler } from './handle.js';
import type { CloseOptions } from './closing.js';
import { promised } from './promised.js';
import type { PullingWorker } from './pulling-worker.js';
import { SeriesHandle, type RepeatOptions, type SeriesHost } from './series-handle.js';
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
   * Adds a task that repeats, at an interval or by a cron expression. The first run of an interval is at once, or at
   * its ETA.
   */
  repeat<Result>(run: Handler<Result>, options: RepeatOptions): SeriesHandle<Result> {
    const { engine } = this;
    engine.closing.checkOpen();
    if (typeof run !== 'function') refuseTask('run', run, 'a function');
    const spec = parseTaskOptions(options, '', RECURRENCE_OPTION_NAMES);
    if (spec.delayMs > 0) refuseTask('delay', spec.delayMs, 'no delay in a series: say when it begins with eta');
    const series = new SeriesHandle(this.seriesHost(), run, engine.capture());
    const id = spec.id ?? `series-${engine.core.state.nextSeries}`;
    series.series = engine.core.repeat(engine.now(), id, spec, parseSeries(options), series);
    engine.dispatchSoon();
    return series;
  }

  private seriesHost(): SeriesHost {
    const { engine } = this;
    return {
      resultOf: (task, run) => Object.assign(new Handle(engine, run), { task }).result,
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
   * the claims. Those workers that have a filter are left out; `foresee` tells who would get what.
   */
  assign(count: number, options?: { readonly balance?: Balance | undefined }): Promise<Claim[]> {
    return promised(() => {
      this.engine.closing.checkOpen();
      return this.engine.pulling.assign(count, options?.balance ?? 'least-loaded');
    });
  }

  /** What `assign` would give to whom now. Costs O(n), as it is tried out on a copy of everything. */
  foresee(count: number, options?: { readonly balance?: Balance | undefined }): Assignment[] {
    return this.engine.pulling.foresee(count, options?.balance ?? 'least-loaded');
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
