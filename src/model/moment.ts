/**
 * The time a command carries, in whole milliseconds on two clocks.
 *
 * `wall` is the calendar (epoch milliseconds) and may jump: ETA, cron and deadlines live on it. `mono` only
 * grows, also across restarts, and starts anywhere: leases, timeouts, backoff and aging live on it.
 */
export interface Moment {
  readonly wall: number;
  readonly mono: number;
}

/** The same number; where it is whole and small the engine is told so, which keeps it from being boxed. */
export function unboxed(value: number): number {
  const small = value | 0;
  return small === value ? small : value;
}
