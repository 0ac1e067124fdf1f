import type { CapabilityValue, Task, TaskSpec } from '../model/index.js';
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
    for (const pool of this.gates.single) if (!pool.fits(1)) return false;
    return this.amounts === undefined || this.fits(this.amounts);
  }

  /** Whether so much of each of its resources can be taken. */
  readonly fits = (amounts: readonly number[]): boolean => {
    const { needed } = this.gates;
    for (let i = 0; i < needed.length; i += 1) if (!(needed[i] as Pool).fits(amounts[i] as number)) return false;
    return true;
  };

  /** When so much of each of its resources can be taken, if it waits for tokens alone. */
  readonly momentOf = (amounts: readonly number[]): number => {
    const { single, needed } = this.gates;
    let moment = -Infinity;
    for (const pool of single) moment = Math.max(moment, pool.soonest(1));
    for (let i = 0; i < needed.length; i += 1) {
      moment = Math.max(moment, (needed[i] as Pool).soonest(amounts[i] as number));
    }
    return moment;
  };

  /** Whether this task of the shape could start now, as far as its limits and resources go. */
  admits(task: Task): boolean {
    if (!this.isOpen()) return false;
    return this.amounts !== undefined || this.fits(amountsOf(task.spec));
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

  constructor(readonly name: string) {
    this.limit = new Pool(name, Infinity);
  }

  /** Whether the channel's limit leaves room for one more attempt. */
  isOpen(): boolean {
    return this.limit.fits(1);
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
}

/** What a task takes of its resources, in the order of their names. */
export function amountsOf(spec: TaskSpec): number[] {
  return spec.needs.map((need) => need.amount);
}
