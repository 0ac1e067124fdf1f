import { Core, topologicalOrder, type Explanation, type Request } from '../core/index.js';
import { refuseConfig, type TaskGraph } from '../model/index.js';
import type { WaitOptions } from './abortable.js';
import { clockOf, type Clock } from './clock.js';
import { coreOptions, type SchedulerOptions } from './scheduler-options.js';
import { Waits } from './waits.js';

/** Looking at a scheduler, steering it, and waiting for it: all that runs nothing itself. */
export abstract class Controls {
  /** @internal */
  protected readonly clock: Clock;
  /** @internal */
  protected readonly core: Core;
  /** @internal */
  protected readonly waits = new Waits();

  /** @internal */
  constructor(options: SchedulerOptions) {
    this.clock = clockOf(options.clock);
    this.core = new Core(coreOptions(options, this.clock.now()));
  }

  /** @internal Something may be able to start now. */
  protected abstract dispatchSoon(): void;

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

  /** Changes how many units there are of a resource. Below what is held, nothing more starts until that is drained. */
  setCapacity(resource: string, units: number): void {
    this.tell({ kind: 'setCapacity', resource, units });
  }

  /** Starts nothing more of a channel; what runs in it ends as usual. */
  pauseChannel(channel: string): void {
    this.tell({ kind: 'pauseChannel', channel });
  }

  /** Lets a paused channel take its turns again. */
  resumeChannel(channel: string): void {
    this.tell({ kind: 'resumeChannel', channel });
  }

  /** Takes no more tasks for a channel; what waits in it still runs. */
  closeChannel(channel: string): void {
    this.tell({ kind: 'closeChannel', channel });
  }

  /** Takes tasks for a closed channel again, or for one that `channels.only` does not list. */
  openChannel(channel: string): void {
    this.tell({ kind: 'openChannel', channel });
  }

  /** Resolves when every task that was added has ended. */
  async onIdle(options?: WaitOptions): Promise<void> {
    await this.waits.until(() => this.core.state.pending === 0, options);
  }

  /** Resolves when every task that was added has started, or ended without. */
  async onEmpty(options?: WaitOptions): Promise<void> {
    await this.waits.until(() => this.size === 0, options);
  }

  /** Resolves when fewer than so many tasks have not started. */
  async onSizeLessThan(limit: number, options?: WaitOptions): Promise<void> {
    if (!(Number.isSafeInteger(limit) && limit > 0)) refuseConfig('limit', limit, 'a whole number of at least 1');
    await this.waits.until(() => this.size < limit, options);
  }

  /** @internal */
  protected tell(request: Request): void {
    this.core.handle({ ...request, now: this.clock.now() });
    this.dispatchSoon();
  }
}
