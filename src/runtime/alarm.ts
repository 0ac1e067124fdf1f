import type { Wake } from '../core/index.js';
import type { Clock } from './clock.js';

/** The longest a timer of the platform can wait; beyond it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The one timer of a scheduler, set to the next moment at which anything is due. */
export class Alarm {
  private timer: ReturnType<typeof setTimeout> | undefined = undefined;
  private setWall = Infinity;
  private setMono = Infinity;

  constructor(private readonly ring: () => void) {}

  set(wake: Wake, clock: Clock): void {
    if (wake.wall === this.setWall && wake.mono === this.setMono) return;
    this.stop();
    this.setWall = wake.wall;
    this.setMono = wake.mono;
    if (wake.wall === Infinity && wake.mono === Infinity) return;
    const now = clock.now();
    const waitMs = Math.max(0, Math.min(wake.wall - now.wall, wake.mono - now.mono, LONGEST_MS));
    this.timer = setTimeout(() => {
      this.stop();
      this.ring();
    }, waitMs);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.setWall = this.setMono = Infinity;
  }
}
