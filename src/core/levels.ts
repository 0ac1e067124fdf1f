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

  /** The most urgent first. The level that is shown may be taken out meanwhile, and no other may come or go. */
  *mostUrgentFirst(): Iterable<[level: number, value: T]> {
    for (let i = 0; i < this.sorted.length;) {
      const level = this.sorted[i] as number;
      yield [level, this.values.get(level) as T];
      if (this.sorted[i] === level) i += 1;
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
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.sorted[middle] as number) < level) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
