import type { Flow } from './flow.js';

/** Sums of fractions are inexact: so much is no difference. */
const DRIFT = 1e-9;

/** A counted capacity: a resource's units, or the places under a concurrency limit; and what passes it in time. */
export class Pool {
  held = 0;
  /** Its rate limit, if it has or had one. */
  flow: Flow | undefined = undefined;

  constructor(
    readonly name: string,
    public capacity: number,
  ) {}

  /** Whether so much can be taken now without passing the capacity or the rate. */
  fits(amount: number): boolean {
    return this.held + amount <= this.capacity + DRIFT && (this.flow === undefined || this.flow.fits(amount));
  }

  /** Whether so many more units can be held, whatever the rate says. */
  hasRoom(amount: number): boolean {
    return this.held + amount <= this.capacity + DRIFT;
  }

  /** When so much can be taken, if it waits for tokens alone; `Infinity` if it waits for units. */
  soonest(amount: number): number {
    if (!this.hasRoom(amount)) return Infinity;
    return this.flow === undefined ? -Infinity : this.flow.soonest(amount);
  }

  /** A start takes units, which it gives back, and tokens, which it does not. */
  take(amount: number): void {
    this.held += amount;
    this.flow?.take(amount);
  }

  /** Holds units that were taken before a restart. */
  hold(amount: number): void {
    this.held += amount;
  }

  /** Exact for whole units; fractions are kept from drifting below zero. */
  release(amount: number): void {
    const left = this.held - amount;
    this.held = left < DRIFT ? 0 : left;
  }
}
