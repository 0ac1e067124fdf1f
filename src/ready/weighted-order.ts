import type { Task } from '../model/index.js';
import type { PlaceTasks } from './by-place.js';
import type { ClaimView, Order } from './order.js';
import type { Channel, Place, Shape } from './place.js';
import { WeightedFit } from './amounts/weighted-fit.js';
import { WeightedSums, type WeightedShape } from './weighted-shape.js';

/** A task's share in a random choice, from its effective level. */
export type WeightOf = (level: number) => number;

/**
 * Every eligible task has a chance of weight / sum of weights: one draw decides.
 *
 * Weights are cumulated in an order that follows from the tasks alone (shape, channel, level or amounts needed, sequence), so
 * the same draw finds the same task after a restart.
 */
export class WeightedOrder implements Order {
  entries = 0;
  /** By key, in the order in which weights are cumulated. */
  private readonly shapes: WeightedShape[] = [];
  private readonly byShape = new Map<Shape, WeightedShape>();

  constructor(
    private readonly weightOf: WeightOf,
    private readonly random: () => number,
  ) {}

  insert(task: Task, place: Place): void {
    if (this.shapeFor(place.shape).insert(task, place, this.weightOf(task.urgency))) this.entries += 1;
  }

  remove(task: Task, place: Place): void {
    if (this.byShape.get(place.shape)?.remove(task, place) === true) this.entries -= 1;
  }

  rekey(task: Task, place: Place, before: number): void {
    this.byShape.get(place.shape)?.setWeight(task, place, this.weightOf(task.urgency), before);
  }

  best(claim: ClaimView): Task | undefined {
    let total = 0;
    for (const each of this.shapes) {
      each.share = each.shape.isOpen() && claim.matches(each.shape) ? each.total : 0;
      total += each.share;
    }
    if (total === 0) return undefined;
    let x = this.random() * total;
    let last: WeightedShape | undefined;
    for (const each of this.shapes) {
      if (each.share === 0) continue;
      last = each;
      if (x < each.share) break;
      x -= each.share;
    }
    // Rounding may push the draw past the last weight: it then falls to the last lane's last task.
    return last?.pick(x);
  }

  soonest(claim: ClaimView): number {
    let soonest = Infinity;
    for (const shape of this.shapes) {
      const moment = claim.matches(shape.shape) ? shape.soonest() : Infinity;
      if (moment > claim.mono) soonest = Math.min(soonest, moment);
    }
    return soonest;
  }

  // What fits is found out at the claim, whether amounts differ or not.
  shapeMixed(): void {
    return;
  }

  dropPlace(place: Place): void {
    this.entries -= this.byShape.get(place.shape)?.dropPlace(place) ?? 0;
  }

  dropShape(shape: Shape): void {
    if (this.byShape.delete(shape)) this.shapes.splice(this.positionOf(shape.key), 1);
  }

  channelClosed(channel: Channel): void {
    this.weighChannel(channel);
  }

  channelOpened(channel: Channel): void {
    this.weighChannel(channel);
  }

  tasks(): Task[] {
    return this.shapes.flatMap((shape) => shape.tasks());
  }

  tasksAt(place: Place): Task[] {
    return this.byShape.get(place.shape)?.tasksAt(place) ?? [];
  }

  insertAll(ready: PlaceTasks): void {
    this.shapeFor(ready.place.shape).fill(ready, this.weightOf);
    this.entries += ready.tasks.length;
  }

  private weighChannel(channel: Channel): void {
    for (const shape of this.shapes) {
      const place = shape.shape.byChannel.get(channel.name);
      if (place !== undefined) shape.weigh(place);
    }
  }

  private shapeFor(shape: Shape): WeightedShape {
    const known = this.byShape.get(shape);
    if (known !== undefined) return known;
    const added = shape.needs.length > 0 ? new WeightedFit(shape) : new WeightedSums(shape);
    this.shapes.splice(this.positionOf(shape.key), 0, added);
    this.byShape.set(shape, added);
    return added;
  }

  /** Where the shape with this key stands, or would. */
  private positionOf(key: string): number {
    let from = 0;
    let to = this.shapes.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.shapes[middle] as WeightedShape).shape.key < key) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}
