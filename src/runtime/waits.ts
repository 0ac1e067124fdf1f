import { abortable, type WaitOptions } from './abortable.js';

interface Waiter {
  readonly holds: () => boolean;
  readonly resolve: (value: undefined) => void;
}

/** Those who wait until something is true of the scheduler. */
export class Waits {
  private waiters: Waiter[] = [];

  /** Resolves when it holds; at once if it does already. */
  until(holds: () => boolean, options?: WaitOptions): Promise<unknown> {
    return abortable<undefined>(options, (resolve) => {
      if (holds()) {
        resolve(undefined);
        return () => undefined;
      }
      const waiter: Waiter = { holds, resolve };
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
      this.release();
      return;
    }
  }

  private release(): void {
    const met = new Set(this.waiters.filter(({ holds }) => holds()));
    this.waiters = this.waiters.filter((waiter) => !met.has(waiter));
    for (const { resolve } of met) resolve(undefined);
  }
}
