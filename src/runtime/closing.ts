import { holdingAttempts, type Cancellation, type Core, type Request } from '../core/index.js';
import {
  ClosedError,
  fieldsOf,
  isFinal,
  parseDuration,
  refuseConfig,
  refuseUnknown,
  type Attempt,
  type Duration,
  type Outcome,
  type SchedulerError,
  type Task,
} from '../model/index.js';
import type { Arrivals } from './arrivals.js';
import { LONGEST_TIMER_MS, type Clock, type Timer } from './clock.js';
import { isDurable } from './durable.js';
import type { Keeping } from './keeping.js';
import type { Pulling } from './pulling.js';
import type { Waits } from './waits.js';

/** How a scheduler closes. */
export interface CloseOptions {
  /** How long what runs may go on before it is aborted; ten seconds unless given. `Infinity` waits for its end. */
  readonly drain?: Duration | undefined;
  /** How long what was aborted may take to notice before nobody waits for it any more; one second unless given. */
  readonly grace?: Duration | undefined;
}

const DRAIN_MS = 10_000;
const GRACE_MS = 1_000;

/** What closing needs of its scheduler. */
export interface ClosingHost {
  readonly core: Core;
  readonly clock: Clock;
  readonly arrivals: Arrivals;
  readonly pulling: Pulling;
  readonly waits: Waits;
  readonly keeping: Keeping | undefined;
  readonly attempts: { abortAll(cause: SchedulerError): void };
  tell(request: Request): void;
  cancel(tasks: readonly Task[], how: Cancellation): number;
  /** Tells what has happened. */
  dispatch(): void;
  /** Hands in how an attempt ended. */
  finish(attempt: Attempt, outcome: Outcome): void;
  /** Lets go of what is left: timers, executors. */
  stop(): Promise<void>;
}

/** The end of a scheduler. */
export class Closing {
  hasBegun = false;
  /** Done when everything is closed. */
  afterwards: (() => void) | undefined = undefined;
  private promise: Promise<void> | undefined = undefined;
  private isOver = false;

  constructor(private readonly host: ClosingHost) {}

  /** Refuses whatever would begin something in a scheduler that closes. */
  checkOpen(): void {
    if (this.hasBegun) throw new ClosedError({});
  }

  /** Refuses whatever would change something when that is kept by nobody, and when nobody is there any more to act upon it. */
  checkSteering(): void {
    this.host.keeping?.check();
    if (this.isOver || this.host.keeping?.isOver === true) throw new ClosedError({});
  }

  /** Begins to close, or gives the promise of the first time. */
  begin(options: CloseOptions | undefined): Promise<void> {
    const { drainMs, graceMs } = parseCloseOptions(options);
    this.hasBegun = true;
    const { keeping } = this.host;
    this.promise ??= keeping === undefined ? this.run(drainMs, graceMs) : this.runKept(keeping, drainMs, graceMs);
    return this.promise;
  }

  /** Nothing more starts, so that what has not begun, or comes back for another attempt, has ended. */
  sweep(): void {
    if (this.host.core.state.unstarted === 0) return;
    const isKept = (task: Task): boolean => this.host.keeping !== undefined && isDurable(task.spec);
    const unbegun = this.unfinished().filter((task) => task.attempt === undefined && !isKept(task));
    if (unbegun.length > 0) this.host.cancel(unbegun, { closing: true });
  }

  private async run(drainMs: number, graceMs: number): Promise<void> {
    const { core, pulling, arrivals } = this.host;
    pulling.close();
    arrivals.entrance?.close();
    for (const series of [...core.state.series.keys()]) this.host.tell({ kind: 'cancelSeries', series });
    this.sweep();
    this.host.dispatch();
    await this.within(drainMs, () => core.state.pending === 0);
    if (core.state.pending > 0) {
      this.host.cancel(this.unfinished(), { closing: true });
      this.host.dispatch();
      pulling.releaseAll();
    }
    await this.within(graceMs, () => core.state.running === 0);
    await this.host.stop();
    this.isOver = true;
    this.afterwards?.();
  }

  /** With a store: what is unfinished stays there. For space in it nobody waits longer than for what runs. */
  private async runKept(keeping: Keeping, drainMs: number, graceMs: number): Promise<void> {
    const { pulling, arrivals, waits } = this.host;
    const timer = this.timer(drainMs + graceMs, () => {
      keeping.hurry();
    });
    await keeping.ready();
    pulling.close();
    arrivals.entrance?.close();
    if (keeping.isOpen) await this.part(keeping, drainMs, graceMs);
    await this.host.stop();
    await keeping.close();
    timer?.cancel();
    this.isOver = true;
    waits.fail(new ClosedError({ kept: true }));
    this.afterwards?.();
  }

  /** What has not begun stays in the store, and so does what does not come to an end in time: that is given back unharmed. */
  private async part(keeping: Keeping, drainMs: number, graceMs: number): Promise<void> {
    const { core, pulling, attempts } = this.host;
    const hasEnded = (): boolean => core.state.running === 0;
    keeping.part();
    this.sweep();
    this.host.dispatch();
    await this.within(drainMs, hasEnded);
    keeping.giveBack();
    if (core.state.running + core.state.suspended.size === 0) return;
    attempts.abortAll(new ClosedError({ kept: true }));
    pulling.releaseAll();
    await this.within(graceMs, hasEnded);
    for (const attempt of holdingAttempts(core.state)) this.host.finish(attempt, { kind: 'aborted' });
  }

  /** Waits until it holds, but not for longer. */
  private async within(ms: number, holds: () => boolean): Promise<void> {
    const controller = new AbortController();
    const timer = this.timer(ms, () => {
      controller.abort();
    });
    try {
      await this.host.waits.until(holds, { signal: controller.signal });
    } catch {
      // The time is up.
    }
    timer?.cancel();
  }

  /** Beside the alarm, which belongs to the core's moments. */
  private timer(ms: number, ring: () => void): Timer | undefined {
    return ms === Infinity ? undefined : this.host.clock.setTimer(ring, Math.min(ms, LONGEST_TIMER_MS));
  }

  private unfinished(): Task[] {
    return [...this.host.core.state.table.all()].filter(({ state }) => !isFinal(state));
  }
}

const NAMES = ['drain', 'grace'];

function parseCloseOptions(options: unknown): { readonly drainMs: number; readonly graceMs: number } {
  const given = new Map(options === undefined ? [] : fieldsOf(options, 'options', refuseConfig));
  for (const [key, value] of given) {
    if (!NAMES.includes(key)) refuseUnknown('options', key, value, NAMES, refuseConfig);
  }
  const duration = (name: string, unless: number): number => {
    const value = given.get(name);
    if (value === undefined) return unless;
    return value === Infinity ? Infinity : parseDuration(value, name, refuseConfig);
  };
  return { drainMs: duration('drain', DRAIN_MS), graceMs: duration('grace', GRACE_MS) };
}
