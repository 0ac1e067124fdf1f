import { unboxed, type Moment } from '../model/index.js';

/** Where the runtime takes the time from. */
export interface Clock {
  now(): Moment;
}

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

  /** The time now, not that of the turn. */
  fresh(): Moment {
    this.moment = undefined;
    return this.now();
  }
}
