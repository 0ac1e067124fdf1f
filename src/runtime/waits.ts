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
    if (this.waiters.length === 0 || !this.waiters.some(({ holds }) => holds())) return;
    const waiters = this.waiters;
    this.waiters = waiters.filter(({ holds }) => !holds());
    const left = new Set(this.waiters);
    for (const waiter of waiters) if (!left.has(waiter)) waiter.resolve(undefined);
  }
}
