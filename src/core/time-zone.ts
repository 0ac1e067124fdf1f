const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;
const CACHED_ZONES = 1_024;

/**
 * A time zone: what its clocks show at an instant, and when they show a given time.
 *
 * Local times are written as the epoch milliseconds at which a clock in UTC would show the same.
 */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;

  private constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  // Formatters are heavy and a program uses few zones; emptying the cache now and then keeps odd spellings from piling up.
  static readonly #cache = new Map<string, TimeZone>();

  /** The zone of an IANA name; a `RangeError` where the platform knows no such zone. */
  static named(name: string): TimeZone {
    const cached = TimeZone.#cache.get(name);
    if (cached !== undefined) return cached;
    const zone = new TimeZone(name);
    if (TimeZone.#cache.size >= CACHED_ZONES) TimeZone.#cache.clear();
    TimeZone.#cache.set(name, zone);
    return zone;
  }

  /** What the clocks show. */
  toLocal(wall: number): number {
    const shown = new Map<string, number>();
    for (const { type, value } of this.#format.formatToParts(wall)) shown.set(type, Number(value));
    const part = (name: string): number => shown.get(name) ?? 0;
    const second = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
    return second + (((wall % SECOND_MS) + SECOND_MS) % SECOND_MS);
  }

  /**
   * The first instant at which the clocks show a local time; the end of the gap where they skip it.
   *
   * `undefined` where the zone skipped that whole day.
   */
  toWall(local: number): number | undefined {
    // No zone changes its clocks twice within two days, so these two offsets are the only ones in question.
    const before = this.#offsetAt(local - DAY_MS);
    const after = this.#offsetAt(local + DAY_MS);
    const candidates = [local - before, local - after].sort((a, b) => a - b);
    const shown = candidates.find((wall) => this.toLocal(wall) === local);
    if (shown !== undefined) return shown;
    const gapEnd = this.#changeBetween(local - Math.max(before, after), local - Math.min(before, after));
    return sameDay(this.toLocal(gapEnd), local) ? gapEnd : undefined;
  }

  #offsetAt(wall: number): number {
    return this.toLocal(wall) - wall;
  }

  #changeBetween(from: number, to: number): number {
    const before = this.#offsetAt(from);
    let [low, high] = [from, to];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.#offsetAt(middle) === before) low = middle;
      else high = middle;
    }
    return high;
  }
}

function sameDay(a: number, b: number): boolean {
  return Math.floor(a / DAY_MS) === Math.floor(b / DAY_MS);
}
