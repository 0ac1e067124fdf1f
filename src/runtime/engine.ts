import { AsyncResource } from 'node:async_hooks';
import { Core, type Balance, type Cancellation, type Explanation, type Request, type Worker } from '../core/index.js';
import { StaleLeaseError, Task, isFinal, type Attempt, type Moment, type Outcome } from '../model/index.js';
import { checkLogger } from '../ports/logger.js';
import { Admission, loadNow, type Load } from './admission.js';
import { Alarm } from './alarm.js';
import { Arrivals, type ArrivalsHost } from './arrivals.js';
import { Breath } from './breath.js';
import { callerContext } from './caller-context.js';
import { clockOf, type Clock } from './clock.js';
import { Closing, type ClosingHost } from './closing.js';
import { Diagnostics } from './diagnostics.js';
import { Events } from './events.js';
import { Executing, type ExecutingHost } from './executing.js';
import { explainTask } from './explaining.js';
import type { Handle } from './handle.js';
import { Intake } from './intake.js';
import { Keeping } from './keeping.js';
import { Leases } from './leases.js';
import { LoopDelay } from './loop-delay.js';
import { Publishing } from './publishing.js';
import { Pulling } from './pulling.js';
import { Repeating } from './repeating.js';
import { RunningAttempts, type AttemptsHost } from './running-attempts.js';
import type { RunningTask } from './running-task.js';
import * as settings from './scheduler-options.js';
import { SettlingIn, type SettlingHost } from './settling-in.js';
import { runSlot, type SlotHost } from './slot.js';
import { Waits } from './waits.js';
import { localWorker } from './worker-options.js';

/** What makes a core go: it brings the time, runs attempts here, sets the one alarm, and tells whoever waits. */
export class Engine implements AttemptsHost, ExecutingHost, SlotHost, ArrivalsHost, ClosingHost, SettlingHost {
  readonly clock: Clock;
  readonly core: Core;
  readonly events: Events;
  private readonly diagnostics: Diagnostics;
  /** Only with a store. */
  readonly keeping: Keeping | undefined;
  readonly waits = new Waits(() => this.keeping?.mayTell() ?? true);
  readonly arrivals: Arrivals;
  /** Where whatever is added comes through. */
  readonly intake: Intake;
  readonly pulling: Pulling;
  readonly repeating = new Repeating(this);
  private readonly publishing: Publishing;
  /** What handlers that run have asked for. */
  readonly attempts = new RunningAttempts(this);
  /** The leases of attempts that run here or in executors. */
  readonly leases: Leases;
  /** Only where there are executors beside the slots of this process. */
  readonly executing: Executing | undefined;
  readonly alarm: Alarm;
  private readonly loopDelay = new LoopDelay();
  readonly admission: Admission | undefined;
  local: Worker;
  readonly balance: Balance;
  /** Whether nothing more starts. */
  isPaused = false;
  /** Slots run in a context of their own, not in that of whoever happened to add the first task. */
  private readonly root = new AsyncResource('precedence');
  private readonly keepsContext: boolean;
  private dispatching = false;
  readonly breath: Breath;
  readonly closing = new Closing(this);
  /** Whether it is closed and waits for no moment any more. */
  private isStopped = false;

  constructor(
    readonly options: settings.SchedulerOptions,
    scheduler: object,
  ) {
    this.keeping = Keeping.of(options, new SettlingIn(this));
    this.clock = this.keeping?.clock ?? clockOf(options.clock);
    this.breath = new Breath(this.clock, this.dispatch);
    this.keepsContext = settings.keepsContext(options);
    const now = this.clock.now();
    this.core = new Core(settings.coreOptions(options, now));
    this.balance = settings.balanceOf(options);
    this.events = new Events(this.core, this.clock, this.keeping);
    this.diagnostics = new Diagnostics(this.events, scheduler);
    if (options.logger !== undefined) this.attempts.logger = checkLogger(options.logger);
    this.attempts.onProgress = (attempt, progress) => {
      this.events.reporter.progressed(attempt, progress);
    };
    this.arrivals = new Arrivals(this, options.maxWaiting);
    this.intake = new Intake(this, this.arrivals);
    this.admission = Admission.of(options.admit, options.admitEvery, this);
    this.leases = new Leases(this.core);
    this.alarm = new Alarm(this.clock, () => {
      this.tick();
      this.dispatch();
    });
    this.local = this.core.attach(now, localWorker(settings.concurrencyOf(options)));
    this.executing = Executing.of(options.executors, this.local, this);
    settings.applySettings(this.core, options, now);
    this.pulling = new Pulling(this);
    this.publishing = new Publishing(this);
  }

  now(): Moment {
    return this.clock.now();
  }

  get isClosing(): boolean {
    return this.closing.hasBegun;
  }

  /** Lets happen what is due by now. */
  tick(): void {
    const now = this.clock.now();
    this.leases.renew(now);
    this.core.handle({ kind: 'tick', now });
  }

  /** Sends a command that nobody waits for an answer to. */
  tell(request: Request): void {
    this.closing.checkSteering();
    this.core.handle({ ...request, now: this.clock.now() });
    this.keeping?.heed(request);
    this.dispatchSoon();
  }

  nameOutside(): string {
    return this.arrivals.nextName();
  }

  capture(): AsyncResource | undefined {
    return this.keepsContext ? callerContext() : undefined;
  }

  /** Takes back a task, or those of several that are unfinished, in one step; says how many that were with their children. */
  cancel(tasks: Task | string | readonly Task[], how: Cancellation): number {
    this.keeping?.check();
    if (tasks instanceof Task && isFinal(tasks.state)) return 0;
    this.closing.checkSteering();
    const count = this.core.cancel(this.clock.now(), tasks, how);
    this.dispatchSoon();
    return count;
  }

  setConcurrency(slots: number): void {
    this.local = this.core.attach(this.clock.now(), { ...this.local.spec, slots });
    this.dispatchSoon();
  }

  explain(id: string): Explanation {
    return explainTask(id, this);
  }

  cancelOutside(task: Handle<unknown> | string, reason: string | undefined): boolean {
    return this.arrivals.cancel(task, reason);
  }

  /** How busy everything is. */
  load(): Load {
    return loadNow(this.core, this.clock.now(), this.arrivals.entrance?.size ?? 0, this.loopDelay);
  }

  async stop(): Promise<void> {
    await this.executing?.close();
    this.isStopped = true;
    this.alarm.stop();
    this.loopDelay.stop();
  }

  /** Something may be able to start now. A burst of tasks is ordered before the first of them starts. */
  dispatchSoon(): void {
    if (this.dispatching) return;
    this.dispatching = true;
    queueMicrotask(this.dispatch);
  }

  /** Tells what has happened, and starts what can. */
  readonly dispatch = (): void => {
    this.dispatching = false;
    this.breath.spend();
    this.diagnostics.look();
    if (this.keeping?.isOpen === false) return;
    if (this.isClosing) this.closing.sweep();
    this.publishing.publish();
    if (this.executing === undefined) this.fillSlots();
    else this.executing.distribute();
    const { preemption, suspended } = this.core.state;
    // What has begun goes on also while nothing starts.
    if (suspended.size > 0) this.pulling.goOn(this.isHeldBack ? [this.local, ...(this.executing?.living() ?? [])] : []);
    if (this.pulling.isAwaited && !this.breath.isOut) this.pulling.serve();
    if (preemption.waiting !== undefined && !this.breath.isOut && this.mayStart()) this.core.preempt(this.clock.now());
    // A claim lets tasks expire that are past their time.
    this.publishing.publish();
    this.keeping?.seal();
    this.loopDelay.rest(this.clock.now().mono);
    this.setAlarm();
  };

  private fillSlots(): void {
    for (let next = this.claimHere(); next !== undefined; next = this.claimHere()) {
      if (next.resumptions === 0) this.startHere(next);
    }
  }

  startHere(attempt: Attempt): void {
    const { keeping } = this;
    if (keeping === undefined) this.root.runInAsyncScope(runSlot, undefined, this, attempt);
    else
      keeping.begin(() => {
        this.root.runInAsyncScope(runSlot, undefined, this, attempt);
      });
  }

  private get startsNothing(): boolean {
    return this.isPaused || this.isClosing || this.keeping?.letsIn === false;
  }

  /** Whether nothing new starts at the moment, as far as one knows without asking the user. */
  private get isHeldBack(): boolean {
    return this.startsNothing || (this.admission?.askAgainAt ?? Infinity) !== Infinity;
  }

  /** Whether something may start now: asks the user, where there is anything to ask about. */
  mayStart(): boolean {
    const { admission, core } = this;
    if (this.startsNothing) return false;
    if (admission === undefined) return true;
    const now = this.clock.now();
    // What is due by now is asked about too.
    if (core.nextWakeAt().wall <= now.wall) this.tick();
    admission.askAgainAt = Infinity;
    return core.state.index.size > 0 && admission.allows(now.mono);
  }

  private setAlarm(): void {
    if (this.isStopped) return;
    const { wall, mono } = this.core.nextWakeAt();
    const askAgainAt = Math.min(this.admission?.askAgainAt ?? Infinity, this.executing?.askAgainAt ?? Infinity);
    const hold = askAgainAt === Infinity && !this.core.keepsAlive ? 'free' : 'alive';
    // In the order of a wake, for the reason given there.
    this.alarm.set({ mono: Math.min(mono, this.leases.nextAt, askAgainAt), wall }, hold);
  }

  /** Hands the outcome in and takes the next attempt for the same slot. */
  next(attempt: Attempt, outcome: Outcome): Attempt | undefined {
    const { core } = this;
    if (this.keeping !== undefined) {
      // Whatever is next starts when it is kept that it does.
      this.finish(attempt, this.keeping.outcome(attempt, outcome));
      return undefined;
    }
    this.breath.spend();
    const now = this.clock.now();
    this.attempts.forget(attempt);
    this.settle(now, attempt, outcome);
    // Whoever waits to be let in comes before the claim; all else is told once, after it.
    if (this.arrivals.entrance !== undefined) this.publishing.publish();
    // One that goes on after a wait has a slot of its own again, and is told of that like all others.
    // Beside executors no slot takes what is next unasked: whose turn it is decides the balance.
    let next = this.executing === undefined ? this.claimHere() : undefined;
    while (next !== undefined && next.resumptions > 0) next = this.claimHere();
    this.publishing.publish();
    // One end may have let several tasks through, and the start may have a moment of its own.
    const hasRoom = this.local.running < this.local.spec.slots || this.pulling.isAwaited;
    const mayMakeWay = core.state.preemption.waiting !== undefined;
    if (this.isClosing) this.dispatchSoon();
    else if ((hasRoom || mayMakeWay || this.executing !== undefined) && core.state.index.size > 0) this.dispatchSoon();
    else if (core.hasMoments) this.setAlarm();
    return next;
  }

  /** An outcome that comes too late only gives back what its attempt held. */
  private settle(now: Moment, attempt: Attempt, outcome: Outcome): void {
    try {
      this.core.settle(now, attempt, outcome);
    } catch (error) {
      if (!(error instanceof StaleLeaseError)) throw error;
    }
  }

  finish(attempt: Attempt, outcome: Outcome): void {
    this.breath.spend();
    this.settle(this.clock.now(), attempt, outcome);
    this.changed(attempt);
  }

  private claimHere(): Attempt | undefined {
    const { core, local, breath } = this;
    if (local.running >= local.spec.slots || breath.isOut || !this.mayStart()) return undefined;
    return core.claim(this.clock.now(), local);
  }

  contextOf(attempt: Attempt): RunningTask {
    return this.attempts.contextOf(attempt);
  }

  /** A pulled attempt has been settled, and is in nobody's hands. */
  changed(over?: Attempt, by?: 'handler' | 'others'): void {
    if (over !== undefined) this.attempts.forget(over, by);
    this.dispatchSoon();
  }
}
