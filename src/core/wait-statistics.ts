/** How long one generation of waits is gathered before the next begins. */
const GENERATION_MS = 60_000;
/** Parts that each doubling of the wait is divided into: a percentile is too large by an eighth at the most. */
const PARTS = 8;
const DOUBLINGS = 40;

interface Generation {
  readonly counts: Uint32Array;
  count: number;
  totalMs: number;
}

/** How long tasks have waited that have started lately. */
export interface WaitSummary {
  readonly count: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/**
 * The waits of tasks that started in the latest one to two minutes, in bounded memory: counts in buckets that grow with
 * the wait, in two generations of which the older is thrown away when the younger is full.
 */
export class WaitStatistics {
  private current = generation();
  private previous = generation();
  private until = GENERATION_MS;

  record(waitMs: number, mono: number): void {
    if (mono >= this.until) this.turn(mono);
    const { current } = this;
    const bucket = bucketOf(waitMs);
    current.counts[bucket] = (current.counts[bucket] as number) + 1;
    current.count += 1;
    current.totalMs += waitMs;
  }

  summary(mono: number): WaitSummary {
    if (mono >= this.until) this.turn(mono);
    const count = this.current.count + this.previous.count;
    const totalMs = this.current.totalMs + this.previous.totalMs;
    const [p50Ms, p95Ms, p99Ms] = this.percentiles([0.5, 0.95, 0.99], count);
    return { count, meanMs: count === 0 ? 0 : totalMs / count, p50Ms, p95Ms, p99Ms };
  }

  private turn(mono: number): void {
    const isRecent = mono - this.until < GENERATION_MS;
    this.previous = isRecent ? this.current : generation();
    this.current = generation();
    this.until = mono - (mono % GENERATION_MS) + GENERATION_MS;
  }

  /** The upper edge of the bucket in which each share of the waits, in rising order, is reached. */
  private percentiles(shares: readonly [number, number, number], count: number): [number, number, number] {
    const found: [number, number, number] = [0, 0, 0];
    let at = 0;
    let seen = 0;
    for (let bucket = 0; bucket < PARTS * DOUBLINGS && at < shares.length; bucket += 1) {
      seen += (this.current.counts[bucket] as number) + (this.previous.counts[bucket] as number);
      while (at < shares.length && seen >= Math.max(1, (shares[at] as number) * count)) {
        found[at] = edgeOf(bucket);
        at += 1;
      }
    }
    return found;
  }
}

function generation(): Generation {
  return { counts: new Uint32Array(PARTS * DOUBLINGS), count: 0, totalMs: 0 };
}

/** Up to {@link PARTS} every millisecond has a bucket; from there on each doubling has so many. */
function bucketOf(waitMs: number): number {
  if (!(waitMs >= PARTS)) return Math.max(0, Math.floor(waitMs));
  // Bits are exact and cheap, and enough for three weeks; nobody minds a logarithm for longer waits.
  if (waitMs < 2 ** 31) {
    const doubling = 31 - Math.clz32(waitMs);
    return (doubling - 2) * PARTS + ((waitMs >>> (doubling - 3)) & (PARTS - 1));
  }
  const doubling = Math.floor(Math.log2(waitMs));
  const part = Math.floor((waitMs / 2 ** doubling - 1) * PARTS);
  return Math.min((doubling - 2) * PARTS + part, PARTS * DOUBLINGS - 1);
}

/** The largest whole wait in a bucket. */
function edgeOf(bucket: number): number {
  if (bucket < PARTS) return bucket;
  const doubling = Math.floor(bucket / PARTS) + 2;
  const part = (bucket % PARTS) + 1;
  return Math.ceil(2 ** doubling * (1 + part / PARTS)) - 1;
}
