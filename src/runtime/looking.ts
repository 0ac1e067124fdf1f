import { topologicalOrder, type Explanation } from '../core/index.js';
import { refuseConfig, type TaskGraph } from '../model/index.js';
import type { WaitOptions } from './abortable.js';
import type { Load } from './admission.js';
import { Engine } from './engine.js';
import type { SchedulerOptions } from './scheduler-options.js';

/** Looking at a scheduler, and waiting for it: what changes nothing. */
export abstract class Looking {
  /** @internal */
  protected readonly engine: Engine;

  /** @internal */
  constructor(options: SchedulerOptions) {
    this.engine = new Engine(options);
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
    return this.engine.entrance?.size ?? 0;
  }

  /** Attempts that run now. */
  get running(): number {
    return this.engine.core.state.running;
  }

  /** How busy the scheduler is: how much waits and for how long, and how much of what there is is in use. */
  load(): Load {
    return this.engine.load();
  }

  /** Why a task does not run, since when it does, or how it ended. */
  explain(id: string): Explanation {
    const { core, entrance } = this.engine;
    this.engine.tell({ kind: 'tick' });
    const outside = core.state.table.byId(id) === undefined ? entrance?.explain(id) : undefined;
    return outside ?? core.explain(id);
  }

  /** The dependency graph as plain data, for `toDot`, `toMermaid` and `toGraph`. */
  graph(): TaskGraph {
    return this.engine.core.graph();
  }

  /** The ids of all unfinished tasks, each after those it waits for. */
  topologicalOrder(): string[] {
    return topologicalOrder(this.engine.core.state).map((task) => task.id);
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
}
