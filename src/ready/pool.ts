/** Sums of fractions are inexact: so much is no difference. */
const DRIFT = 1e-9;

/** A counted capacity: a resource's units, or the places under a concurrency limit. */
export class Pool {
  held = 0;

  constructor(
    readonly name: string,
    public capacity: number,
  ) {}

  /** Whether so many more units can be taken without passing the capacity. */
  fits(amount: number): boolean {
    return this.held + amount <= this.capacity + DRIFT;
  }

  take(amount: number): void {
    this.held += amount;
  }

  /** Exact for whole units; fractions are kept from drifting below zero. */
  release(amount: number): void {
    const left = this.held - amount;
    this.held = left < DRIFT ? 0 : left;
  }
}
