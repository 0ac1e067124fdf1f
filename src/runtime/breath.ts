/** Beyond so many milliseconds of starts in a row, everything else in the process has its turn. */
const LONGEST_MS = 50;

/** Looking at the time costs more than a start may: only each so many starts does it. */
const LOOK_EVERY = 64;

/**
 * Lets the event loop go round now and then. Tasks that never wait for anything follow each other in callbacks of promises,
 * and as long as those go on no timer rings, no socket is read, and the clock stands still.
 */
export class Breath {
  /** Whether nothing starts before the next turn of the event loop. */
  isOut = false;
  private starts = 0;
  private since = performance.now();
  private readonly isNeeded: boolean;

  constructor(
    /** Under a clock of the user's own nothing else is waiting, and all that is due comes in one turn. */
    clock: unknown,
    private readonly goOn: () => void,
  ) {
    this.isNeeded = clock === undefined;
  }

  /** A task starts, or would if there were one. */
  spend(): void {
    this.starts += 1;
    if (this.starts < LOOK_EVERY) return;
    this.starts = 0;
    if (!this.isNeeded || performance.now() - this.since < LONGEST_MS) return;
    this.isOut = true;
    setImmediate(this.draw);
  }

  private readonly draw = (): void => {
    this.isOut = false;
    this.since = performance.now();
    this.goOn();
  };
}
