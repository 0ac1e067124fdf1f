import type { Attempt, Task } from '../model/index.js';
import { Candidates, Holdings, type HoldingsOf } from './candidates.js';
import { Hungry, type HungrySources } from './hungry.js';
import { Rooms } from './rooms.js';

/** How more urgent tasks may stop running ones. */
export interface PreemptionSettings {
  /** How long a stopped attempt may take to make way before what was kept back is given up. */
  readonly graceMs: number;
  /** How long an attempt runs at the least before it is asked to. */
  readonly minRunMs: number;
  /** How often one task is asked to at the most; 0 for never. */
  readonly maxPerTask: number;
}

/** What preemption needs to know from the core. */
export interface PreemptionSources extends HungrySources {
  readonly holdingsOf: HoldingsOf;
  /** Every ready task outside paused channels. */
  allReady(): readonly Task[];
}

/** Who may be asked to make way, who was, for whom, and who might be let in by it. */
export class Preemption {
  readonly candidates: Candidates;
  readonly rooms = new Rooms();
  /** Those that were asked and have time left to make way, and what they will free. */
  readonly leaving = new Set<Attempt>();
  readonly freed: Holdings;
  /** Kept once an attempt runs that may be stopped, or is at a yield: where there is none, nothing is. */
  private hungry: Hungry | undefined = undefined;

  constructor(
    readonly settings: PreemptionSettings,
    private readonly sources: PreemptionSources,
  ) {
    this.candidates = new Candidates(sources.holdingsOf, settings.minRunMs);
    this.freed = new Holdings(sources.holdingsOf);
  }

  /** The ready tasks; `undefined` while nobody could make way for them. */
  get waiting(): Hungry | undefined {
    return this.candidates.size === 0 ? undefined : this.hungry;
  }

  /** The attempt runs from now on, or again; it must be one that may be stopped. */
  runs(attempt: Attempt): void {
    if (attempt.stopBy !== undefined) {
      this.leaving.add(attempt);
      this.freed.add(attempt);
    } else if ((attempt.task.extra?.preemptions ?? 0) < this.settings.maxPerTask) {
      this.candidates.enter(attempt);
      this.ready();
    }
  }

  /** The ready tasks, kept from the first time on that somebody asks. */
  ready(): Hungry {
    this.hungry ??= new Hungry(this.sources, this.sources.allReady());
    return this.hungry;
  }

  /** The attempt does not run any more, or not for its task. */
  stops(attempt: Attempt): void {
    this.candidates.leave(attempt);
    if (this.leaving.delete(attempt)) this.freed.subtract(attempt);
  }

  /** Those whose time to make way has passed are no longer counted on. */
  giveUpOn(mono: number): void {
    for (const attempt of this.leaving) if ((attempt.stopBy as number) < mono) this.stops(attempt);
  }

  /** The task waits to be let in, by other values than before. */
  waits(task: Task): void {
    this.hungry?.enter(task);
  }

  /** The running task may have another level. */
  moved({ attempt }: Task): void {
    if (attempt !== undefined) this.candidates.moved(attempt);
  }

  /** When somebody comes to have run for long enough to be asked, where a more urgent task waits; `Infinity` for never. */
  wakeAt(mono: number): number {
    const { waiting, candidates } = this;
    if (waiting === undefined) return Infinity;
    const level = waiting.mostUrgent;
    return level >= candidates.leastUrgent ? Infinity : candidates.nextBelow(level, mono);
  }
}
