import { compareNames, type Task } from '../model/index.js';
import type { PlaceTasks } from './by-place.js';
import type { ClaimView, Order } from './order.js';
import type { Channel, Place, Shape } from './place.js';
import { SumTree } from './sum-tree.js';

/** A task's share in a random choice, from its effective level. */
export type WeightOf = (level: number) => number;

interface WeightedLane {
  readonly place: Place;
  readonly shape: WeightedShape;
  readonly tasks: SumTree<Task>;
}

interface WeightedShape {
  readonly shape: Shape;
  /** By channel name; a lane whose channel is closed weighs nothing. */
  readonly lanes: SumTree<WeightedLane>;
  readonly byPlace: Map<number, WeightedLane>;
}

/**
 * Every eligible task has a chance of weight / sum of weights: one draw decides.
 *
 * Weights are cumulated in an order that follows from the tasks alone (shape, channel, sequence), so the same draw
 * finds the same task after a restart.
 */
export class WeightedOrder implements Order {
  entries = 0;
  /** By key, in the order in which weights are cumulated. */
  private readonly shapes: WeightedShape[] = [];
  private readonly byShape = new Map<Shape, WeightedShape>();
  private readonly byChannel = new Map<Channel, Set<WeightedLane>>();

  constructor(
    private readonly weightOf: WeightOf,
    private readonly random: () => number,
  ) {}

  insert(task: Task, place: Place): void {
    const lane = this.laneFor(place);
    if (!lane.tasks.insert(task, this.weightOf(task.urgency))) return;
    this.entries += 1;
    weigh(lane);
  }

  remove(task: Task, place: Place): void {
    const lane = this.knownLane(place);
    if (lane?.tasks.remove(task) !== true) return;
    this.entries -= 1;
    if (lane.tasks.size > 0) weigh(lane);
    else this.dropLane(lane);
  }

  rekey(task: Task, place: Place): void {
    const lane = this.knownLane(place);
    if (lane?.tasks.setWeight(task, this.weightOf(task.urgency)) === true) weigh(lane);
  }

  best(claim: ClaimView): Task | undefined {
    let total = 0;
    for (const shape of this.shapes) if (isEligible(shape, claim)) total += shape.lanes.total;
    if (total === 0) return undefined;
    let x = this.random() * total;
    let last: WeightedShape | undefined;
    for (const shape of this.shapes) {
      if (shape.lanes.total === 0 || !isEligible(shape, claim)) continue;
      last = shape;
      if (x < shape.lanes.total) break;
      x -= shape.lanes.total;
    }
    // Rounding may push the draw past the last weight: it then falls to the last lane's last task.
    const lane = last?.lanes.pick(x);
    return lane?.tasks.pick((last as WeightedShape).lanes.rest);
  }

  dropPlace(place: Place): void {
    const lane = this.knownLane(place);
    if (lane === undefined) return;
    this.entries -= lane.tasks.size;
    this.dropLane(lane);
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
    return this.shapes.flatMap((shape) => [...shape.byPlace.values()].flatMap((lane) => [...lane.tasks]));
  }

  tasksAt(place: Place): Task[] {
    return [...(this.knownLane(place)?.tasks ?? [])];
  }

  /** A tree is built from sorted tasks in a tenth of the time that it takes to insert them. */
  insertAll({ place, tasks }: PlaceTasks): void {
    const lane = this.laneFor(place);
    lane.tasks.rebuild(tasks, (task) => this.weightOf(task.urgency));
    this.entries += tasks.length;
    weigh(lane);
  }

  private weighChannel(channel: Channel): void {
    for (const lane of this.byChannel.get(channel) ?? []) weigh(lane);
  }

  private dropLane(lane: WeightedLane): void {
    const { shape, place } = lane;
    shape.lanes.remove(lane);
    shape.byPlace.delete(place.index);
    const lanes = this.byChannel.get(place.channel);
    if (lanes?.delete(lane) === true && lanes.size === 0) this.byChannel.delete(place.channel);
  }

  private knownLane(place: Place): WeightedLane | undefined {
    return this.byShape.get(place.shape)?.byPlace.get(place.index);
  }

  private laneFor(place: Place): WeightedLane {
    const shape = this.shapeFor(place.shape);
    const known = shape.byPlace.get(place.index);
    if (known !== undefined) return known;
    const tasks = new SumTree<Task>({ compare: (x, y) => x.sequence - y.sequence, hash: (x) => x.sequence });
    const lane = { place, shape, tasks };
    shape.byPlace.set(place.index, lane);
    shape.lanes.insert(lane, 0);
    const lanes = this.byChannel.get(place.channel);
    if (lanes === undefined) this.byChannel.set(place.channel, new Set([lane]));
    else lanes.add(lane);
    return lane;
  }

  private shapeFor(shape: Shape): WeightedShape {
    const known = this.byShape.get(shape);
    if (known !== undefined) return known;
    const lanes = new SumTree<WeightedLane>({
      compare: (x, y) => compareNames(x.place.channel.name, y.place.channel.name),
      hash: (lane) => hashName(lane.place.channel.name),
    });
    const added = { shape, lanes, byPlace: new Map<number, WeightedLane>() };
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

/** A lane whose channel is closed weighs nothing. */
function weigh(lane: WeightedLane): void {
  lane.shape.lanes.setWeight(lane, lane.place.channel.isOpen() ? lane.tasks.total : 0);
}

function isEligible(shape: WeightedShape, claim: ClaimView): boolean {
  return shape.shape.isOpen() && claim.matches(shape.shape);
}

/** FNV-1a over code units. */
function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
