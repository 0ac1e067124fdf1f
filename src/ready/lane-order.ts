import { standsAt, type Task } from '../model/index.js';
import { agedKey, compareHeads, windowOf, type Aging } from './aging.js';
import { areAlike, sharesOf, type PlaceTasks } from './by-place.js';
import type { RankedTask } from './amounts/fitting-lane.js';
import { compareTurns, type Front } from './front.js';
import { Group, type GroupHost } from './group.js';
import type { Lane } from './lane.js';
import type { MixedHost } from './amounts/mixed-shape.js';
import { MixedShapes } from './amounts/mixed-shapes.js';
import type { ClaimView, Order } from './order.js';
import type { Channel, Place, Shape } from './place.js';
import type { Plan } from './plan.js';
import type { Pool } from './pool.js';
import { ShapeGroups } from './shape-groups.js';
import type { LevelTurns, Turn, Turns } from './turns.js';

/**
 * An order made of lanes: shapes are tried one by one, each offers its best group, that its best lane, that its head.
 *
 * Claiming is looking: the task found is dropped from its lane when its state has changed and the lane is asked again.
 */
export class LaneOrder implements Order, GroupHost, MixedHost {
  entries = 0;
  /** By the shape's index. */
  private readonly shapes: (ShapeGroups | undefined)[] = [];
  /** Shapes whose tasks need different amounts have no groups. */
  private readonly mixed = new MixedShapes(this);
  /** Lanes that wait for their channel to open, by its name, each with its group. */
  private readonly parked = new Map<string, Map<Lane, Group>>();
  private readonly fair: boolean;
  private readonly aged: boolean;

  constructor(
    readonly plan: Plan,
    readonly aging: Aging,
    readonly turns: Turns,
  ) {
    this.fair = plan.grouping === 'level';
    this.aged = plan.grouping === 'aged';
  }

  insert(task: Task, place: Place): void {
    if (place.shape.isMixed) {
      if (this.mixed.at(place.shape).insert(task, place)) this.entries += 1;
      return;
    }
    const a = this.plan.first(task);
    const b = this.plan.second(task);
    const group = this.groupOf(this.shapeGroups(place.shape), task);
    const lane = group.laneOf(place);
    this.entries += 1;
    // Behind a head that competes already, a task changes nothing that anybody can see.
    if ((lane.push(task, a, b) && lane.competes && group.entry !== undefined) || lane.parked) return;
    group.compete(lane, task, a, b);
    this.offer(group, task, a, b);
  }

  /** Lanes compete once they are full, not with each task that comes. */
  insertAll(ready: PlaceTasks): void {
    if (ready.place.shape.isMixed) {
      for (const task of ready.tasks) this.insert(task, ready.place);
      return;
    }
    const groups = this.shapeGroups(ready.place.shape);
    const alike = areAlike(ready, this.plan);
    for (const tasks of sharesOf(ready, this.plan, this.aging)) {
      const group = this.groupOf(groups, tasks[0] as Task);
      const lane = group.laneOf(ready.place);
      if (alike) lane.fill(tasks, this.plan);
      else lane.pushAll(tasks, this.plan);
      this.entries += tasks.length;
      if (!lane.refresh()) continue;
      group.compete(lane, lane.task as Task, lane.a, lane.b);
      this.offer(group, lane.task as Task, lane.a, lane.b);
    }
  }

  // A task that has left is dropped when it reaches the head of its lane.
  remove(): void {
    return;
  }

  // The entry made with the old rank is dead from now on.
  rekey(task: Task, place: Place): void {
    this.insert(task, place);
  }

  shapeMixed(shape: Shape): void {
    const groups = this.shapes[shape.index];
    if (groups?.shape !== shape) return;
    this.shapes[shape.index] = undefined;
    for (const lane of this.dropLanes(groups, shape.byChannel.values())) {
      const live: Task[] = [];
      lane.collect(lane, live);
      for (const task of live) this.insert(task, lane.place);
    }
  }

  best(claim: ClaimView): Task | undefined {
    let best: Front | undefined;
    for (let i = 0; i < this.shapes.length; i += 1) {
      const groups = this.shapes[i];
      if (groups?.shape.isOpen() !== true || !claim.matches(groups.shape)) continue;
      const group = groups.heads.best(claim.window);
      if (group === undefined) continue;
      if (best === undefined || this.compare(group, best, claim.window) < 0) best = group;
    }
    return (this.mixed.size === 0 ? best : this.bestMixed(claim, best))?.task;
  }

  private bestMixed(claim: ClaimView, other: Front | undefined): Front | undefined {
    let best = other;
    for (const front of this.mixed.fronts(claim)) {
      if (best === undefined || this.compare(front, best, claim.window) < 0) best = front;
    }
    return best;
  }

  /** The best-ranked of those that are the best of their shape and would start, did they not lack some of this pool. */
  foremost(claim: ClaimView, pool: Pool): Task | undefined {
    let best: Front | undefined;
    for (const front of this.frontsLacking(claim, pool)) {
      if (best === undefined || this.compare(front, best, claim.window) < 0) best = front;
    }
    return best?.task;
  }

  private *frontsLacking(claim: ClaimView, pool: Pool): Iterable<Front> {
    for (const groups of this.shapes) {
      if (groups?.shape.isOpenBut(pool) !== true || !claim.matches(groups.shape)) continue;
      const group = groups.heads.best(claim.window);
      if (group !== undefined && groups.shape.lacks(group.task as Task, pool)) yield group;
    }
    yield* this.mixed.frontsLacking(claim, pool);
  }

  soonest(claim: ClaimView): number {
    let soonest = this.mixed.soonest(claim);
    for (const groups of this.shapes) {
      const shape = groups?.shape;
      if (shape?.amounts === undefined || !claim.matches(shape)) continue;
      const moment = shape.momentOf(shape.amounts);
      if (moment > claim.mono && moment < soonest && groups?.heads.best(claim.window) !== undefined) soonest = moment;
    }
    return soonest;
  }

  /** The head of every open lane, for strategies that choose by themselves. */
  *heads(claim: ClaimView): Iterable<Task> {
    for (const groups of this.shapes) {
      if (groups?.shape.isOpen() !== true || !claim.matches(groups.shape)) continue;
      for (const group of groups.all()) {
        for (const lane of group.allLanes()) if (!lane.parked && lane.refresh()) yield lane.task as Task;
      }
    }
    yield* this.mixed.heads(claim);
  }

  /** The smallest pass among the channels of a level with work that could start now. */
  smallestPass(turns: LevelTurns, isServed: (shape: Shape) => boolean): number | undefined {
    let smallest = this.mixed.smallestPass(turns.level, isServed);
    for (const groups of this.shapes) {
      const group = groups?.byWindow.get(0)?.get(turns.level);
      if (group === undefined || groups?.shape.isOpen() !== true || !isServed(groups.shape) || !group.refresh())
        continue;
      if (smallest === undefined || group.pass < smallest) smallest = group.pass;
    }
    return smallest;
  }

  dropPlace(place: Place): void {
    const groups = this.shapes[place.shape.index];
    if (groups?.shape === place.shape) this.dropLanes(groups, [place]);
    this.entries -= this.mixed.known(place.shape)?.dropPlace(place) ?? 0;
  }

  /** Takes these places' lanes out of the groups. */
  private dropLanes(groups: ShapeGroups, places: Iterable<Place>): Lane[] {
    const dropped: Lane[] = [];
    for (const place of places) {
      for (const group of groups.all()) {
        const lane = group.dropLane(place);
        if (lane === undefined) continue;
        dropped.push(lane);
        this.entries -= lane.length;
        if (lane.parked) this.forgetParked(lane);
      }
    }
    return dropped;
  }

  dropShape(shape: Shape): void {
    this.mixed.drop(shape);
    if (this.shapes[shape.index]?.shape === shape) this.shapes[shape.index] = undefined;
  }

  // A closed channel's lanes are parked as they come up.
  channelClosed(): void {
    return;
  }

  channelOpened(channel: Channel): void {
    for (const mixed of this.mixed.all()) mixed.channelOpened(channel);
    const parked = this.parked.get(channel.name);
    if (parked === undefined) return;
    this.parked.delete(channel.name);
    for (const [lane, group] of parked) {
      if (lane.dropped || !group.unpark(lane)) continue;
      this.offer(group, lane.task as Task, lane.a, lane.b);
    }
  }

  park(group: Group, lane: Lane): void {
    const parked = this.parked.get(lane.channelName);
    if (parked === undefined) this.parked.set(lane.channelName, new Map([[lane, group]]));
    else parked.set(lane, group);
  }

  tasks(): Task[] {
    const tasks: Task[] = [];
    for (const groups of this.shapes) {
      for (const group of groups?.all() ?? []) for (const lane of group.allLanes()) lane.collect(lane, tasks);
    }
    for (const mixed of this.mixed.all()) mixed.collect(tasks);
    return tasks;
  }

  /** The live tasks of one place; one may come up more than once. */
  tasksAt(place: Place): Task[] {
    const tasks: Task[] = [];
    for (const group of this.shapes[place.shape.index]?.all() ?? []) {
      const lane = group.knownLane(place);
      lane?.collect(lane, tasks);
    }
    this.mixed.known(place.shape)?.collectAt(place, tasks);
    return tasks;
  }

  owns(group: { readonly level: number; readonly window: number }, task: Task): boolean {
    if (this.plan.grouping === 'none') return true;
    if (task.urgency !== group.level) return false;
    return this.fair || windowOf(this.aging, task.ready) === group.window;
  }

  isLive(entry: RankedTask, place: Place): boolean {
    const { task, a, b } = entry;
    if (task.state !== 'ready') return false;
    if (task.extra?.moved !== true) return true;
    if (standsAt(task) !== place.index) return false;
    return this.owns(entry, task) && this.plan.first(task) === a && this.plan.second(task) === b;
  }

  turnOf(turns: LevelTurns, channel: string): Turn {
    return this.turns.turn(turns, channel);
  }

  countDropped(entries: number): void {
    this.entries -= entries;
  }

  /** A channel may stay closed for ever while its places come and go. */
  private forgetParked(lane: Lane): void {
    const parked = this.parked.get(lane.channelName);
    if (parked?.delete(lane) === true && parked.size === 0) this.parked.delete(lane.channelName);
  }

  private offer(group: Group, task: Task, a: number, b: number): void {
    // Under fair sharing groups compete by level alone.
    if (this.fair) group.heads.offer(group, task, group.level, 0);
    else group.heads.offer(group, task, a, b);
  }

  private shapeGroups(shape: Shape): ShapeGroups {
    let groups = this.shapes[shape.index];
    if (groups?.shape !== shape) {
      // Only levels age here: without groups there is nothing to boost.
      groups = new ShapeGroups(shape, this.plan.grouping === 'none' ? Infinity : this.aging.maxBoost);
      while (this.shapes.length <= shape.index) this.shapes.push(undefined);
      this.shapes[shape.index] = groups;
    }
    return groups;
  }

  private groupOf(groups: ShapeGroups, task: Task): Group {
    const window = this.aged ? windowOf(this.aging, task.ready) : 0;
    const level = this.plan.grouping === 'none' ? 0 : task.urgency;
    if (groups.recentWindow !== window) groups.lookAt(window);
    const group = groups.recent?.get(level);
    const turns = this.fair ? this.turns.at(level) : undefined;
    // A level's account may have been forgotten while it was idle; its groups go with it.
    if (group !== undefined && group.turns === turns) return group;
    return groups.add(new Group(this, groups.heads, level, window, turns), window);
  }

  private compare(x: Front, y: Front, window: number): number {
    const difference = agedKey(x, this.aging.maxBoost, window) - agedKey(y, this.aging.maxBoost, window);
    if (this.plan.grouping !== 'none' && difference !== 0) return difference;
    return this.fair ? compareTurns(x, y) : compareHeads(x, y);
  }
}
