import { compareNames } from '../../model/index.js';
import { FitTree, type Fits, type MomentOf } from './fit-tree.js';
import type { FittingHost, FittingLane, RankedTask } from './fitting-lane.js';
import { LanesByPlace } from './fitting-lanes.js';
import type { Place } from '../place.js';
import type { LevelTurns, Turn } from '../turns.js';

/** What lanes that take turns ask of the order they stand in. */
export interface TurnHost extends FittingHost {
  turnOf(turns: LevelTurns, channel: string): Turn;
}

/** Whose turn it is, and with which task. */
export interface NextTurn {
  readonly lane: FittingLane;
  readonly found: RankedTask;
  readonly pass: number;
}

const byName = (x: FittingLane, y: FittingLane): number =>
  compareNames(x.channelName, y.channelName) || x.place.index - y.place.index;

/**
 * The lanes of one level in which channels take turns, of which only those with a task that fits compete: the same two
 * orders as where all tasks need the same amounts, by name for those at or below the level's virtual time and by
 * pass for those ahead of it.
 */
export class FittingTurns extends LanesByPlace {
  private readonly level = new FitTree<FittingLane>(byName);
  private readonly ahead = new FitTree<FittingLane>((x, y) => x.pass - y.pass || byName(x, y));

  constructor(
    private readonly order: TurnHost,
    readonly turns: LevelTurns,
  ) {
    super(order);
  }

  override insert(entry: RankedTask, place: Place): boolean {
    const added = super.insert(entry, place);
    const lane = this.byPlace.get(place) as FittingLane;
    // The account of a channel that had nothing waiting may have been forgotten, and then stands further back.
    if (!lane.parked && this.turnOf(lane).pass < lane.pass) this.settle(lane);
    return added;
  }

  /** Whose turn it is among the lanes with a task that fits. */
  best(fits: Fits): NextTurn | undefined {
    for (;;) {
      const stale: FittingLane[] = [];
      const level = this.bestOf(this.level, fits, stale);
      const ahead = this.bestOf(this.ahead, fits, stale);
      if (stale.length === 0) return this.sooner(level, ahead);
      for (const lane of stale) this.settle(lane);
    }
  }

  /** When one of its tasks could start, as far as resources go. */
  soonest(momentOf: MomentOf): number {
    const exact = (lane: FittingLane): number => lane.soonest(momentOf);
    return Math.min(this.level.soonest(momentOf, exact), this.ahead.soonest(momentOf, exact));
  }

  private bestOf(lanes: FitTree<FittingLane>, fits: Fits, stale: FittingLane[]): NextTurn | undefined {
    for (const lane of lanes.fitting(fits)) {
      const isOpen = lane.place.channel.isOpen();
      const found = isOpen ? lane.best(fits) : undefined;
      const { pass } = this.turnOf(lane);
      if (!isOpen || lane.stale || !this.standsRight(lane, lanes, pass)) stale.push(lane);
      else if (found !== undefined) return { lane, found, pass: Math.max(pass, this.turns.virtualTime) };
    }
    return undefined;
  }

  private standsRight(lane: FittingLane, lanes: FitTree<FittingLane>, pass: number): boolean {
    if (lanes === this.level) return pass <= this.turns.virtualTime;
    return pass === lane.pass && pass >= this.turns.virtualTime;
  }

  private sooner(level: NextTurn | undefined, ahead: NextTurn | undefined): NextTurn | undefined {
    if (level === undefined || ahead === undefined) return level ?? ahead;
    if (ahead.pass > this.turns.virtualTime) return level;
    return byName(level.lane, ahead.lane) < 0 ? level : ahead;
  }

  private turnOf(lane: FittingLane): Turn {
    return this.order.turnOf(this.turns, lane.channelName);
  }

  protected override withdraw(lane: FittingLane): void {
    // Names order both, so that a lane which stands in one of them is not found in the other.
    if (!this.level.remove(lane)) this.ahead.remove(lane);
  }

  protected override compete(lane: FittingLane): void {
    lane.pass = this.turnOf(lane).pass;
    if (lane.pass <= this.turns.virtualTime) this.level.insert(lane);
    else this.ahead.insert(lane);
  }
}
