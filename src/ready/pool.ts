import type { Flow } from './flow.js';

/**
 * Sums of fractions are inexact, the more so the larger they are: so much is no difference to a capacity. It is less than a
 * unit, as whole units are exact.
 */
export function slackOf(capacity: number): number {
  return Math.max(1e-9, Math.min(0.5, capacity * 2 ** -40));
}

/** A counted capacity: a resource's units, or the places under a concurrency limit; and what passes it in time. */
export class Pool {
  held = 0;
  /** How many hold something: once nobody does, nothing is held, whatever the sum has drifted to. */
  private holders = 0;
  private most: number;
  private units: number;
  /** Its rate limit, if it has or had one. */
  flow: Flow | undefined = undefined;
  /** Units that are free only for tasks that others have made way for. */
  kept = 0;
  /** For how many tasks. */
  private keepers = 0;

  constructor(
    readonly name: string,
    capacity: number,
  ) {
    this.units = capacity;
    this.most = capacity + slackOf(capacity);
  }

  get capacity(): number {
    return this.units;
  }

  set capacity(units: number) {
    this.units = units;
    this.most = units + slackOf(units);
  }

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
    return this.held + this.kept + amount <= this.most;
  }

  /** Whether so many units are held by nobody; they may be kept for somebody. */
  hasUnits(amount: number): boolean {
    return this.held + amount <= this.most;
  }

  /** Whether its capacity is not less than so much in all. */
  covers(units: number): boolean {
    return units <= this.most;
  }

  /** When so much can be taken, if it waits for tokens alone; `Infinity` if it waits for units. */
  soonest(amount: number): number {
    if (!this.hasRoom(amount)) return Infinity;
    return this.flow === undefined ? -Infinity : this.flow.soonest(amount + this.kept);
  }

  /** A start takes units, which it gives back, and tokens, which it does not. */
  take(amount: number): void {
    this.hold(amount);
    this.flow?.take(amount);
  }

  /** Holds units that were taken before a restart. */
  hold(amount: number): void {
    this.held += amount;
    this.holders += 1;
  }

  release(amount: number): void {
    this.holders -= 1;
    this.held = this.holders === 0 ? 0 : Math.max(0, this.held - amount);
  }

  /** So much is kept for somebody. */
  keep(amount: number): void {
    this.kept += amount;
    this.keepers += 1;
  }

  unkeep(amount: number): void {
    this.keepers -= 1;
    this.kept = this.keepers === 0 ? 0 : Math.max(0, this.kept - amount);
  }
}
