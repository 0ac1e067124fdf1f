import type { Task } from '../../model/index.js';
import { FitTree, type Fits, type MomentOf } from './fit-tree.js';
import { FittingLane, compareLaneHeads, compareRanked, type FittingHost, type RankedTask } from './fitting-lane.js';
import type { Channel, Place } from '../place.js';

/** The lanes of some tasks of one shape, one for each place, and where each of them stands. */
export abstract class LanesByPlace {
  protected readonly byPlace = new Map<Place, FittingLane>();

  constructor(private readonly host: FittingHost) {}

  get isEmpty(): boolean {
    return this.byPlace.size === 0;
  }

  /** Takes the lane out of the competition. */
  protected abstract withdraw(lane: FittingLane): void;
  /** Lets a lane compete whose key is up to date. */
  protected abstract compete(lane: FittingLane): void;

  /** Adds an entry; false when its like is there already. */
  insert(entry: RankedTask, place: Place): boolean {
    const lane = this.byPlace.get(place);
    if (lane === undefined) {
      const added = new FittingLane(place, this.host, entry);
      this.byPlace.set(place, added);
      this.compete(added);
      return true;
    }
    if (!lane.insert(entry)) return false;
    if (lane.stale && !lane.parked) this.settle(lane);
    return true;
  }

  /** Removes an entry that is there. */
  remove(entry: RankedTask, place: Place): void {
    const lane = this.byPlace.get(place);
    if (lane === undefined) return;
    lane.remove(entry);
    if (!lane.parked) this.settle(lane);
  }

  /** Puts the lane where it belongs by now: nowhere while its channel is closed, or when it has no entries. */
  protected settle(lane: FittingLane): void {
    this.withdraw(lane);
    if (!lane.rekey()) {
      this.byPlace.delete(lane.place);
      return;
    }
    lane.parked = !lane.place.channel.isOpen();
    if (!lane.parked) this.compete(lane);
  }

  /** The best live task of every open lane. */
  *heads(fits: Fits): Iterable<Task> {
    for (const lane of [...this.byPlace.values()]) {
      const found = lane.place.channel.isOpen() ? lane.best(fits) : undefined;
      if (lane.stale && !lane.parked) this.settle(lane);
      if (found !== undefined) yield found.task;
    }
  }

  channelOpened(channel: Channel, place: Place): void {
    const lane = this.byPlace.get(place);
    if (lane?.parked !== true || !channel.isOpen()) return;
    lane.parked = false;
    if (lane.rekey()) this.compete(lane);
    else this.byPlace.delete(place);
  }

  /** The place's tasks leave at once; how many entries that were. */
  dropPlace(place: Place): number {
    const lane = this.byPlace.get(place);
    if (lane === undefined) return 0;
    if (!lane.parked) this.withdraw(lane);
    this.byPlace.delete(place);
    return lane.length;
  }

  collect(into: Task[]): void {
    for (const lane of this.byPlace.values()) lane.collect(into);
  }

  collectAt(place: Place, into: Task[]): void {
    this.byPlace.get(place)?.collect(into);
  }
}

/** Lanes that compete by the ranks of their tasks alone. */
export class RankedLanes extends LanesByPlace {
  private readonly lanes = new FitTree<FittingLane>(compareLaneHeads);

  /**
   * The best live task that fits. A lane whose best task does not fit may have another that does: lanes are looked
   * at in the order of their best tasks, until one is behind what was found.
   */
  best(fits: Fits): RankedTask | undefined {
    let best: RankedTask | undefined;
    const stale: FittingLane[] = [];
    for (const lane of this.lanes.fitting(fits)) {
      if (best !== undefined && compareRanked(best, lane.head) < 0) break;
      const isOpen = lane.place.channel.isOpen();
      const found = isOpen ? lane.best(fits) : undefined;
      if (lane.stale || !isOpen) stale.push(lane);
      if (found !== undefined && (best === undefined || compareRanked(found, best) < 0)) best = found;
    }
    // Where they stand only ever looks better than it is, so that it can wait until here.
    for (const lane of stale) this.settle(lane);
    return best;
  }

  soonest(momentOf: MomentOf): number {
    return this.lanes.soonest(momentOf, (lane) => lane.soonest(momentOf));
  }

  protected override withdraw(lane: FittingLane): void {
    this.lanes.remove(lane);
  }

  protected override compete(lane: FittingLane): void {
    this.lanes.insert(lane);
  }
}
