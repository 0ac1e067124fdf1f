import { Core, topologicalOrder, type Explanation, type Request } from '../core/index.js';
import { refuseConfig, type TaskGraph } from '../model/index.js';
import type { WaitOptions } from './abortable.js';
import { Admission, type Load } from './admission.js';
import { Alarm } from './alarm.js';
import { clockOf, type Clock } from './clock.js';
import { Entrance, maxWaitingOf } from './entrance.js';
import { LoopDelay } from './loop-delay.js';
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
  /** @internal Only where there is a bound: without one, everybody comes in. */
  protected readonly entrance: Entrance | undefined;
  /** @internal */
  protected readonly alarm: Alarm;
  /** @internal */
  protected readonly loopDelay = new LoopDelay();
  private readonly admission: Admission | undefined;

  /** @internal */
  constructor(options: SchedulerOptions) {
    this.clock = clockOf(options.clock);
    this.core = new Core(coreOptions(options, this.clock.now()));
    const { maxPending } = this.core.state.pressure;
    const maxWaiting = maxWaitingOf(options.maxWaiting, maxPending);
    this.entrance = maxPending === Infinity ? undefined : new Entrance(this.core, maxWaiting);
    this.admission = Admission.of(options.admit, options.admitEvery, () => this.load());
    this.alarm = new Alarm(this.clock, () => {
      this.wake();
    });
  }

  /** @internal The moment that the alarm was set to has come. */
  protected abstract wake(): void;

  /** @internal Something may be able to start now. */
  protected abstract dispatchSoon(): void;

  /** Unfinished tasks that do not run. */
  get size(): number {
    return this.core.state.unstarted;
  }

  /** Whether `maxPending` was reached, and `lowWater` not since. */
  get saturated(): boolean {
    return this.core.state.pressure.saturated;
  }

  /** Tasks that wait to be let in. */
  get waiting(): number {
    return this.entrance?.size ?? 0;
  }

  /** Attempts that run now. */
  get running(): number {
    return this.core.state.running;
  }

  /** How busy the scheduler is: how much waits and for how long, and how much of what there is is in use. */
  load(): Load {
    const now = this.clock.now();
    const { waiting, saturated } = this;
    return { ...this.core.load(now), waiting, saturated, eventLoopDelayMs: this.loopDelay.read(now.mono) };
  }

  /** @internal Whether something may start now: asks the user, where there is anything to ask about. */
  protected mayStart(): boolean {
    const { admission, core } = this;
    if (admission === undefined) return true;
    const now = this.clock.now();
    // What is due by now is asked about too.
    if (core.nextWakeAt().wall <= now.wall) core.handle({ kind: 'tick', now });
    admission.askAgainAt = Infinity;
    return core.state.index.size > 0 && admission.allows(now.mono);
  }

  /** @internal */
  protected setAlarm(): void {
    const wake = this.core.nextWakeAt();
    const askAgainAt = this.admission?.askAgainAt ?? Infinity;
    if (askAgainAt === Infinity) this.alarm.set(wake, this.core.onlySeriesDue ? 'free' : 'alive');
    else this.alarm.set({ wall: wake.wall, mono: Math.min(wake.mono, askAgainAt) }, 'alive');
  }

  /** Why a task does not run, since when it does, or how it ended. */
  explain(id: string): Explanation {
    this.core.handle({ kind: 'tick', now: this.clock.now() });
    this.dispatchSoon();
    const outside = this.core.state.table.byId(id) === undefined ? this.entrance?.explain(id) : undefined;
    return outside ?? this.core.explain(id);
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
