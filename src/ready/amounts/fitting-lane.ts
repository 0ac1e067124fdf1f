import { needsOf, type Task } from '../../model/index.js';
import { FitNode, FitTree, type Fits, type MomentOf } from './fit-tree.js';
import { compareRank } from '../packed-heap.js';
import { amountsOf, type Place } from '../place.js';
import { scramble } from '../sum-nodes.js';

/** A ready task among others of its shape that need other amounts, with the rank it was entered by. */
export class RankedTask extends FitNode<RankedTask> {
  constructor(
    readonly task: Task,
    readonly level: number,
    /** The aging window since which it has aged; zero where tasks do not age. */
    readonly window: number,
    /** What goes before the rank: the level with its boost, as far as it orders tasks. */
    readonly base: number,
    readonly a: number,
    readonly b: number,
  ) {
    super(scramble(task.sequence), amountsOf(needsOf(task)));
  }
}

/**
 * The order of two entries. A task that was here before may have left one behind that has the same rank and is dead, as
 * its level or window is another: these must be told apart.
 */
export function compareRanked(x: RankedTask, y: RankedTask): number {
  if (x.base !== y.base) return x.base < y.base ? -1 : 1;
  return compareRank(x.a, x.b, x.task, y.a, y.b, y.task) || x.level - y.level || x.window - y.window;
}

/** What a lane asks of the order it stands in. */
export interface FittingHost {
  isLive(entry: RankedTask, place: Place): boolean;
  countDropped(entries: number): void;
}

/**
 * The ready tasks of one place that need different amounts: its head depends on what is free.
 *
 * Entries of tasks that have left make its head and its smallest amounts look better than they are, never worse; they
 * are dropped when they come up.
 */
export class FittingLane extends FitNode<FittingLane> {
  /** The best entry when it was last put in its place among the lanes: no entry is better. */
  head: RankedTask;
  /** The pass it was put there by, where channels take turns. */
  pass = 0;
  /** Out of the competition until its channel opens. */
  parked = false;
  /** Whether it no longer stands where its entries would put it. */
  stale = false;
  private readonly entries = new FitTree<RankedTask>(compareRanked);

  constructor(
    readonly place: Place,
    private readonly host: FittingHost,
    first: RankedTask,
  ) {
    super(scramble(place.index), first.amounts);
    this.head = first;
    this.entries.insert(first);
  }

  get channelName(): string {
    return this.place.channel.name;
  }

  get length(): number {
    return this.entries.size;
  }

  /** Adds an entry; false when its like is there already. */
  insert(entry: RankedTask): boolean {
    if (!this.entries.insert(entry)) return false;
    if (compareRanked(entry, this.head) < 0 || entry.amounts.some((amount, i) => amount < (this.amounts[i] as number)))
      this.stale = true;
    return true;
  }

  remove(entry: RankedTask): void {
    if (!this.entries.remove(entry)) return;
    this.stale = true;
    this.host.countDropped(1);
  }

  /** The best live task that fits. */
  best(fits: Fits): RankedTask | undefined {
    for (let head = this.entries.first(); head !== undefined && !this.isLive(head); head = this.entries.first()) {
      this.remove(head);
    }
    for (;;) {
      const found = this.entries.firstFitting(fits);
      if (found === undefined || this.isLive(found)) return found;
      this.remove(found);
    }
  }

  /** When one of its tasks could start, as far as resources go. */
  soonest(momentOf: MomentOf): number {
    if (!this.place.channel.isOpen()) return Infinity;
    return this.entries.soonest(momentOf, (entry) => (this.isLive(entry) ? momentOf(entry.amounts) : Infinity));
  }

  private isLive(entry: RankedTask): boolean {
    return this.host.isLive(entry, this.place);
  }

  /** Takes the key that its entries give it; it must stand in no tree meanwhile. False when it has no entries. */
  rekey(): boolean {
    this.stale = false;
    const first = this.entries.first();
    if (first === undefined) return false;
    this.head = first;
    this.amounts = [...(this.entries.root as RankedTask).least];
    return true;
  }

  /** Adds the tasks of all live entries to a list. */
  collect(into: Task[]): void {
    for (const entry of this.entries) if (this.isLive(entry)) into.push(entry.task);
  }
}

/** The order of lanes that compete by their heads alone. */
export function compareLaneHeads(x: FittingLane, y: FittingLane): number {
  return compareRanked(x.head, y.head) || x.place.index - y.place.index;
}
