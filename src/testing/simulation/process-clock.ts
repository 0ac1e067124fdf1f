import type { Moment } from '../../model/index.js';
import type { Clock, Timer } from '../../runtime/clock.js';
import type { VirtualClock } from '../virtual-clock.js';

/** The clock as one process sees it: while that is stopped no timer rings, and after its end none ever does. */
export class ProcessClock implements Clock {
  private state: 'running' | 'stopped' | 'ended' = 'running';
  /** The timers that are set, and the monotonic times at which they ring. */
  private readonly armed = new Map<Timer, number>();
  /** What would have rung meanwhile. */
  private missed: (() => void)[] = [];
  private wake: () => void = () => undefined;
  /** Resolves when it runs; never after its end. */
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly clock: VirtualClock) {}

  now(): Moment {
    return this.clock.now();
  }

  setTimer(ring: () => void, waitMs: number): Timer {
    let isCancelled = false;
    const rung = (): void => {
      this.armed.delete(timer);
      if (isCancelled || this.state === 'ended') return;
      if (this.state === 'stopped') this.missed.push(rung);
      else ring();
    };
    const timer = this.clock.setTimer(rung, waitMs);
    if (this.state === 'ended') timer.cancel();
    else this.armed.set(timer, this.clock.now().mono + waitMs);
    return {
      ...timer,
      cancel: () => {
        isCancelled = true;
        this.armed.delete(timer);
        timer.cancel();
      },
    };
  }

  /** In how many milliseconds the next timer rings; `Infinity` when none is set. */
  get nextInMs(): number {
    return Math.min(...this.armed.values()) - this.clock.now().mono;
  }

  /** Resolves after so much time in which it runs at the end. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.setTimer(resolve, ms);
    });
  }

  /** Resolves while it runs, and otherwise once it does again. */
  whileRunning(): Promise<void> {
    return this.running;
  }

  stop(): void {
    if (this.state !== 'running') return;
    this.state = 'stopped';
    this.running = new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  /** It is woken: what should have rung does now. */
  goOn(): void {
    if (this.state !== 'stopped') return;
    this.state = 'running';
    this.wake();
    for (const ring of this.missed.splice(0)) ring();
  }

  end(): void {
    this.state = 'ended';
    this.running = new Promise(() => undefined);
    this.missed = [];
    for (const timer of this.armed.keys()) timer.cancel();
    this.armed.clear();
  }
}
