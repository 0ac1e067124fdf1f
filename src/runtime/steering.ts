import { checkStrategy, type StrategyChoice } from '../core/index.js';
import {
  UnknownTaskError,
  fieldsOf,
  isFinal,
  parseChoice,
  parseLevel,
  parseName,
  plainObject,
  refuseConfig,
  refuseTask,
  refuseUnknown,
  type FailurePolicy,
  type Priority,
  type RateOptions,
  type Task,
} from '../model/index.js';
import { idOf, type TaskName } from './after.js';
import type { Application } from './entrance.js';
import { checkReason } from './cancel-reason.js';
import { Handle } from './handle.js';
import { checkDependencies } from './durable.js';
import { handleOf } from './recovered-task.js';
import { capacityRequest } from './limit-options.js';
import { Looking } from './looking.js';
import { TaskReference } from './reference.js';
import { limitRequests, parseConcurrency, type SchedulerOptions } from './scheduler-options.js';
import { viewOf, viewOutside, type TaskFilter } from './task-view.js';

/** How tasks are taken back. */
export interface CancelOptions {
  /** What the error of their handles tells. */
  readonly reason?: string | undefined;
  /** Takes back whoever comes after them too; otherwise the policy of each dependency decides. */
  readonly cascade?: boolean | undefined;
}

/** Changing what waits, what there is and who goes first. */
export abstract class Steering extends Looking {
  /**
   * Takes tasks back, with their children unless those are detached, and says how many that were: one by its handle or
   * id, or all unfinished ones that a function accepts, those that wait to be let in too. One that has ended is left as it
   * is; one that is unknown is refused.
   */
  cancel(which: TaskName | TaskFilter, options?: CancelOptions): number {
    const { engine } = this;
    const how = parseCancelOptions(options);
    if (typeof which === 'function') {
      const meant = this.unfinished().filter((task) => which(viewOf(task)));
      const isMeant = (application: Application): boolean => which(viewOutside(application));
      const outside = engine.arrivals.entrance?.cancelThose(isMeant, how.reason) ?? 0;
      return outside + engine.cancel(meant, how);
    }
    const id = idOf(which, 'task', engine);
    const { table } = engine.core.state;
    // A handle means its own task, not one that has taken its id since.
    const handle = which instanceof TaskReference ? which.handle : which;
    const task = (handle instanceof Handle ? handle.task : undefined) ?? table.byId(id);
    if (task !== undefined) return engine.cancel(task, how);
    if (engine.cancelOutside(handle instanceof Handle ? handle : id, how.reason)) return 1;
    // What is forgotten has ended.
    return table.tombstone(id) === undefined ? engine.cancel(id, how) : 0;
  }

  /** Takes back all tasks that have not begun, also those that wait to be let in, and says how many that were. */
  clear(): number {
    const { engine } = this;
    const unbegun = this.unfinished().filter((task) => task.attempt === undefined);
    const outside = engine.arrivals.entrance?.cancelAll('cleared') ?? 0;
    return outside + engine.cancel(unbegun, { reason: 'cleared' });
  }

  /** Runs a failed task again, with all its attempts before it; its handle's `result` is a new promise from then on. */
  retry(task: TaskName): void {
    const known = this.taskFor(task);
    this.engine.tell({ kind: 'retry', task: known.id });
    handleOf(known)?.renew();
  }

  /** Changes how urgent an unfinished task is, and with it what it waits for. */
  setPriority(task: TaskName, priority: Priority): void {
    const level = parseLevel(priority);
    const id = idOf(task, 'task', this.engine);
    const outside = this.engine.core.state.table.byId(id) === undefined ? this.outside(id) : undefined;
    if (outside !== undefined) outside.handle.setPriority(level);
    else this.engine.tell({ kind: 'setPriority', task: this.taskFor(task).id, level });
  }

  /** Lets a task that has not begun wait for one more; refused where they would wait for each other in a circle. */
  addDependency(
    task: TaskName,
    dependency: TaskName,
    options: { readonly onFailure?: FailurePolicy | undefined } = {},
  ): void {
    const { id, spec } = this.taskFor(task);
    const onFailure = parsePolicy(options) ?? spec.onDependencyFailure;
    const dependencyId = idOf(dependency, 'dependency', this.engine);
    const { table } = this.engine.core.state;
    if (table.byId(dependencyId) === undefined && this.outside(dependencyId) !== undefined) {
      throw new UnknownTaskError({ taskId: dependencyId, isOutside: true });
    }
    if (this.engine.keeping !== undefined) {
      checkDependencies(spec, [dependencyId], (ref) => table.byId(ref as string)?.spec);
    }
    this.engine.tell({ kind: 'addDependency', task: id, dependency: dependencyId, onFailure });
  }

  /** Lets a task that has not begun wait for one less. */
  removeDependency(task: TaskName, dependency: TaskName): void {
    const { id } = this.taskFor(task);
    this.engine.tell({
      kind: 'removeDependency',
      task: id,
      dependency: idOf(dependency, 'dependency', this.engine),
    });
  }

  /** Orders all ready tasks anew, those of workers without a strategy of their own too; the next start obeys it. */
  setStrategy(strategy: StrategyChoice | 'weighted_random'): void {
    this.engine.tell({ kind: 'setStrategy', strategy: checkStrategy(strategy, 'strategy') });
  }

  /** Changes how many tasks run at a time in this process. What runs beyond that ends as usual. */
  setConcurrency(concurrency: number): void {
    this.engine.closing.checkSteering();
    this.engine.setConcurrency(parseConcurrency(concurrency));
  }

  /** Changes limits, in the form of the option `limits`; those not named stay, and `Infinity` lifts one. All or none. */
  setLimit(limits: NonNullable<SchedulerOptions['limits']>): void {
    for (const request of limitRequests(plainObject(limits, 'limits', refuseConfig))) this.engine.tell(request);
  }

  /**
   * Changes how many units there are of a resource, or at which rate it may be used. Below what is held, nothing more
   * starts until that is drained; tokens that were spent stay spent. A rate of `Infinity` is no limit any more.
   */
  setCapacity(resource: string, capacity: number | RateOptions): void {
    this.engine.tell(capacityRequest(resource, capacity));
  }

  /** Changes a channel's share of the turns; `*` is for every channel without a weight of its own. */
  setWeight(channel: string, weight: number): void {
    this.engine.tell({ kind: 'setWeight', channel: parseName(channel, 'channel', refuseConfig), weight });
  }

  /** Starts nothing more, in this process or for workers, until it is resumed; what has begun goes on. */
  pause(): void {
    this.engine.isPaused = true;
  }

  /** Starts tasks again. */
  resume(): void {
    this.engine.isPaused = false;
    this.engine.dispatchSoon();
  }

  /** Starts nothing more of a channel; what runs in it ends as usual. */
  pauseChannel(channel: string): void {
    this.engine.tell({ kind: 'pauseChannel', channel });
  }

  /** Lets a paused channel take its turns again. */
  resumeChannel(channel: string): void {
    this.engine.tell({ kind: 'resumeChannel', channel });
  }

  /** Takes no more tasks for a channel; what waits in it still runs. */
  closeChannel(channel: string): void {
    this.engine.tell({ kind: 'closeChannel', channel });
  }

  /** Takes tasks for a closed channel again, or for one that `channels.only` does not list. */
  openChannel(channel: string): void {
    this.engine.tell({ kind: 'openChannel', channel });
  }

  private unfinished(): Task[] {
    return [...this.engine.core.state.table.all()].filter(({ state }) => !isFinal(state));
  }

  private taskFor(name: TaskName): Task {
    const taskId = idOf(name, 'task', this.engine);
    const task = this.engine.core.state.table.byId(taskId);
    if (task === undefined) throw new UnknownTaskError({ taskId, isOutside: this.outside(taskId) !== undefined });
    return task;
  }
}

const CANCEL_OPTIONS = ['reason', 'cascade'];
const POLICIES = ['fail', 'skip', 'run'] as const;

function parsePolicy(options: unknown): FailurePolicy | undefined {
  const given = new Map(fieldsOf(options, 'options', refuseTask));
  for (const [key, value] of given) {
    if (key !== 'onFailure') refuseUnknown('options', key, value, ['onFailure'], refuseTask);
  }
  const onFailure = given.get('onFailure');
  return onFailure === undefined ? undefined : parseChoice(onFailure, POLICIES, 'onFailure', refuseTask);
}

function parseCancelOptions(options: unknown): CancelOptions {
  if (options === undefined) return {};
  const given = new Map(fieldsOf(options, 'options', refuseTask));
  for (const [key, value] of given) {
    if (!CANCEL_OPTIONS.includes(key)) refuseUnknown('options', key, value, CANCEL_OPTIONS, refuseTask);
  }
  const reason = checkReason(given.get('reason'));
  const cascade = given.get('cascade');
  if (cascade !== undefined && typeof cascade !== 'boolean') return refuseTask('cascade', cascade, 'true or false');
  return { reason, cascade };
}
