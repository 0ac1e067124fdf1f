import type { Request } from '../core/index.js';
import type { SchedulerError } from '../model/index.js';
import type { Effect } from './journal.js';

/** What has happened before the store was open. */
export class Early {
  /** What was set before there was anything to set it on but an empty core. */
  readonly requests: Request[] = [];
  /** What waits for what has happened by then: all of it refusals. */
  private readonly effects: Effect[] = [];

  add(effect: Effect): void {
    this.effects.push(effect);
  }

  handOver(journal: { afterwards(effect: Effect): void }): void {
    for (const effect of this.effects.splice(0)) journal.afterwards(effect);
  }

  fail(error: SchedulerError): void {
    for (const effect of this.effects.splice(0)) effect(error);
  }
}
