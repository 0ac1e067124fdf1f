import { parseDuration, refuseConfig, type Duration, type Moment } from '../model/index.js';
import { LONGEST_TIMER_MS, type Clock, type Timer } from '../runtime/clock.js';
import { SIM_START } from './sim.js';

interface ArmedTimer {
  readonly atMono: number;
  readonly ring: () => void;
  keepsAlive: boolean;
}

/**
 * A clock whose time passes only when it is told to, for tests with a real scheduler and real promises and without
 * sleeping.
 *
 * @example
 * ```ts
 * const clock = new VirtualClock();
 * const scheduler = new Scheduler({ clock });
 * const report = scheduler.add(() => 'sent', { delay: '1h' });
 * await clock.advance('59m'); // report.state is 'delayed'
 * await clock.advance('1m'); // report.state is 'completed'
 * ```
 */
export class VirtualClock implements Clock {
  private moment: Moment;
  private readonly armed = new Set<ArmedTimer>();

  /** Begins at this epoch time; on 1 January 2030 unless given. */
  constructor(wall: number = SIM_START) {
    this.moment = { wall, mono: 0 };
  }

  /** The virtual time on both clocks. */
  now(): Moment {
    return this.moment;
  }

  /** Rings in so many milliseconds of virtual time. */
  setTimer(ring: () => void, waitMs: number): Timer {
    if (!(waitMs >= 0 && waitMs <= LONGEST_TIMER_MS)) {
      refuseConfig('waitMs', waitMs, `0 to ${LONGEST_TIMER_MS}, which is what timers can count to`);
    }
    const timer: ArmedTimer = { atMono: this.moment.mono + Math.ceil(waitMs), ring, keepsAlive: true };
    this.armed.add(timer);
    return {
      cancel: () => {
        this.armed.delete(timer);
      },
      ref: () => {
        timer.keepsAlive = true;
      },
      unref: () => {
        timer.keepsAlive = false;
      },
    };
  }

  /** The timers that are set: in how many milliseconds each rings, and whether a process would stay for it. */
  get timers(): { readonly waitMs: number; readonly keepsAlive: boolean }[] {
    return this.inOrder().map(({ atMono, keepsAlive }) => ({ waitMs: atMono - this.moment.mono, keepsAlive }));
  }

  /**
   * Lets time pass. Before it does, after each timer and at the end, everything that waits for nothing but promises
   * comes to its end, so that what follows from one moment has happened before the next.
   */
  async advance(duration: Duration): Promise<void> {
    const end = this.moment.mono + parseDuration(duration, 'duration', refuseConfig);
    for (;;) {
      await this.settle();
      const [next] = this.inOrder();
      if (next === undefined || next.atMono > end) break;
      this.pass(next.atMono);
      this.armed.delete(next);
      next.ring();
    }
    this.pass(end);
  }

  /** Resolves after so much virtual time: what a handler waits for that is to take a while. */
  sleep(duration: Duration): Promise<void> {
    const endMono = this.moment.mono + parseDuration(duration, 'duration', refuseConfig);
    return new Promise((resolve) => {
      const wait = (): void => {
        const leftMs = endMono - this.moment.mono;
        if (leftMs > 0) this.setTimer(wait, Math.min(leftMs, LONGEST_TIMER_MS));
        else resolve();
      };
      wait();
    });
  }

  /**
   * Lets time pass from timer to timer until the promise has settled, and gives what came of it. Refused once no timer
   * is left, as nothing in virtual time could settle it then.
   */
  async until<Result>(promise: PromiseLike<Result>): Promise<Result> {
    const settled = { yet: false };
    const note = (): void => {
      settled.yet = true;
    };
    promise.then(note, note);
    for (;;) {
      await this.settle();
      if (settled.yet) return promise;
      const [next] = this.inOrder();
      if (next === undefined) {
        return refuseConfig('promise', promise, 'one that settles in virtual time, but no timer is left to wait for');
      }
      await this.advance(next.atMono - this.moment.mono);
    }
  }

  /** Lets everything happen that waits for nothing but promises, at this moment. */
  async settle(): Promise<void> {
    // All callbacks of promises, those they lead to included, come before the next turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** The event loop stands still: time passes, and what is due by then rings only when time passes again. */
  block(duration: Duration): void {
    this.pass(this.moment.mono + parseDuration(duration, 'duration', refuseConfig));
  }

  /** The wall clock is set forward or back; the monotonic one and all timers go on as before. */
  jump(ms: number): void {
    this.moment = { wall: this.moment.wall + ms, mono: this.moment.mono };
  }

  private pass(toMono: number): void {
    const ms = toMono - this.moment.mono;
    if (ms > 0) this.moment = { wall: this.moment.wall + ms, mono: toMono };
  }

  private inOrder(): ArmedTimer[] {
    return [...this.armed].sort((x, y) => x.atMono - y.atMono);
  }
}
