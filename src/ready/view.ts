import type { CapabilityValue, Task } from '../model/index.js';
import type { PlaceTasks } from './by-place.js';
import { ChosenOrder } from './chosen-order.js';
import type { FaultReport, Faults } from './faults.js';
import type { Aging } from './aging.js';
import { LaneOrder } from './lane-order.js';
import type { ClaimView, Order } from './order.js';
import type { Place } from './place.js';
import type { Plan } from './plan.js';
import type { Pool } from './pool.js';
import {
  customPlan,
  defaultWeight,
  isWeighted,
  planOf,
  usableWeight,
  type PlanSources,
  type StrategyChoice,
} from './strategy.js';
import type { Turns } from './turns.js';
import { WeightedOrder } from './weighted-order.js';

/** What a worker may judge a place by: what all its tasks have in common, never a single task. */
export interface PlaceTraits {
  readonly channel: string;
  readonly type: string;
  /** The names of the resources. */
  readonly needs: readonly string[];
  readonly capabilities: readonly (readonly [string, CapabilityValue])[];
}

/** Says which places a worker is willing to take from. */
export type PlaceFilter = (place: PlaceTraits) => boolean;

/** What orders are made of. */
export interface OrderSources extends Omit<PlanSources, 'maxWaitMs'> {
  readonly turns: Turns;
  /** What functions of the user's that decide do wrong. */
  readonly faults: Faults;
  random(): number;
}

/** Before all strategies: who has waited for longest. */
const OVERDUE: Plan = {
  name: 'overdue',
  grouping: 'none',
  alike: 'none',
  first: (task) => task.ready,
  second: () => 0,
  describe: () => 'longest wait',
};

/** The ready tasks as one kind of worker sees them: by its strategy, and only from places it takes. */
export class View {
  /** How many workers look through it. */
  users = 0;
  private order: Order | undefined = undefined;
  private overdue: LaneOrder | undefined = undefined;
  /** The places the filter was asked about, by index, and what it said. */
  private readonly asked: Place[] = [];
  private readonly taken: boolean[] = [];

  constructor(
    readonly choice: StrategyChoice,
    readonly filter: PlaceFilter | undefined,
    private readonly faults: Faults,
  ) {}

  get built(): boolean {
    return this.order !== undefined;
  }

  get isFair(): boolean {
    return this.choice === 'fair';
  }

  /** Whether tasks have ranks, which they do not where chance decides. */
  get isRanked(): boolean {
    return this.choice !== 'weighted-random' && !isWeighted(this.choice);
  }

  /** The order as lanes with turns, once built. */
  get fairOrder(): LaneOrder | undefined {
    return this.isFair ? (this.order as LaneOrder | undefined) : undefined;
  }

  /**
   * Whether the filter takes this place. It is asked once: places are few and tasks many, and one that changed its mind
   * would lose tasks. One that throws, or says neither yes nor no, says no, as a command that is halfway through must not
   * end there.
   */
  takes(place: Place): boolean {
    const { filter } = this;
    // What a worker has begun it goes on with, whatever its filter says to the place at which that waits.
    if (filter === undefined || place.shape.worker !== undefined) return true;
    // A place's number may be used again for another place.
    if (this.asked[place.index] === place) return this.taken[place.index] === true;
    const takes = this.ask(filter, place);
    this.asked[place.index] = place;
    this.taken[place.index] = takes;
    return takes;
  }

  private ask(filter: PlaceFilter, place: Place): boolean {
    const report = this.faults.of(filter);
    const { type, needs, capabilities } = place.shape;
    const channel = place.channel.name;
    const decision = { by: 'filter', channel, taskType: type } as const;
    try {
      const takes: unknown = filter({ channel, type, needs, capabilities });
      if (typeof takes === 'boolean') return takes;
      report(decision, { gave: takes });
    } catch (error) {
      report(decision, { threw: error });
    }
    return false;
  }

  /** How its order is described. */
  describe(sources: OrderSources, aging: Aging): string {
    return planFor(this.choice, sources, aging)?.describe() ?? 'random by weight of priority';
  }

  /** Makes the order anew from these tasks. */
  build(ready: readonly PlaceTasks[], sources: OrderSources, aging: Aging): void {
    this.order = makeOrder(this.choice, sources, aging);
    this.overdue = aging.maxWaitMs === Infinity ? undefined : new LaneOrder(OVERDUE, aging, sources.turns);
    for (const each of ready) {
      if (!this.takes(each.place)) continue;
      this.order.insertAll(each);
      this.overdue?.insertAll(each);
    }
  }

  /** Whether most of what it holds is dead. */
  isStale(ready: number): boolean {
    const bound = 2 * ready + 64;
    return (this.order?.entries ?? 0) > bound || (this.overdue?.entries ?? 0) > bound;
  }

  insert(task: Task, place: Place): void {
    if (this.filter !== undefined && !this.takes(place)) return;
    this.order?.insert(task, place);
    this.overdue?.insert(task, place);
  }

  remove(task: Task, place: Place): void {
    this.order?.remove(task, place);
  }

  rekey(task: Task, place: Place, before: number): void {
    if (this.filter !== undefined && !this.takes(place)) return;
    this.order?.rekey(task, place, before);
  }

  /** The best task that could start now. */
  best(claim: ClaimView, maxWaitMs: number): Task | undefined {
    const longest = this.overdue?.best(claim);
    if (longest !== undefined && claim.mono - longest.ready >= maxWaitMs) return longest;
    return this.order?.best(claim);
  }

  /** The best-ranked task that would start, did it not lack some of this pool; there must be ranks. */
  foremost(claim: ClaimView, pool: Pool, maxWaitMs: number): Task | undefined {
    const longest = this.overdue?.foremost(claim, pool);
    if (longest !== undefined && claim.mono - longest.ready >= maxWaitMs) return longest;
    return (this.order as LaneOrder | undefined)?.foremost(claim, pool);
  }

  soonest(claim: ClaimView): number {
    return this.order?.soonest(claim) ?? Infinity;
  }

  /** Every live task it holds; one may come up more than once. */
  tasks(): Task[] {
    return this.order?.tasks() ?? [];
  }

  /** The live tasks of one place; one may come up more than once. */
  tasksAt(place: Place): Task[] {
    return this.order?.tasksAt(place) ?? [];
  }

  *orders(): Iterable<Order> {
    if (this.order !== undefined) yield this.order;
    if (this.overdue !== undefined) yield this.overdue;
  }
}

/** The order by which turns are counted: one over all tasks if there is any. */
export function fairOrderOf(views: readonly View[]): LaneOrder | undefined {
  let found: LaneOrder | undefined;
  for (const { fairOrder, filter } of views) {
    if (fairOrder !== undefined && filter === undefined) return fairOrder;
    found ??= fairOrder;
  }
  return found;
}

/** The plan behind a choice; `undefined` where chance decides. */
export function planFor(
  choice: StrategyChoice,
  sources: Omit<PlanSources, 'maxWaitMs'>,
  aging: Aging,
  report?: FaultReport,
): Plan | undefined {
  if (choice === 'weighted-random' || isWeighted(choice)) return undefined;
  if (typeof choice === 'object') return customPlan(choice, report);
  return planOf(choice, { ...sources, maxWaitMs: aging.maxWaitMs });
}

function makeOrder(choice: StrategyChoice, sources: OrderSources, aging: Aging): Order {
  const random = (): number => sources.random();
  const report = typeof choice === 'object' ? sources.faults.of(choice) : undefined;
  if (isWeighted(choice)) return new WeightedOrder(usableWeight(choice, report), random);
  const plan = planFor(choice, sources, aging, report);
  if (plan === undefined) return new WeightedOrder(defaultWeight, random);
  if (report !== undefined && typeof choice === 'object' && choice.choose !== undefined) {
    const chooser = { ...choice, name: choice.name, choose: choice.choose.bind(choice) };
    return new ChosenOrder(chooser, random, report, plan, aging, sources.turns);
  }
  return new LaneOrder(plan, aging, sources.turns);
}
