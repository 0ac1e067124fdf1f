import type { RateLimit } from '../../src/model/index.js';

interface Bucket {
  limit: RateLimit | undefined;
  tokens: number;
  at: number;
  /** Nothing passes before. */
  closedUntil: number;
}

/** Token buckets as everybody would write them: tokens are added for the time that has passed, up to the burst. */
export class NaiveRates {
  private readonly buckets = new Map<string, Bucket>();

  constructor(private readonly now: () => number) {}

  get any(): boolean {
    return this.buckets.size > 0;
  }

  limit(name: string): RateLimit | undefined {
    return this.buckets.get(name)?.limit;
  }

  burst(name: string): number {
    return this.limit(name)?.burst ?? Infinity;
  }

  /** What is missing to a full bucket stays missing. */
  set(name: string, limit: RateLimit | undefined): void {
    const bucket = this.at(name);
    const full = bucket.limit?.burst ?? 0;
    const missing = bucket.limit === undefined ? 0 : full - this.refilled(bucket);
    Object.assign(bucket, { limit, tokens: (limit?.burst ?? 0) - missing, at: this.now() });
  }

  has(name: string, cost: number): boolean {
    return this.soonest(name, cost) <= this.now();
  }

  /** When there are so many, if nobody takes any before. */
  soonest(name: string, cost: number): number {
    const bucket = this.buckets.get(name);
    if (bucket === undefined) return -Infinity;
    const open = Math.max(this.now(), bucket.closedUntil);
    if (bucket.limit === undefined) return open;
    const { rate, perMs, burst } = bucket.limit;
    if (cost > burst) return Infinity;
    const lacking = cost - this.refilled(bucket);
    return lacking <= 0 ? open : Math.max(open, this.now() + Math.ceil((lacking * perMs) / rate));
  }

  take(name: string, cost: number): void {
    const bucket = this.buckets.get(name);
    if (bucket?.limit === undefined) return;
    bucket.tokens = Math.min(bucket.limit.burst, this.refilled(bucket) - cost);
    bucket.at = this.now();
  }

  close(name: string, until: number): void {
    const bucket = this.at(name);
    bucket.closedUntil = Math.max(bucket.closedUntil, until);
  }

  private refilled({ limit, tokens, at }: Bucket): number {
    return limit === undefined
      ? Infinity
      : Math.min(limit.burst, tokens + ((this.now() - at) * limit.rate) / limit.perMs);
  }

  private at(name: string): Bucket {
    let bucket = this.buckets.get(name);
    if (bucket === undefined) {
      bucket = { limit: undefined, tokens: 0, at: 0, closedUntil: -Infinity };
      this.buckets.set(name, bucket);
    }
    return bucket;
  }
}
