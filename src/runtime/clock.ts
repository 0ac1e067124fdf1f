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

/**
 * The machine's clocks, read once per turn of the event loop: a burst of ten thousand tasks would otherwise spend a
 * fifth of its time asking what time it is.
 */
export class SystemClock implements Clock {
  private moment: Moment | undefined = undefined;
  private readonly start = performance.now();
  private readonly forget = (): void => {
    this.moment = undefined;
  };

  now(): Moment {
    if (this.moment === undefined) {
      this.moment = { wall: Date.now(), mono: unboxed(Math.trunc(performance.now() - this.start)) };
      setImmediate(this.forget);
    }
    return this.moment;
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

  constructor(private readonly clock: Clock) {}

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
