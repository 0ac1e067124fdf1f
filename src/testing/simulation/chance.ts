import { SeededRandom } from '../../model/index.js';

/** Chance of one step: its own seed, so that a step does the same whatever was left out before it. */
export class Chance {
  private readonly random: SeededRandom;

  constructor(readonly seed: number) {
    this.random = new SeededRandom(seed);
  }

  /** A whole number from 0 to below the number of sides. */
  roll(sides: number): number {
    return Math.floor(this.random.next() * sides);
  }

  oneIn(sides: number): boolean {
    return this.roll(sides) === 0;
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  pick<Item>(items: readonly Item[]): Item | undefined;
  pick<Item>(items: readonly Item[]): Item | undefined {
    return items[this.roll(items.length)];
  }

  /** The fields of which chance lets some through. */
  some<Fields extends object>(sides: number, fields: Fields): Partial<Fields> {
    return Object.fromEntries(Object.entries(fields).filter(() => this.oneIn(sides))) as Partial<Fields>;
  }
}
