import { compareNames, type Task } from '../model/index.js';
import type { PlaceTasks } from './by-place.js';

/** A channel's account at one level: how many turns it has had, for its weight. */
export class Turn {
  /** Its ready tasks at this level, those of paused channels excepted. */
  waiting = 0;
  private base = 0;
  private spent = 0;
  /** Charged ahead of time and not used: it pays for later turns. */
  private credit = 0;

  constructor(
    readonly channel: string,
    private weight: number,
  ) {}

  /** Turns had, divided by weight. Counted from a base, so that ten tenths are exactly one. */
  get pass(): number {
    return this.base + this.spent / this.weight;
  }

  /** Whether nothing was ever charged to it, so that a new account says the same. */
  get isBlank(): boolean {
    return this.base === 0 && this.spent === 0 && this.credit === 0;
  }

  /** Whether a new account would stand where this one does while the level is at this virtual time. */
  isSpent(virtualTime: number): boolean {
    return this.credit === 0 && this.pass <= virtualTime;
  }

  /** Where it stands while it competes: who was away neither pays for it nor gains by it. */
  passAt(virtualTime: number): number {
    return Math.max(this.pass, virtualTime);
  }

  charge(amount: number, virtualTime: number): void {
    if (this.pass < virtualTime) this.moveTo(virtualTime);
    const due = Math.max(0, amount - this.credit);
    this.credit = Math.max(0, this.credit - amount);
    this.spent += due;
  }

  /** Settles what a start was charged ahead against what it really took. A pass never falls. */
  correct(prepaid: number, actual: number): void {
    if (actual >= prepaid) this.charge(actual - prepaid, this.pass);
    else this.credit += prepaid - actual;
  }

  setWeight(weight: number): void {
    if (weight === this.weight) return;
    this.moveTo(this.pass);
    this.weight = weight;
  }

  /** The account as plain numbers. */
  save(): readonly number[] {
    return [this.base, this.spent, this.credit];
  }

  load([base = 0, spent = 0, credit = 0]: readonly number[]): void {
    this.base = base;
    this.spent = spent;
    this.credit = credit;
  }

  private moveTo(pass: number): void {
    this.base = pass;
    this.spent = 0;
  }
}

/** One level under fair sharing: its channels' accounts, its virtual time, and since when it ages. */
export class LevelTurns {
  /** The smallest pass among eligible waiting channels, at its highest so far. */
  virtualTime = 0;
  /** The later of its last start and its becoming non-empty, monotonic. */
  agesFrom = 0;
  /** Its ready tasks, over all channels. */
  waiting = 0;
  /** Channels with ready tasks. */
  busy = 0;
  readonly channels = new Map<string, Turn>();

  constructor(readonly level: number) {}

  /** Accounts of channels without ready tasks. */
  get idle(): number {
    return this.channels.size - this.busy;
  }

  /**
   * Drops the idle accounts that say nothing, as whoever is not ahead of the virtual time rejoins at it anyway, and
   * of the others all but {@link IDLE_TURNS}: the smallest pass first, as its channel gains least by being forgotten.
   */
  sweep(isNeeded: (turn: Turn) => boolean): void {
    const ahead: Turn[] = [];
    for (const turn of this.channels.values()) {
      if (turn.waiting > 0 || isNeeded(turn)) continue;
      if (turn.isSpent(this.virtualTime)) this.channels.delete(turn.channel);
      else ahead.push(turn);
    }
    // By name where passes are equal, as the accounts lie in another order after a restart.
    ahead.sort((x, y) => y.pass - x.pass || compareNames(x.channel, y.channel));
    for (const turn of ahead.slice(IDLE_TURNS)) this.channels.delete(turn.channel);
  }
}

/** Idle levels whose accounts are remembered. */
const IDLE_LEVELS = 1024;
/** Idle accounts that a sweep leaves to a level; it comes when there are twice as many. */
const IDLE_TURNS = 1024;

/** What the accounts need to know of channels. */
export interface ChannelSource {
  weightOf(channel: string): number;
  /** Whether an attempt holds a place under the channel's limit. */
  isHeld(channel: string): boolean;
}

/** Every level's accounts as plain data: of each channel its name, base, turns spent and credit. */
export type TurnsRecord = readonly {
  readonly level: number;
  readonly virtualTime: number;
  readonly agesFrom: number;
  readonly accounts: readonly (readonly [channel: string, ...account: readonly number[]])[];
}[];

/** Who has had how many turns, at every level. */
export class Turns {
  private readonly levels = new Map<number, LevelTurns>();
  /** Levels with ready tasks. */
  private busy = 0;

  constructor(
    private readonly source: ChannelSource,
    /** The smallest pass among the channels of a level that have eligible work waiting. */
    private readonly smallestPass: (level: LevelTurns) => number | undefined,
    /** How many attempts will still be charged for what they really took; their accounts are not dropped. */
    private readonly uncorrected: () => number,
  ) {}

  /** A ready task joins; a channel that had none waiting takes its place by the level's virtual time. */
  join(level: number, channel: string, mono: number): void {
    const turns = this.at(level);
    if (turns.waiting === 0) turns.agesFrom = Math.max(turns.agesFrom, mono);
    const turn = this.turn(turns, channel);
    if (turn.waiting === 0) this.advance(turns);
    this.count(turns, turn, 1);
  }

  /** These tasks are there when the accounts are opened: nobody is ahead of anybody, and no virtual time rises. */
  begin(ready: PlaceTasks, mono: number): void {
    for (const tasks of ready.byLevel()) {
      const turns = this.at((tasks[0] as Task).urgency);
      turns.agesFrom = mono;
      this.count(turns, this.turn(turns, ready.place.channel.name), tasks.length);
    }
  }

  /** Counts a task that joined before a restart. */
  restore(level: number, channel: string): void {
    const turns = this.at(level);
    this.count(turns, this.turn(turns, channel), 1);
  }

  /** The accounts as plain data, by name, without those that say nothing. */
  save(): TurnsRecord {
    return [...this.levels.values()].map((turns) => ({
      level: turns.level,
      virtualTime: turns.virtualTime,
      agesFrom: turns.agesFrom,
      accounts: [...turns.channels.values()]
        .filter((turn) => !turn.isBlank)
        .map((turn) => [turn.channel, ...turn.save()] as const)
        .sort(([x], [y]) => (x < y ? -1 : 1)),
    }));
  }

  load(record: TurnsRecord): void {
    for (const { level, virtualTime, agesFrom, accounts } of record) {
      const turns = this.at(level);
      turns.virtualTime = virtualTime;
      turns.agesFrom = agesFrom;
      for (const [channel, ...account] of accounts) this.turn(turns, channel).load(account);
    }
  }

  /** A ready task has gone, whether started or not. */
  leave(level: number, channel: string): void {
    const turns = this.at(level);
    const turn = this.turn(turns, channel);
    turns.waiting -= 1;
    turn.waiting -= 1;
    if (turn.waiting > 0) return;
    turns.busy -= 1;
    // A snapshot leaves it out too: what is swept, and when, must be the same after a restart.
    if (turn.isBlank) turns.channels.delete(channel);
    this.sweep(turns, turn);
    if (turns.waiting > 0) return;
    this.busy -= 1;
    this.forgetOldest();
  }

  /** Charges a start to its channel. */
  charge(level: number, channel: string, amount: number, mono: number): void {
    const turns = this.at(level);
    turns.agesFrom = mono;
    this.turn(turns, channel).charge(amount, turns.virtualTime);
  }

  /** Brings a level's virtual time up to what its eligible waiting channels have reached. */
  advance(turns: LevelTurns): void {
    const smallest = this.smallestPass(turns);
    if (smallest !== undefined && smallest > turns.virtualTime) turns.virtualTime = smallest;
  }

  /** Settles a start against what it took; an account that is forgotten stays so. */
  correct(level: number, channel: string, prepaid: number, actual: number): void {
    const turns = this.levels.get(level);
    const turn = turns?.channels.get(channel);
    if (turns === undefined || turn === undefined) return;
    turn.correct(prepaid, actual);
    if (turn.waiting === 0) this.sweep(turns, turn);
  }

  /** Weights have changed, also those of channels that have nothing but an account. */
  reweigh(): void {
    for (const { channels } of this.levels.values()) {
      for (const turn of channels.values()) turn.setWeight(this.source.weightOf(turn.channel));
    }
  }

  at(level: number): LevelTurns {
    let turns = this.levels.get(level);
    if (turns === undefined) {
      turns = new LevelTurns(level);
      this.levels.set(level, turns);
    }
    return turns;
  }

  turn(turns: LevelTurns, channel: string): Turn {
    let turn = turns.channels.get(channel);
    if (turn === undefined) {
      turn = new Turn(channel, this.source.weightOf(channel));
      turns.channels.set(channel, turn);
    }
    return turn;
  }

  all(): Iterable<LevelTurns> {
    return this.levels.values();
  }

  private count(turns: LevelTurns, turn: Turn, tasks: number): void {
    if (turns.waiting === 0) this.busy += 1;
    if (turn.waiting === 0) turns.busy += 1;
    turns.waiting += tasks;
    turn.waiting += tasks;
  }

  /** Comes when it can drop half of the idle accounts and those are no fewer than the rest, so it costs little each. */
  private sweep(turns: LevelTurns, current: Turn): void {
    if (turns.idle <= 2 * IDLE_TURNS || turns.idle < turns.busy) return;
    const uncorrected = this.uncorrected();
    if (turns.idle <= 2 * (IDLE_TURNS + uncorrected)) return;
    // The current one may be about to be charged.
    turns.sweep((turn) => turn === current || (uncorrected > 0 && this.source.isHeld(turn.channel)));
  }

  private forgetOldest(): void {
    let idle = this.levels.size - this.busy;
    if (idle <= IDLE_LEVELS || idle < this.busy) return;
    for (const [level, turns] of this.levels) {
      if (turns.waiting > 0) continue;
      this.levels.delete(level);
      idle -= 1;
      if (idle <= IDLE_LEVELS / 2) return;
    }
  }
}
