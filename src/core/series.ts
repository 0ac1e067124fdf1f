import type { RecurrenceSpec, TaskSpec } from '../model/index.js';

/** One interval of a series' schedule, in epoch milliseconds, and how many of its runs began in it. */
export interface RunsInInterval {
  /** The first run. */
  readonly from: number;
  /** The first tick after it; counted from the end or the start of a run, one interval after it. */
  readonly until: number;
  readonly runs: number;
}

/** A task that repeats: each occurrence is a new task that names its series. */
export class Series {
  /** When the next occurrence is made; `undefined` while one is awaited. */
  nextAt: number | undefined = undefined;
  /** The tick the latest occurrence was made for. */
  lastAt = 0;
  /** Occurrences made, and ticks passed over because one was still unfinished. */
  made = 0;
  skipped = 0;
  /** Unfinished occurrences. */
  active = 0;
  /** Ticks that wait for the occurrence before to end. */
  queued: number[] = [];
  paused = false;
  /** Runs in the latest interval in which there were any, and whether it was told that there are too many. */
  interval: RunsInInterval | undefined = undefined;
  overran = false;
  ended = false;

  constructor(
    /** Settles ties between series. */
    readonly sequence: number,
    /** No task before this one is an occurrence of it. */
    readonly firstTask: number,
    readonly id: string,
    public spec: TaskSpec,
    public recurrence: RecurrenceSpec,
    public payload: unknown,
  ) {}

  /** Whether the interval counts from the end of the occurrence before. */
  get fromEnd(): boolean {
    const { timing } = this.recurrence;
    return timing.kind === 'every' && timing.from === 'end';
  }

  /** Whether the interval counts from the start of the occurrence before. */
  get fromStart(): boolean {
    const { timing } = this.recurrence;
    return timing.kind === 'every' && timing.from === 'start';
  }

  /** Occurrences made or certain to be made: what counts towards the series' count. */
  get used(): number {
    return this.made + this.queued.length;
  }

  get usedUp(): boolean {
    return this.used >= this.recurrence.count;
  }
}
