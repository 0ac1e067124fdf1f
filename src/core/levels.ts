/** Something for each level in use, in order of urgency. Levels are few, so that keeping them sorted costs little. */
export class Levels<T> {
  private readonly values = new Map<number, T>();
  /** The most urgent first. */
  private readonly sorted: number[] = [];

  get(level: number): T | undefined {
    return this.values.get(level);
  }

  set(level: number, value: T): void {
    if (!this.values.has(level)) this.sorted.splice(this.placeOf(level), 0, level);
    this.values.set(level, value);
  }

  delete(level: number): void {
    if (this.values.delete(level)) this.sorted.splice(this.placeOf(level), 1);
  }

  /** The most urgent first; what is taken out on the way is not shown. */
  *mostUrgentFirst(): Iterable<[level: number, value: T]> {
    for (const level of [...this.sorted]) {
      const value = this.values.get(level);
      if (value !== undefined) yield [level, value];
    }
  }

  /** Those less urgent than a level, the least urgent first. */
  *lessUrgentThan(than: number): Iterable<T> {
    for (let i = this.sorted.length - 1; i >= 0; i -= 1) {
      const level = this.sorted[i] as number;
      if (level <= than) return;
      yield this.values.get(level) as T;
    }
  }

  /** The least urgent level in use; `-Infinity` when there is none. */
  get leastUrgent(): number {
    return this.sorted.at(-1) ?? -Infinity;
  }

  private placeOf(level: number): number {
    const found = this.sorted.findIndex((each) => each >= level);
    return found < 0 ? this.sorted.length : found;
  }
}
