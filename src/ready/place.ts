import { needsOf, type CapabilityValue, type Need, type Task } from '../model/index.js';
import { Pool } from './pool.js';

/** The pools that the tasks of a shape draw on. */
export interface Gates {
  /** Of each of these a start takes one. */
  readonly single: readonly Pool[];
  /** Of these, in the order of the resources' names, it takes what the task needs. */
  readonly needed: readonly Pool[];
}

/** What tasks are admitted by, interned: type, capabilities and the names of the resources, with the pools behind them. */
export class Shape {
  /** How many places use it. */
  places = 0;
  /** Its places, by the names of their channels. */
  readonly byChannel = new Map<string, Place>();

  constructor(
    readonly index: number,
    /** The same for equal shapes in every process. */
    readonly key: string,
    readonly type: string,
    /** The names of the resources, sorted. */
    readonly needs: readonly string[],
    readonly capabilities: readonly (readonly [string, CapabilityValue])[],
    readonly gates: Gates,
    /** What each of its tasks takes of its resources; `undefined` once tasks have come that take different amounts. */
    public amounts: readonly number[] | undefined,
    /** The only worker that may take from it: attempts of its own go on there. `undefined` for new starts. */
    readonly worker: string | undefined,
  ) {}

  /** Whether its tasks differ in what they need, so that each fits or does not fit by itself. */
  get isMixed(): boolean {
    return this.amounts === undefined;
  }

  /**
   * Whether a task of this shape could start now; of a mixed one, as far as that does not depend on its amounts.
   * Tested at the claim, so that opening a shape moves nothing.
   */
  isOpen(): boolean {
    const { gates, amounts } = this;
    for (const pool of gates.single) if (!this.lets(pool, 1)) return false;
    return amounts === undefined || gates.needed.length === 0 || this.fits(amounts);
  }

  /** Whether so much of each of its resources can be taken. */
  readonly fits = (amounts: readonly number[]): boolean => {
    const { needed } = this.gates;
    for (let i = 0; i < needed.length; i += 1) if (!this.lets(needed[i] as Pool, amounts[i] as number)) return false;
    return true;
  };

  /** Whether so much of the pool can be taken. What goes on has paid its tokens when it started. */
  private lets(pool: Pool, amount: number): boolean {
    return this.worker === undefined ? pool.fits(amount) : pool.hasRoom(amount);
  }

  /** When so much of each of its resources can be taken, if it waits for tokens alone; `Infinity` if it does not. */
  readonly momentOf = (amounts: readonly number[]): number => {
    if (this.worker !== undefined) return Infinity;
    const { single, needed } = this.gates;
    let moment = -Infinity;
    for (const pool of single) moment = Math.max(moment, pool.soonest(1));
    for (let i = 0; i < needed.length; i += 1) {
      moment = Math.max(moment, (needed[i] as Pool).soonest(amounts[i] as number));
    }
    return moment;
  };

  /** Whether nothing but what its tasks need of this pool, and maybe of others, keeps them from starting. */
  isOpenBut(pool: Pool): boolean {
    const { single, needed } = this.gates;
    return needed.includes(pool) && single.every((each) => this.lets(each, 1));
  }

  /** Whether this task of the shape lacks some of a pool that it draws on. */
  lacks(task: Task, pool: Pool): boolean {
    const { amount } = needsOf(task)[this.gates.needed.indexOf(pool)] as Need;
    return !this.lets(pool, amount);
  }

  /** Whether this task of the shape could start now, as far as its limits and resources go. */
  admits(task: Task): boolean {
    if (!this.isOpen()) return false;
    return this.amounts !== undefined || this.fits(amountsOf(needsOf(task)));
  }
}

/** A named stream of tasks that shares fairly with others. */
export class Channel {
  weight = 1;
  /** Unlimited unless told otherwise. */
  readonly limit: Pool;
  paused = false;
  /** Ready tasks that wait for the channel to be resumed; they stand in no order and do not age. */
  readonly held = new Set<Task>();
  /** How many places use it. */
  places = 0;
  /** Attempts started since it came into use; nothing is decided by it. */
  claims = 0;

  constructor(readonly name: string) {
    this.limit = new Pool(name, Infinity);
  }

  /** Whether the channel's limit leaves room for one more attempt. */
  isOpen(): boolean {
    return this.limit.hasRoom(1);
  }
}

/** One channel and one shape: the tasks of a place differ only in their rank. */
export class Place {
  /** Unfinished tasks here. */
  tasks = 0;

  constructor(
    readonly index: number,
    readonly shape: Shape,
    readonly channel: Channel,
  ) {}

  /** Whether its tasks stand aside. What has begun goes on: a pause keeps back new starts only. */
  get paused(): boolean {
    return this.channel.paused && this.shape.worker === undefined;
  }
}

/** So much of each resource, in the order of their names. */
export function amountsOf(needs: readonly Need[]): number[] {
  return needs.map((need) => need.amount);
}
