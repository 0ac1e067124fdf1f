import type { Wake } from '../core/index.js';
import { LONGEST_TIMER_MS, type Clock, type Timer } from './clock.js';

/** The wall clock drifts by itself; beyond this, somebody has set it, or the machine has slept. */
const SET_MS = 1_000;

/** The one timer of a scheduler, set to the next moment at which anything is due. */
export class Alarm {
  private timer: Timer | undefined = undefined;
  private setWall = Infinity;
  private setMono = Infinity;
  /** How far the wall clock was ahead of the other one when it was set. */
  private offset = 0;
  private keepsAlive = true;

  constructor(
    private readonly clock: Clock,
    private readonly ring: () => void,
  ) {}

  /** Rings at the earlier of both times, or never; `hold` says whether the process stays until then. */
  set(wake: Wake, hold: 'alive' | 'free'): void {
    if (wake.wall !== this.setWall || wake.mono !== this.setMono) this.reset(wake);
    // The timer goes by the monotonic clock, and is wrong from then on.
    else if (wake.wall !== Infinity && this.wasClockSet()) this.reset(wake);
    if (this.timer === undefined || this.keepsAlive === (hold === 'alive')) return;
    this.keepsAlive = hold === 'alive';
    if (this.keepsAlive) this.timer.ref();
    else this.timer.unref();
  }

  stop(): void {
    this.timer?.cancel();
    this.timer = undefined;
    this.setWall = this.setMono = Infinity;
  }

  private wasClockSet(): boolean {
    const { wall, mono } = this.clock.now();
    return Math.abs(wall - mono - this.offset) >= SET_MS;
  }

  private reset(wake: Wake): void {
    this.stop();
    this.setWall = wake.wall;
    this.setMono = wake.mono;
    if (wake.wall === Infinity && wake.mono === Infinity) return;
    const now = this.clock.now();
    this.offset = now.wall - now.mono;
    const waitMs = Math.max(0, Math.min(wake.wall - now.wall, wake.mono - now.mono, LONGEST_TIMER_MS));
    this.keepsAlive = true;
    this.timer = this.clock.setTimer(() => {
      // It may have rung before the moment, which was too far away to count to: whoever hears it sets it again.
      this.stop();
      this.ring();
    }, waitMs);
  }
}
