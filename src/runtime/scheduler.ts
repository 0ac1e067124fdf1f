import { AsyncResource } from 'node:async_hooks';
import { parseSeries, type Assignment, type Balance, type DependencyInput, type Worker } from '../core/index.js';
import {
  ClosedError,
  RECURRENCE_OPTION_NAMES,
  StaleLeaseError,
  isFinal,
  parseTaskOptions,
  refuseTask,
  type Attempt,
  type ErrorRecord,
  type FailurePolicy,
  type Moment,
  type Outcome,
  type Task,
  type TaskSpec,
} from '../model/index.js';
import { ADD_OPTION_NAMES, type AddOptions } from './add-options.js';
import { forgottenIn, parseAfter, type After, type ResultsOf } from './after.js';
import type { Claim } from './claim.js';
import { Controls } from './controls.js';
import { Handle, type Handler, type Payload } from './handle.js';
import { promised } from './promised.js';
import { Pulling, type PullingHost } from './pulling.js';
import type { PullingWorker } from './pulling-worker.js';
import { RunningTask } from './running-task.js';
import { runSlot } from './slot.js';
import { SeriesHandle, type RepeatOptions, type SeriesHost } from './series-handle.js';
import { applySettings, concurrencyOf, type SchedulerOptions } from './scheduler-options.js';
import type { WorkerOptions } from './worker-options.js';

const LOCAL = 'local';

/**
 * Runs tasks in this process, the most urgent first, as many at a time as there are slots.
 *
 * @example
 * ```ts
 * const scheduler = new Scheduler({ concurrency: 4 });
 * const fetched = scheduler.add(() => fetchPage(url), { priority: 'high' });
 * const parsed = scheduler.add((task) => parse(task.dependencies[0]), { after: [fetched] });
 * console.log(await parsed);
 * await scheduler.close();
 * ```
 */
export class Scheduler extends Controls {
  private readonly local: Worker;
  /** Slots run in a context of their own, not in that of whoever happened to add the first task. */
  private readonly root = new AsyncResource('precedence');
  private readonly signals = new Map<Attempt, RunningTask>();
  private readonly pulling: Pulling;
  private dispatching = false;
  private closing: Promise<void> | undefined = undefined;

  constructor(options: SchedulerOptions = {}) {
    super(options);
    const now = this.clock.now();
    this.local = this.core.attach(now, {
      id: LOCAL,
      slots: concurrencyOf(options),
      capabilities: new Map(),
      strategy: undefined,
      filter: undefined,
      leaseMs: Infinity,
      retries: 0,
    });
    applySettings(this.core, options, now);
    this.pulling = new Pulling(this.pullingHost());
  }

  /**
   * Adds a task. Malformed options throw at once. So does a refusal (a duplicate, an unknown dependency), except with
   * `maxPending`: there the handle's `accepted` and `result` reject with it, as it may only show later.
   */
  add<Result, const Tasks extends readonly After[] = readonly [], const Policy extends FailurePolicy = 'fail'>(
    run: Handler<Result, ResultsOf<Tasks, Policy>>,
    options?: AddOptions<Tasks, Policy>,
  ): Handle<Result> {
    if (this.closing !== undefined) throw new ClosedError({});
    const spec = parseTaskOptions(options, '', ADD_OPTION_NAMES);
    if (typeof run !== 'function') refuseTask('run', run, 'a function');
    const dependencies = parseAfter(options?.after, this);
    // Which results it finds there is known to the types only.
    const handle = new Handle(this, run as Handler<Result>);
    if (this.entrance === undefined) this.takeIn(handle, spec, dependencies);
    else
      this.entrance.apply(handle, spec, (own) => {
        this.takeIn(handle, own, dependencies);
      });
    return handle;
  }

  private takeIn(handle: Handle<unknown>, spec: TaskSpec, dependencies: readonly DependencyInput[]): void {
    if (dependencies.length > 0) this.noteForgotten(handle, dependencies);
    handle.task = this.core.submit(this.clock.now(), spec, handle, dependencies);
    this.dispatchSoon();
  }

  /**
   * Adds a task that repeats, at an interval or by a cron expression. The first run of an interval is at once, or at
   * its ETA.
   */
  repeat<Result>(run: Handler<Result>, options: RepeatOptions): SeriesHandle<Result> {
    if (this.closing !== undefined) throw new ClosedError({});
    if (typeof run !== 'function') refuseTask('run', run, 'a function');
    const spec = parseTaskOptions(options, '', RECURRENCE_OPTION_NAMES);
    if (spec.delayMs > 0) refuseTask('delay', spec.delayMs, 'no delay in a series: say when it begins with eta');
    const series = new SeriesHandle(this.seriesHost(), run);
    const id = spec.id ?? `series-${this.core.state.nextSeries}`;
    series.series = this.core.repeat(this.clock.now(), id, spec, parseSeries(options), series);
    this.dispatchSoon();
    return series;
  }

  /** A worker that claims tasks for itself, beside the slots of this scheduler or, with `concurrency: 0`, alone. */
  worker(options?: WorkerOptions): PullingWorker {
    if (this.closing !== undefined) throw new ClosedError({});
    return this.pulling.add(options);
  }

  /**
   * Distributes up to so many of the best tasks over the pulling workers that have a slot free, in one step, and returns
   * the claims. Those workers that have a filter are left out; `foresee` tells who would get what.
   */
  assign(count: number, options?: { readonly balance?: Balance | undefined }): Promise<Claim[]> {
    return promised(() => {
      if (this.closing !== undefined) throw new ClosedError({});
      return this.pulling.assign(count, options?.balance ?? 'least-loaded');
    });
  }

  /** What `assign` would give to whom now. Costs O(n), as it is tried out on a copy of everything. */
  foresee(count: number, options?: { readonly balance?: Balance | undefined }): Assignment[] {
    return this.pulling.foresee(count, options?.balance ?? 'least-loaded');
  }

  /** Takes an unfinished task back; one that has ended, or is unknown, is refused. */
  cancel(id: string, reason?: string): void {
    const isUnknown = this.core.state.table.byId(id) === undefined;
    if (isUnknown && this.entrance?.cancel(id, reason) === true) return;
    this.core.cancel(this.clock.now(), id, reason);
    this.dispatchSoon();
  }

  /** @internal */
  cancelTask(task: Task, reason: string | undefined): void {
    this.core.cancel(this.clock.now(), task, reason);
    this.dispatchSoon();
  }

  /** @internal */
  cancelOutside(handle: Handle<unknown>, reason: string | undefined): void {
    this.entrance?.cancel(handle, reason);
  }

  /** Stops taking tasks, cancels what has not started, and waits for what runs. */
  close(): Promise<void> {
    this.closing ??= this.closeNow();
    return this.closing;
  }

  /** Closes the scheduler at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private async closeNow(): Promise<void> {
    this.pulling.close();
    this.entrance?.close();
    for (const series of [...this.core.state.series.keys()]) this.tell({ kind: 'cancelSeries', series });
    for (const task of [...this.core.state.table.all()]) {
      // What waits for another task has begun, and goes on once that has ended.
      if (!isFinal(task.state) && task.attempt === undefined) this.cancelTask(task, 'closed');
    }
    this.dispatch();
    await this.onIdle();
    this.alarm.stop();
    this.loopDelay.stop();
  }

  /** @internal A burst of tasks is ordered before the first of them starts. */
  protected override dispatchSoon(): void {
    if (this.dispatching) return;
    this.dispatching = true;
    queueMicrotask(this.dispatch);
  }

  private readonly dispatch = (): void => {
    this.dispatching = false;
    if (this.closing !== undefined) this.pulling.cancelReturned();
    this.publish();
    const { core, local: worker } = this;
    while (worker.running < worker.spec.slots && this.mayStart()) {
      const attempt = core.claim(this.clock.now(), worker);
      if (attempt === undefined) break;
      if (attempt.resumptions === 0) void this.root.runInAsyncScope(runSlot, undefined, this, attempt);
    }
    if (core.state.suspended.size > 0) this.pulling.goOn();
    if (this.pulling.isAwaited) this.pulling.serve();
    // A claim lets tasks expire that are past their time.
    this.publish();
    this.loopDelay.rest(this.clock.now().mono);
    this.setAlarm();
  };

  private noteForgotten(handle: Handle<unknown>, dependencies: readonly DependencyInput[]): void {
    const gaps = forgottenIn(dependencies, (id) => this.core.state.table.byId(id) !== undefined);
    if (gaps.length > 0) handle.gaps = gaps;
  }

  /** @internal */
  protected override wake(): void {
    this.core.handle({ kind: 'tick', now: this.clock.now() });
    this.dispatch();
  }

  private pullingHost(): PullingHost {
    return {
      core: this.core,
      now: () => this.clock.now(),
      mayStart: () => this.mayStart(),
      contextOf: (attempt) => this.contextOf(attempt),
      changed: (over) => {
        if (over !== undefined) this.signals.delete(over);
        this.dispatchSoon();
      },
    };
  }

  private seriesHost(): SeriesHost {
    return {
      resultOf: (task, run) => Object.assign(new Handle(this, run), { task }).result,
      until: (holds) => this.waits.until(holds),
      steer: (kind, series) => {
        this.tell({ kind, series });
      },
    };
  }

  /** @internal Hands the outcome in and takes the next attempt for the same slot. */
  next(attempt: Attempt, outcome: Outcome): Attempt | undefined {
    const { core } = this;
    const now = this.clock.now();
    if (this.signals.size > 0) this.signals.delete(attempt);
    try {
      core.settle(now, attempt, outcome);
    } catch (error) {
      if (!(error instanceof StaleLeaseError)) throw error;
    }
    this.publish();
    // One that goes on after a wait has a slot of its own again, and is told of that like all others.
    let next = this.claimNext(now);
    while (next !== undefined && next.resumptions > 0) next = this.claimNext(now);
    this.publish();
    // One end may have let several tasks through, and the start may have a moment of its own.
    const hasRoom = this.local.running < this.local.spec.slots || this.pulling.isAwaited;
    if (hasRoom && core.state.index.size > 0) this.dispatchSoon();
    else if (core.hasMoments) this.setAlarm();
    return next;
  }

  private claimNext(now: Moment): Attempt | undefined {
    const { core, local } = this;
    return local.running < local.spec.slots && this.mayStart() ? core.claim(now, local) : undefined;
  }

  /** @internal What the attempt's handler is given. */
  contextOf(attempt: Attempt): RunningTask {
    return new RunningTask(attempt, this.core.state.dependencies, this.signals, this);
  }

  /** @internal */
  letWait(attempt: Attempt, awaited: string): boolean {
    const waits = this.core.waitFor(this.clock.now(), attempt, awaited);
    this.dispatchSoon();
    return waits;
  }

  private publish(): void {
    const { settled, resumed, aborted } = this.core.outbox;
    if (settled.length > 0) {
      // The usual one is popped: emptying an array gives its memory away, and the next push has to get it back.
      for (const task of settled.length === 1 ? [settled.pop() as Task] : settled.splice(0)) {
        (task.payload as Payload).settle(task);
      }
    }
    if (resumed.length > 0) for (const attempt of resumed.splice(0)) this.signals.get(attempt)?.goOn();
    if (aborted.length > 0) this.abort(aborted.splice(0));
    if (this.entrance !== undefined) this.entrance.letIn();
    this.waits.check();
  }

  private abort(aborted: readonly { readonly attempt: Attempt; readonly error: ErrorRecord }[]): void {
    for (const { attempt, error } of aborted) {
      this.signals.get(attempt)?.abort(error);
      this.signals.delete(attempt);
    }
  }
}
