import { refuseConfig, unboxed, type Moment } from '../model/index.js';

/** A timer that has not rung yet. */
export interface Timer {
  /** It will not ring. */
  cancel(): void;
  /** From now on the process stays for it, as it does at first. */
  ref(): void;
  /** From now on the process does not stay for it. */
  unref(): void;
}

/**
 * Where a scheduler takes the time from, and what wakes it. `VirtualClock` in `precedence/testing` is one whose time
 * passes only when it is told to.
 */
export interface Clock {
  /** The time on both clocks, in whole milliseconds: a new object whenever it has changed. */
  now(): Moment;
  /** Rings once, in so many milliseconds: 2^31 - 1 at the most, which is what timers can count to. */
  setTimer(ring: () => void, waitMs: number): Timer;
}

/** The longest a timer of the platform can wait; beyond it would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** So far behind, the time of a turn is wrong: it is told in whole milliseconds. */
const LATE_MS = 1;

/**
 * The machine's clocks, read once per turn of the event loop unless that takes long: a burst of ten thousand tasks would
 * otherwise spend a fifth of its time asking what time it is.
 */
export class SystemClock implements Clock {
  private moment: Moment | undefined = undefined;
  private isTurning = false;
  private readonly start = performance.now();
  private readAt = this.start;
  private readonly turned = (): void => {
    this.isTurning = false;
    this.moment = undefined;
  };

  now(): Moment {
    if (this.moment === undefined) {
      this.readAt = performance.now();
      this.moment = { wall: Date.now(), mono: unboxed(Math.trunc(this.readAt - this.start)) };
      if (!this.isTurning) setImmediate(this.turned);
      this.isTurning = true;
    }
    return this.moment;
  }

  /** Whether what it tells is behind `performance.now()`, as work in this turn has taken long; from then on it is not. */
  wasLate(now: number): boolean {
    if (this.moment === undefined || now - this.readAt < LATE_MS) return false;
    this.moment = undefined;
    return true;
  }

  setTimer(ring: () => void, waitMs: number): Timer {
    const timeout = setTimeout(() => {
      // Whoever is woken wants the time now, not that of the turn.
      this.moment = undefined;
      ring();
    }, waitMs);
    return {
      cancel: () => {
        clearTimeout(timeout);
      },
      ref: () => {
        timeout.ref();
      },
      unref: () => {
        timeout.unref();
      },
    };
  }
}

/** A clock whose monotonic time goes on where that of the process before stood; its timers are the same. */
export class ContinuedClock implements Clock {
  private ahead = 0;
  private beneath: Moment | undefined = undefined;
  private moment: Moment | undefined = undefined;

  constructor(readonly clock: Clock) {}

  /** From now on it is so late. */
  goOnFrom(mono: number): void {
    this.ahead = mono - this.clock.now().mono;
    this.beneath = undefined;
  }

  now(): Moment {
    const beneath = this.clock.now();
    if (beneath !== this.beneath || this.moment === undefined) {
      this.beneath = beneath;
      this.moment = { wall: beneath.wall, mono: unboxed(beneath.mono + this.ahead) };
    }
    return this.moment;
  }

  setTimer(ring: () => void, waitMs: number): Timer {
    return this.clock.setTimer(ring, waitMs);
  }
}

/** The machine's clock, where that is what the time comes from. */
export function machineClock(clock: Clock): SystemClock | undefined {
  const beneath = clock instanceof ContinuedClock ? clock.clock : clock;
  return beneath instanceof SystemClock ? beneath : undefined;
}

/** The clock a user gave, or the machine's. */
export function clockOf(given: unknown): Clock {
  if (given === undefined) return new SystemClock();
  const { now, setTimer } = (typeof given === 'object' && given !== null ? given : {}) as Partial<Clock>;
  if (typeof now !== 'function' || typeof setTimer !== 'function') {
    return refuseConfig('clock', given, 'an object with the methods now and setTimer');
  }
  const clock = given as Clock;
  const { wall, mono } = clock.now();
  if (!Number.isSafeInteger(wall) || !Number.isSafeInteger(mono)) {
    refuseConfig('clock.now()', { wall, mono }, 'wall and mono as whole milliseconds');
  }
  return clock;
}
