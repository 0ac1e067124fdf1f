import type { Task } from '../model/index.js';
import { windowOf, type Aged, type AgedHeads, type Aging } from './aging.js';
import { Heads, type HeadEntry } from './heads.js';
import { Lane, type LaneHost } from './lane.js';
import type { Place } from './place.js';
import type { Plan } from './plan.js';
import { TurnLanes } from './turn-lanes.js';
import type { LevelTurns, Turn } from './turns.js';

/** What a group asks of the order it stands in. */
export interface GroupHost {
  readonly plan: Plan;
  readonly aging: Aging;
  owns(group: Group, task: Task): boolean;
  park(group: Group, lane: Lane): void;
  turnOf(turns: LevelTurns, channel: string): Turn;
  countDropped(entries: number): void;
}

/**
 * The lanes of one shape that share a level, and under aging also the window since which their tasks have aged.
 *
 * Inside a group the best lane is the one with the best head, or under fair sharing the one whose turn it is.
 */
export class Group implements Aged, LaneHost {
  entry: HeadEntry | undefined = undefined;
  capped = false;
  /** The lane that {@link refresh} found best. */
  lane: Lane | undefined = undefined;
  private readonly lanes = new Map<number, Lane>();
  /** The only lane there is, which then need not compete with any other. */
  private sole: Lane | undefined = undefined;
  private readonly byHead = new Heads<Lane>();
  private readonly byTurn: TurnLanes | undefined;

  constructor(
    private readonly order: GroupHost,
    /** Where it competes with the other groups of its shape. */
    readonly heads: AgedHeads<Group>,
    readonly level: number,
    private readonly agedSince: number,
    /** The level's accounts, under fair sharing. */
    readonly turns: LevelTurns | undefined,
  ) {
    this.byTurn = turns === undefined ? undefined : new TurnLanes(turns);
  }

  get window(): number {
    return this.turns === undefined ? this.agedSince : windowOf(this.order.aging, this.turns.agesFrom);
  }

  get base(): number {
    return this.capped ? this.level : this.level + this.window;
  }

  get task(): Task | undefined {
    return this.lane?.task;
  }

  /** Levels are distinct, so under fair sharing the level itself settles every tie between groups of a shape. */
  get a(): number {
    return this.turns === undefined ? (this.lane as Lane).a : this.level;
  }

  get b(): number {
    return this.turns === undefined ? (this.lane as Lane).b : 0;
  }

  /** The best lane's pass, under fair sharing. */
  get pass(): number {
    const turns = this.turns as LevelTurns;
    return (this.lane as Lane).turn.passAt(turns.virtualTime);
  }

  refresh(): boolean {
    const { sole } = this;
    if (sole !== undefined && this.byTurn === undefined) {
      this.lane = sole.refresh() ? sole : undefined;
      return this.lane !== undefined;
    }
    this.lane = this.byTurn === undefined ? this.byHead.best() : this.byTurn.best();
    return this.lane !== undefined;
  }

  /** The lane of a place, if it has ever had one. */
  knownLane(place: Place): Lane | undefined {
    return this.lanes.get(place.index);
  }

  /** The lane of a place, made on first need. */
  laneOf(place: Place): Lane {
    if (this.sole?.place === place) return this.sole;
    let lane = this.lanes.get(place.index);
    if (lane === undefined) {
      lane = new Lane(this, place);
      this.lanes.set(place.index, lane);
      this.sole = this.lanes.size === 1 ? lane : undefined;
    }
    return lane;
  }

  /** A parked lane competes again. */
  unpark(lane: Lane): boolean {
    lane.parked = false;
    if (!lane.refresh()) return false;
    this.compete(lane, lane.task as Task, lane.a, lane.b);
    return true;
  }

  park(lane: Lane): void {
    if (lane.parked) return;
    lane.parked = true;
    this.order.park(this, lane);
  }

  dropLane(place: Place): Lane | undefined {
    const lane = this.lanes.get(place.index);
    if (lane === undefined) return undefined;
    this.drop(place.index, lane);
    return lane;
  }

  owns(task: Task): boolean {
    return this.order.owns(this, task);
  }

  ranks(task: Task, a: number, b: number): boolean {
    return this.order.plan.first(task) === a && this.order.plan.second(task) === b;
  }

  turnOf(channel: string): Turn {
    return this.order.turnOf(this.turns as LevelTurns, channel);
  }

  countDropped(entries: number): void {
    this.order.countDropped(entries);
  }

  allLanes(): Iterable<Lane> {
    return this.lanes.values();
  }

  /** Forgets lanes without entries; true when none is left. */
  purge(): boolean {
    for (const [index, lane] of this.lanes) {
      if (lane.refresh() || lane.parked) continue;
      this.drop(index, lane);
    }
    return this.lanes.size === 0;
  }

  private drop(index: number, lane: Lane): void {
    lane.dropped = true;
    this.lanes.delete(index);
    this.sole = undefined;
  }

  /** Lets the lane compete with at least this head. */
  compete(lane: Lane, task: Task, a: number, b: number): void {
    if (this.byTurn === undefined) this.byHead.offer(lane, 0, task, a, b);
    else if (!lane.competing) this.byTurn.add(lane);
  }
}
