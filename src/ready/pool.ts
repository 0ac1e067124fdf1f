import type { Flow } from './flow.js';

/** Sums of fractions are inexact: so much is no difference. */
const DRIFT = 1e-9;

/** A counted capacity: a resource's units, or the places under a concurrency limit; and what passes it in time. */
export class Pool {
  held = 0;
  /** Its rate limit, if it has or had one. */
  flow: Flow | undefined = undefined;
  /** Units that are free only for tasks that others have made way for. */
  kept = 0;

  constructor(
    readonly name: string,
    public capacity: number,
  ) {}

  /** Whether so much can be taken now without passing the capacity or the rate. */
  fits(amount: number): boolean {
    return this.hasRoom(amount) && this.hasTokens(amount + this.kept);
  }

  /** Whether the rate leaves room for so much. */
  hasTokens(amount: number): boolean {
    return this.flow === undefined || this.flow.fits(amount);
  }

  /** Whether anybody may hold so many more units, whatever the rate says: what is kept for somebody is left alone. */
  hasRoom(amount: number): boolean {
    return this.held + this.kept + amount <= this.capacity + DRIFT;
  }

  /** Whether so many units are held by nobody; they may be kept for somebody. */
  hasUnits(amount: number): boolean {
    return this.held + amount <= this.capacity + DRIFT;
  }

  /** When so much can be taken, if it waits for tokens alone; `Infinity` if it waits for units. */
  soonest(amount: number): number {
    if (!this.hasRoom(amount)) return Infinity;
    return this.flow === undefined ? -Infinity : this.flow.soonest(amount + this.kept);
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

  /** So much less is kept for somebody. */
  unkeep(amount: number): void {
    this.kept = without(this.kept, amount);
  }

  /** Exact for whole units; fractions are kept from drifting below zero. */
  release(amount: number): void {
    this.held = without(this.held, amount);
  }
}

function without(units: number, amount: number): number {
  const left = units - amount;
  return left < DRIFT ? 0 : left;
}
