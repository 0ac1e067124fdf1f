import type { Core } from '../core/index.js';
import type { Attempt, Moment } from '../model/index.js';

/** Somebody who runs an attempt, and when its lease is next renewed. */
interface Kept {
  readonly isAlive: () => boolean;
  renewAt: number;
}

const always = (): boolean => true;

/** The leases that the scheduler renews by itself, as it sees that whoever has them lives. */
export class Leases {
  /** Monotonic time at which the next one is to be renewed; `Infinity` when there is none. */
  nextAt = Infinity;
  private readonly kept = new Map<Attempt, Kept>();

  constructor(private readonly core: Core) {}

  /** From now on the attempt's lease is renewed whenever a third of it is used up. */
  keep(attempt: Attempt, isAlive: () => boolean = always): void {
    if (attempt.leaseMs === Infinity) return;
    const renewAt = attempt.leaseEndsAt - (2 / 3) * attempt.leaseMs;
    this.kept.set(attempt, { isAlive, renewAt });
    this.nextAt = Math.min(this.nextAt, renewAt);
  }

  drop(attempt: Attempt): void {
    if (this.kept.size > 0) this.kept.delete(attempt);
  }

  /** Renews what is due. This comes before a tick: what lives must not be lost because nobody looked in time. */
  renew(now: Moment): void {
    if (now.mono < this.nextAt) return;
    this.nextAt = Infinity;
    for (const [attempt, kept] of this.kept) {
      if (attempt.over || attempt.abandoned) this.kept.delete(attempt);
      else {
        if (kept.renewAt <= now.mono) this.renewOne(attempt, kept, now);
        this.nextAt = Math.min(this.nextAt, kept.renewAt);
      }
    }
  }

  private renewOne(attempt: Attempt, kept: Kept, now: Moment): void {
    const { task, token, leaseMs } = attempt;
    kept.renewAt = now.mono + leaseMs / 3;
    if (kept.isAlive()) this.core.handle({ kind: 'extend', now, task: task.id, token, leaseMs });
  }
}
