import { slackOf, type Pool } from '../ready/index.js';
import type { Holding } from './attempts.js';

/** What a task lacks before it can start: units of pools, and a slot at one of the workers that would take it. */
export class Shortage {
  constructor(
    /** So many units are lacking; nothing where it is not above 0. */
    private readonly units: Map<Pool, number>,
    /** So many attempts are too many at each worker; there is a slot where it is not above 0. */
    private readonly slots: Map<string, number>,
  ) {}

  get isMet(): boolean {
    return this.hasSlot && [...this.units].every(([pool, lack]) => lack <= slackOf(pool.capacity));
  }

  private get hasSlot(): boolean {
    return [...this.slots.values()].some((short) => short <= 0);
  }

  /** Whether it would be met if so much of each pool, and so many slots of each worker, were free besides. */
  couldBeMetBy(held: (what: Pool | string) => number): boolean {
    for (const [pool, lack] of this.units) {
      const slack = slackOf(pool.capacity);
      if (lack > slack && lack > held(pool) + slack) return false;
    }
    return [...this.slots].some(([worker, short]) => short <= 0 || short <= held(worker));
  }

  /** Whether there is anything among this that is lacking. */
  isEasedBy(held: readonly Holding[], workerId: string): boolean {
    if (!this.hasSlot && this.slots.has(workerId)) return true;
    return held.some(({ pool }) => (this.units.get(pool) ?? 0) > slackOf(pool.capacity));
  }

  ease(held: readonly Holding[], workerId: string): void {
    this.change(held, workerId, -1);
  }

  worsen(held: readonly Holding[], workerId: string): void {
    this.change(held, workerId, 1);
  }

  private change(held: readonly Holding[], workerId: string, sign: 1 | -1): void {
    for (const { pool, amount } of held) {
      const lack = this.units.get(pool);
      if (lack !== undefined) this.units.set(pool, lack + sign * amount);
    }
    const short = this.slots.get(workerId);
    if (short !== undefined) this.slots.set(workerId, short + sign);
  }
}
