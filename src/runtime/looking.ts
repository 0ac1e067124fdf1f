import { topologicalOrder, type Explanation, type Statistics } from '../core/index.js';
import { refuseConfig, refuseTask, type Task, type TaskGraph } from '../model/index.js';
import type { EventName, Listener, SchedulerEvents } from '../ports/events.js';
import type { WaitOptions } from './abortable.js';
import type { Load } from './admission.js';
import { Engine } from './engine.js';
import type { Application } from './entrance.js';
import { checkListener } from './events.js';
import type { Handle } from './handle.js';
import { handleFor } from './recovered-task.js';
import type { SchedulerOptions } from './scheduler-options.js';
import { showAs } from './shown.js';
import { viewOf, viewOutside, type TaskView } from './task-view.js';

/** Looking at a scheduler, and waiting for it: what changes nothing. */
export abstract class Looking {
  static {
    showAs(Looking, 'Scheduler', ({ size, running, waiting }) => ({ size, running, waiting }));
  }

  /** @internal */
  protected readonly engine: Engine;

  /** @internal */
  constructor(options: SchedulerOptions) {
    this.engine = new Engine(options, this);
  }

  /** Unfinished tasks that do not run. */
  get size(): number {
    return this.engine.core.state.unstarted;
  }

  /** Whether `maxPending` was reached, and `lowWater` not since. */
  get saturated(): boolean {
    return this.engine.core.state.pressure.saturated;
  }

  /** Tasks that wait to be let in. */
  get waiting(): number {
    return this.engine.arrivals.entrance?.size ?? 0;
  }

  /** Attempts that run now. */
  get running(): number {
    return this.engine.core.state.running;
  }

  /** The task as it is now, also while it waits to be let in; `undefined` when it is unknown or forgotten. */
  get(id: string): TaskView | undefined {
    const task = this.taskOf(id);
    if (task !== undefined) return viewOf(task);
    const outside = this.outside(id);
    return outside === undefined ? undefined : viewOutside(outside);
  }

  /**
   * A handle of the task with this id: the one that adding it has given, or, for a task that was added in another process or
   * by a series, a new one. `undefined` when it is unknown or forgotten; what is back after a restart is there once `start` has
   * resolved.
   */
  handle(id: string): Handle<unknown> | undefined {
    const task = this.taskOf(id);
    return task === undefined ? this.outside(id)?.handle : handleFor(task, this.engine);
  }

  /**
   * The tasks that have not started, in the order in which they would if all of them could now: the ready ones, those of
   * paused channels, the delayed by their time, and those that wait for others. Looking takes none; it costs O(n log n).
   */
  pending(): TaskView[] {
    this.engine.tell({ kind: 'tick' });
    // An attempt that waits stands in line with the others, but has started.
    return this.engine.core
      .pending()
      .filter(({ attempt }) => attempt === undefined)
      .map(viewOf);
  }

  /** How many tasks there are and were, by state, channel and type, with waits and durations; costs O(n). */
  stats(): Statistics {
    return this.engine.core.statistics(this.engine.now());
  }

  /** How busy the scheduler is: how much waits and for how long, and how much of what there is is in use. */
  load(): Load {
    return this.engine.load();
  }

  /** Whether the whole scheduler is paused. */
  get paused(): boolean {
    return this.engine.isPaused;
  }

  /** Why a task does not run, since when it does, or how it ended. */
  explain(id: string): Explanation {
    return this.engine.explain(checkId(id));
  }

  /** The dependency graph as plain data, for `toDot`, `toMermaid` and `toGraph`. */
  graph(): TaskGraph {
    return this.engine.core.graph();
  }

  /** What decides who is next, such as "priority → channel → FIFO", made by the strategy: the scheduler's, or a worker's. */
  describeOrder(workerId?: string): string {
    return this.engine.core.describeOrder(workerId);
  }

  /** The ids of all unfinished tasks, each after those it waits for. */
  topologicalOrder(): string[] {
    return topologicalOrder(this.engine.core.state).map((task) => task.id);
  }

  /**
   * Tells the listener each time that something happens, in the order in which it does. It is told in a turn of its own,
   * so it may add, cancel or close; what comes of that is told afterwards. One that throws or rejects disturbs nobody, and
   * becomes the event `error`.
   *
   * @example
   * ```ts
   * scheduler.on('failed', ({ taskId, attempt, error }) => console.error(`${taskId}#${attempt}`, error));
   * ```
   */
  on<Name extends EventName>(event: Name, listener: Listener<SchedulerEvents[Name]>): this {
    checkListener(event, listener);
    this.engine.events.on(event, listener);
    return this;
  }

  /** Tells the listener the next time only. */
  once<Name extends EventName>(event: Name, listener: Listener<SchedulerEvents[Name]>): this {
    checkListener(event, listener);
    this.engine.events.once(event, listener);
    return this;
  }

  /** Tells the listener no more; without any listener, nothing is kept track of. */
  off<Name extends EventName>(event: Name, listener: Listener<SchedulerEvents[Name]>): this {
    checkListener(event, listener);
    this.engine.events.off(event, listener);
    return this;
  }

  /** Resolves when every task that was added has ended. */
  async onIdle(options?: WaitOptions): Promise<void> {
    await this.engine.waits.until(() => this.engine.core.state.pending === 0, options);
  }

  /** Resolves when every task that was added has started, or ended without. */
  async onEmpty(options?: WaitOptions): Promise<void> {
    await this.engine.waits.until(() => this.size === 0, options);
  }

  /** Resolves when fewer than so many tasks have not started. */
  async onSizeLessThan(limit: number, options?: WaitOptions): Promise<void> {
    if (!(Number.isSafeInteger(limit) && limit > 0)) refuseConfig('limit', limit, 'a whole number of at least 1');
    await this.engine.waits.until(() => this.size < limit, options);
  }

  /** @internal One that waits to be let in. */
  protected outside(id: string): Application | undefined {
    return this.engine.arrivals.entrance?.named(id);
  }

  private taskOf(id: string): Task | undefined {
    return this.engine.core.state.table.byId(checkId(id));
  }
}

function checkId(id: unknown): string {
  return typeof id === 'string' ? id : refuseTask('id', id, 'the id of a task, such as handle.id');
}
