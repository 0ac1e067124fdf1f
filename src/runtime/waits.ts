import { abortable, type WaitOptions } from './abortable.js';

/** Somebody who waits until something holds. */
interface Waiter {
  readonly holds: () => boolean;
  readonly resolve: (value: undefined) => void;
  readonly reject: (error: Error) => void;
}

/** Those who wait until something is true of the scheduler. */
export class Waits {
  private waiters: Waiter[] = [];

  constructor(
    /** Whether what is true may be told, or is told later by whoever takes those for whom it is. */
    private readonly mayTell: () => boolean,
  ) {}

  /** Resolves when it holds; at once if it does already. */
  until(holds: () => boolean, options?: WaitOptions): Promise<unknown> {
    return abortable<undefined>(options, (resolve, reject) => {
      if (this.mayTell() && holds()) {
        resolve(undefined);
        return () => undefined;
      }
      const waiter: Waiter = { holds, resolve, reject };
      this.waiters.push(waiter);
      return () => {
        this.waiters = this.waiters.filter((each) => each !== waiter);
      };
    });
  }

  /** Something has changed, and what somebody waits for may hold now. */
  check(): void {
    // This is asked after every start and every end, and the answer is nearly always no.
    for (const waiter of this.waiters) {
      if (!waiter.holds()) continue;
      for (const { resolve } of this.takeMet()) resolve(undefined);
      return;
    }
  }

  /** Those for whom it holds now: they wait no more, and are to be told by whoever has taken them. */
  takeMet(): readonly Waiter[] {
    if (this.waiters.length === 0) return this.waiters;
    const met = new Set(this.waiters.filter(({ holds }) => holds()));
    if (met.size > 0) this.waiters = this.waiters.filter((waiter) => !met.has(waiter));
    return [...met];
  }

  /** What they wait for will not be. */
  fail(error: Error): void {
    const { waiters } = this;
    this.waiters = [];
    for (const { reject } of waiters) reject(error);
  }
}
