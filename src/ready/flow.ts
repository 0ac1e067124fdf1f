import type { RateLimit } from '../model/index.js';

/** Tokens may be fractions, whose sums are inexact: so much is no difference. */
const DRIFT = 1e-9;

/** The monotonic time. */
export interface MonoClock {
  readonly mono: number;
}

/** A flow as plain data. */
export interface FlowRecord {
  readonly since: number;
  readonly spent: number;
  /** `null` when nobody has asked for a pause. */
  readonly closedUntil: number | null;
}

/**
 * What a pool lets through in the course of time: a token bucket, and a pause that was asked for.
 *
 * The bucket is kept as a moment at which it was full and what was taken since. So nothing is ever added up but whole
 * costs, a question about tokens is one comparison of products, and no error builds up, however long it goes on.
 */
export class Flow {
  /** Nothing passes before this moment. */
  closedUntil = -Infinity;
  private limit: RateLimit | undefined = undefined;
  private since = 0;
  private spent = 0;

  constructor(private readonly clock: MonoClock) {}

  get rate(): RateLimit | undefined {
    return this.limit;
  }

  /** Another rate, or none. What is missing to a full bucket stays missing: a smaller bucket may begin with a debt. */
  setRate(limit: RateLimit | undefined): void {
    const missing = this.missing();
    this.limit = limit;
    this.since = this.clock.mono;
    this.spent = limit === undefined ? 0 : missing;
  }

  /** Tokens to be had now, or at a later moment if nothing else is taken; below zero after a debt, `Infinity` without a rate. */
  tokens(mono = this.clock.mono): number {
    return this.limit === undefined ? Infinity : this.limit.burst - this.missing(mono);
  }

  /** Whether so much may pass now. */
  fits(amount: number): boolean {
    const { limit, clock } = this;
    if (clock.mono < this.closedUntil) return false;
    if (limit === undefined) return true;
    return this.isFull(limit) ? amount <= limit.burst + DRIFT : this.covers(limit, amount, clock.mono);
  }

  /** When so much may pass, if nothing else does before; `Infinity` if it is more than the bucket holds. */
  soonest(amount: number): number {
    const { limit, clock } = this;
    const from = Math.max(clock.mono, this.closedUntil);
    if (limit === undefined) return from;
    if (amount > limit.burst + DRIFT) return Infinity;
    if (this.isFull(limit) || this.covers(limit, amount, from)) return from;
    const at = this.since + Math.ceil(((this.spent + amount - limit.burst) * limit.perMs) / limit.rate - DRIFT);
    // Rounding must not name a moment at which there is not enough yet.
    return this.covers(limit, amount, at) ? at : at + 1;
  }

  /** Takes tokens, or gives some back where the amount is below zero. */
  take(amount: number): void {
    const { limit } = this;
    if (limit === undefined) return;
    if (this.isFull(limit)) {
      if (amount <= 0) return;
      this.since = this.clock.mono;
      this.spent = 0;
    }
    this.spent += amount;
  }

  save(): FlowRecord | undefined {
    const { since, spent, closedUntil } = this;
    if (spent === 0 && closedUntil === -Infinity) return undefined;
    // Of a full bucket it does not matter since when it is.
    return { since: spent === 0 ? 0 : since, spent, closedUntil: closedUntil === -Infinity ? null : closedUntil };
  }

  load({ since, spent, closedUntil }: FlowRecord): void {
    this.since = since;
    this.spent = spent;
    this.closedUntil = closedUntil ?? -Infinity;
  }

  /** Whether a new bucket would be the same. */
  get isIdle(): boolean {
    return this.clock.mono >= this.closedUntil && (this.limit === undefined || this.isFull(this.limit));
  }

  private missing(mono = this.clock.mono): number {
    const { limit } = this;
    if (limit === undefined || this.isFull(limit, mono)) return 0;
    return this.spent - ((mono - this.since) * limit.rate) / limit.perMs;
  }

  private isFull({ rate, perMs }: RateLimit, mono = this.clock.mono): boolean {
    return this.spent <= 0 || this.spent * perMs <= (mono - this.since) * rate;
  }

  private covers({ rate, perMs, burst }: RateLimit, amount: number, mono: number): boolean {
    return (this.spent + amount - burst - DRIFT) * perMs <= (mono - this.since) * rate;
  }
}
