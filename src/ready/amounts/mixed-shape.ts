import type { Task } from '../../model/index.js';
import { agedKey, compareHeads, windowOf, type Aging } from '../aging.js';
import type { Fits } from './fit-tree.js';
import { RankedTask } from './fitting-lane.js';
import { RankedLanes, type LanesByPlace } from './fitting-lanes.js';
import { FittingTurns, type NextTurn, type TurnHost } from './fitting-turns.js';
import type { Front } from '../front.js';
import type { Channel, Place, Shape } from '../place.js';
import type { Plan } from '../plan.js';
import type { LevelTurns, Turns } from '../turns.js';

/** What the tasks of such a shape ask of the order they stand in. */
export interface MixedHost extends TurnHost {
  readonly plan: Plan;
  readonly aging: Aging;
  readonly turns: Turns;
}

/** The ready tasks of a shape whose tasks need different amounts, in the order of one strategy. */
export abstract class MixedShape {
  constructor(
    readonly shape: Shape,
    protected readonly host: MixedHost,
  ) {}

  /** Adds a task; false when it is there already, with the same rank. */
  abstract insert(task: Task, place: Place): boolean;
  /** The best task that fits, as it competes with those of other shapes in this window. */
  abstract best(window: number, fits: Fits): Front | undefined;
  /** The smallest pass among the channels of a level with a task that fits. */
  abstract smallestPass(level: number): number | undefined;
  /** Every set of lanes it has. */
  abstract parts(): Iterable<LanesByPlace>;
  /** When one of its tasks could start, as far as resources go. */
  abstract soonest(): number;

  *heads(): Iterable<Task> {
    for (const part of this.parts()) yield* part.heads(this.shape.fits);
  }

  channelOpened(channel: Channel): void {
    const place = this.shape.byChannel.get(channel.name);
    if (place === undefined) return;
    for (const part of this.parts()) part.channelOpened(channel, place);
  }

  /** The place's tasks leave at once; how many entries that were. */
  dropPlace(place: Place): number {
    let dropped = 0;
    for (const part of this.parts()) dropped += part.dropPlace(place);
    return dropped;
  }

  collect(into: Task[]): void {
    for (const part of this.parts()) part.collect(into);
  }

  collectAt(place: Place, into: Task[]): void {
    for (const part of this.parts()) part.collectAt(place, into);
  }
}

/**
 * Tasks that compete by rank, or by effective level first.
 *
 * Between two tasks below the cap of the boost the present cancels out, so level + window is a key that stays. One
 * that has reached the cap goes to lanes of its own, with its level as the key, when it comes up: until then its key
 * makes it look better than it is. Each task moves once.
 */
export class MixedRanks extends MixedShape {
  private readonly rising = new RankedLanes(this.host);
  private readonly capped = new RankedLanes(this.host);

  override insert(task: Task, place: Place): boolean {
    const { plan, aging } = this.host;
    const level = plan.grouping === 'none' ? 0 : task.urgency;
    const window = plan.grouping === 'aged' ? windowOf(aging, task.ready) : 0;
    const entry = new RankedTask(task, level, window, level + window, plan.first(task), plan.second(task));
    return this.rising.insert(entry, place);
  }

  override best(window: number, fits: Fits): Front | undefined {
    const { maxBoost } = this.host.aging;
    const rising = this.bestRising(window, fits);
    const capped = this.capped.isEmpty ? undefined : this.capped.best(fits);
    if (rising === undefined || capped === undefined) return frontOf(rising ?? capped);
    const difference = agedKey(rising, maxBoost, window) - agedKey(capped, maxBoost, window);
    if (difference !== 0) return frontOf(difference < 0 ? rising : capped);
    return frontOf(compareHeads(rising, capped) < 0 ? rising : capped);
  }

  override smallestPass(): undefined {
    return undefined;
  }

  override *parts(): Iterable<LanesByPlace> {
    yield this.rising;
    yield this.capped;
  }

  override soonest(): number {
    const { momentOf } = this.shape;
    return Math.min(this.rising.soonest(momentOf), this.capped.soonest(momentOf));
  }

  private bestRising(window: number, fits: Fits): RankedTask | undefined {
    const { plan, aging } = this.host;
    for (;;) {
      const top = this.rising.best(fits);
      if (top === undefined || plan.grouping === 'none' || window - top.window < aging.maxBoost) return top;
      const place = this.shape.byChannel.get(top.task.spec.channel) as Place;
      this.rising.remove(top, place);
      const { task, level, a, b } = top;
      // It was counted as dropped, and is back.
      if (this.capped.insert(new RankedTask(task, level, top.window, level, a, b), place)) this.host.countDropped(-1);
    }
  }
}

function frontOf(entry: RankedTask | undefined): Front | undefined {
  if (entry === undefined) return undefined;
  const { task, level, window, a, b } = entry;
  return { task, level, window, a, b, pass: 0, lane: { channelName: task.spec.channel, task, a, b } };
}

/** Tasks whose channels take turns inside a level, while it is the level that ages. */
export class MixedTurns extends MixedShape {
  private readonly levels = new Map<number, FittingTurns>();

  override insert(task: Task, place: Place): boolean {
    const { plan } = this.host;
    const entry = new RankedTask(task, task.urgency, 0, 0, plan.first(task), plan.second(task));
    return this.levelOf(task.urgency).insert(entry, place);
  }

  /** Looks at every level that there is: they are few where channels take turns inside them. */
  override best(window: number, fits: Fits): Front | undefined {
    const { aging } = this.host;
    let best: Front | undefined;
    for (const [level, lanes] of this.levels) {
      const since = windowOf(aging, lanes.turns.agesFrom);
      if (best !== undefined && !isBefore({ level, window: since }, best, aging.maxBoost, window)) continue;
      const next = lanes.best(fits);
      if (next !== undefined) best = turnFront(level, since, next);
      else if (lanes.isEmpty) this.levels.delete(level);
    }
    return best;
  }

  override smallestPass(level: number): number | undefined {
    return this.levels.get(level)?.best(this.shape.fits)?.pass;
  }

  override parts(): Iterable<LanesByPlace> {
    return this.levels.values();
  }

  override soonest(): number {
    let soonest = Infinity;
    for (const lanes of this.levels.values()) soonest = Math.min(soonest, lanes.soonest(this.shape.momentOf));
    return soonest;
  }

  private levelOf(level: number): FittingTurns {
    const turns: LevelTurns = this.host.turns.at(level);
    const known = this.levels.get(level);
    // A level's account may have been forgotten while it was idle; its lanes go with it.
    if (known?.turns === turns) return known;
    const lanes = new FittingTurns(this.host, turns);
    this.levels.set(level, lanes);
    return lanes;
  }
}

function isBefore(
  x: { readonly level: number; readonly window: number },
  y: { readonly level: number; readonly window: number },
  maxBoost: number,
  window: number,
): boolean {
  const difference = agedKey(x, maxBoost, window) - agedKey(y, maxBoost, window);
  return difference < 0 || (difference === 0 && x.level < y.level);
}

function turnFront(level: number, window: number, { lane, found, pass }: NextTurn): Front {
  const { task, a, b } = found;
  return { task, level, window, a: level, b: 0, pass, lane: { channelName: lane.channelName, task, a, b } };
}
