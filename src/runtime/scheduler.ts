import { AsyncResource } from 'node:async_hooks';
import { Core, topologicalOrder, type Explanation, type Worker } from '../core/index.js';
import {
  ClosedError,
  StaleLeaseError,
  parseTaskOptions,
  recordError,
  refuseTask,
  type Attempt,
  type ErrorRecord,
  type Outcome,
  type TaskGraph,
  type TaskOptions,
} from '../model/index.js';
import { parseAfter, type After } from './after.js';
import { Alarm } from './alarm.js';
import { SystemClock } from './clock.js';
import { Handle, type Handler, type TaskContext } from './handle.js';
import { RunningTask } from './running-task.js';
import { applySettings, concurrencyOf, coreOptions, type SchedulerOptions } from './scheduler-options.js';

/** What may be said about a task when it is added. */
export interface AddOptions extends TaskOptions {
  /** The tasks to come after. */
  readonly after?: readonly After[] | undefined;
}

const BESIDE: ReadonlySet<string> = new Set(['after']);
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
export class Scheduler {
  private readonly core: Core;
  private readonly clock = new SystemClock();
  private readonly alarm: Alarm;
  private readonly worker: Worker;
  /** Slots run in a context of their own, not in that of whoever happened to add the first task. */
  private readonly root = new AsyncResource('precedence');
  private readonly signals = new Map<Attempt, RunningTask>();
  private idleWaiters: (() => void)[] = [];
  private dispatching = false;
  private closing: Promise<void> | undefined = undefined;

  constructor(options: SchedulerOptions = {}) {
    const now = this.clock.now();
    this.core = new Core(coreOptions(options, now));
    this.alarm = new Alarm(() => {
      this.wake();
    });
    this.worker = this.core.attach(now, {
      id: LOCAL,
      slots: concurrencyOf(options),
      capabilities: new Map(),
      strategy: undefined,
      filter: undefined,
      leaseMs: Infinity,
      retries: 0,
    });
    applySettings(this.core, options, now);
  }

  /** Unfinished tasks that do not run. */
  get size(): number {
    const { pending, running, abandoned } = this.core.state;
    // An attempt that was given up still runs, but its task does not.
    return pending - (running - abandoned.size);
  }

  /** Attempts that run now. */
  get running(): number {
    return this.core.state.running;
  }

  /** Adds a task. Malformed options throw at once, and so does a refusal (a duplicate, an unknown dependency). */
  add<Result>(run: Handler<Result>, options?: AddOptions): Handle<Result> {
    if (this.closing !== undefined) throw new ClosedError({});
    const spec = parseTaskOptions(options, '', BESIDE);
    if (typeof run !== 'function') refuseTask('run', run, 'a function');
    const dependencies = parseAfter(options?.after, this);
    const handle = new Handle<Result>(this, run);
    handle.task = this.core.submit(this.clock.now(), spec, handle, dependencies);
    this.dispatchSoon();
    return handle;
  }

  /** Takes an unfinished task back; one that has ended, or is unknown, is refused. */
  cancel(id: string, reason?: string): void {
    this.core.cancel(this.clock.now(), id, reason);
    this.dispatchSoon();
  }

  /** Why a task does not run, since when it does, or how it ended. */
  explain(id: string): Explanation {
    this.core.handle({ kind: 'tick', now: this.clock.now() });
    this.dispatchSoon();
    return this.core.explain(id);
  }

  /** The dependency graph as plain data, for `toDot`, `toMermaid` and `toGraph`. */
  graph(): TaskGraph {
    return this.core.graph();
  }

  /** The ids of all unfinished tasks, each after those it waits for. */
  topologicalOrder(): string[] {
    return topologicalOrder(this.core.state).map((task) => task.id);
  }

  /** Resolves when nothing is left to do. */
  async onIdle(): Promise<void> {
    if (this.core.state.pending === 0) return;
    await new Promise<void>((resolve) => this.idleWaiters.push(resolve));
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
    for (const task of [...this.core.state.table.all()]) {
      if (task.state === 'waiting' || task.state === 'delayed' || task.state === 'ready')
        this.cancel(task.id, 'closed');
    }
    this.dispatch();
    await this.onIdle();
    this.alarm.stop();
  }

  /** A burst of tasks is ordered before the first of them starts. */
  private dispatchSoon(): void {
    if (this.dispatching) return;
    this.dispatching = true;
    queueMicrotask(this.dispatch);
  }

  private readonly dispatch = (): void => {
    this.dispatching = false;
    this.publish();
    const { core, worker } = this;
    while (worker.running < worker.spec.slots) {
      const attempt = core.claim(this.clock.now(), worker);
      if (attempt === undefined) break;
      void this.root.runInAsyncScope(runSlot, undefined, this, attempt);
    }
    // A claim lets tasks expire that are past their time.
    this.publish();
    this.alarm.set(core.nextWakeAt(), this.clock);
  };

  private wake(): void {
    this.core.handle({ kind: 'tick', now: this.clock.fresh() });
    this.dispatch();
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
    const next = this.worker.running < this.worker.spec.slots ? core.claim(now, this.worker) : undefined;
    this.publish();
    // One end may have let several tasks through, and the start may have a moment of its own.
    if (this.worker.running < this.worker.spec.slots && core.state.index.size > 0) this.dispatchSoon();
    else if (core.hasMoments) this.alarm.set(core.nextWakeAt(), this.clock);
    return next;
  }

  /** @internal What the attempt's handler is given. */
  contextOf(attempt: Attempt): TaskContext {
    return new RunningTask(attempt, this.core.state.dependencies, this.signals);
  }

  private publish(): void {
    const { settled, aborted } = this.core.outbox;
    if (settled.length > 0) {
      // The usual one is popped: emptying an array gives its memory away, and the next push has to get it back.
      if (settled.length === 1) (settled.pop()?.payload as Handle<unknown>).settle();
      else for (const task of settled.splice(0)) (task.payload as Handle<unknown>).settle();
      if (this.core.state.pending === 0) this.resolveIdle();
    }
    if (aborted.length > 0) this.abort(aborted.splice(0));
  }

  private abort(aborted: readonly { readonly attempt: Attempt; readonly error: ErrorRecord }[]): void {
    for (const { attempt, error } of aborted) this.signals.get(attempt)?.abort(error);
  }

  private resolveIdle(): void {
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}

/** One busy slot: runs attempt after attempt until there is none. */
async function runSlot(scheduler: Scheduler, first: Attempt): Promise<void> {
  let attempt: Attempt | undefined = first;
  while (attempt !== undefined) {
    const handle = attempt.task.payload as Handle<unknown>;
    let outcome: Outcome;
    try {
      outcome = { kind: 'succeeded', value: await handle.run(scheduler.contextOf(attempt)) };
    } catch (error) {
      outcome = { kind: 'failed', error: recordError(error), retryable: true, cause: error };
    }
    attempt = scheduler.next(attempt, outcome);
  }
}
