import { machineClock, type Clock, type SystemClock } from './clock.js';

/** Beyond so many milliseconds of work in a row, everything else in the process has its turn. */
const LONGEST_MS = 50;

/** Looking at the time costs more than a start may: where tasks are quick, only each so many starts or ends do it. */
const LOOK_EVERY = 16;

/** In each turn, and after one that was slow, so many are looked at one by one. */
const ALWAYS_FIRST = 4;

/**
 * Lets the event loop go round now and then. Tasks that never wait for anything follow each other in callbacks of promises,
 * and as long as those go on no timer rings, no socket is read, and the clock stands still.
 */
export class Breath {
  /** Whether nothing starts before the next turn of the event loop. */
  isOut = false;
  /** How often it is asked until it looks at the time. */
  private left = 1;
  /** How often in a row the clock was not late. */
  private onTime = 0;
  private isTurning = false;
  private since = 0;
  /** Under a clock of the user's own nothing else is waiting, and all that is due comes in one turn. */
  private readonly clock: SystemClock | undefined;

  constructor(
    clock: Clock,
    private readonly goOn: () => void,
  ) {
    this.clock = machineClock(clock);
  }

  /**
   * A task has started or ended, or some are about to start: what has gone on in this turn before is not to be counted as
   * theirs.
   */
  spend(): void {
    this.left -= 1;
    if (this.left === 0) this.look();
  }

  private look(): void {
    if (this.clock === undefined) return;
    const now = performance.now();
    if (!this.isTurning) this.begin(now);
    this.onTime = this.clock.wasLate(now) ? 0 : this.onTime + 1;
    this.left = this.onTime < ALWAYS_FIRST ? 1 : LOOK_EVERY;
    if (now - this.since >= LONGEST_MS) this.isOut = true;
  }

  private begin(now: number): void {
    this.isTurning = true;
    this.since = now;
    this.onTime = 0;
    setImmediate(this.turned);
  }

  private readonly turned = (): void => {
    this.isTurning = false;
    this.left = 1;
    if (!this.isOut) return;
    this.isOut = false;
    this.goOn();
  };
}
