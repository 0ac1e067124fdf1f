import { compareNames, type Task } from '../model/index.js';
import type { Place, Shape } from './place.js';
import { SumTree } from './sum-tree.js';

/** The weighted tasks of one shape. */
export interface WeightedShape {
  readonly shape: Shape;
  /** The sum of the weights of its tasks that could start now. */
  readonly total: number;
  /** What of it takes part in the present draw. */
  share: number;
  /** When one of its tasks could start that waits for tokens alone. */
  soonest(): number;
  /** Adds a task; false when it is there already. */
  insert(task: Task, place: Place, weight: number): boolean;
  remove(task: Task, place: Place): boolean;
  setWeight(task: Task, place: Place, weight: number): void;
  /** The task at which the weights, added up by channel and in a fixed order inside it, first exceed `x`. */
  pick(x: number): Task | undefined;
  /** The place's channel was opened or closed. */
  weigh(place: Place): void;
  /** Takes in all tasks of a place that is still empty, in order of sequence. */
  fill(place: Place, tasks: readonly Task[], weightOf: (task: Task) => number): void;
  /** The place's tasks leave at once; how many they were. */
  dropPlace(place: Place): number;
  tasks(): Task[];
  tasksAt(place: Place): Task[];
}

interface WeightedLane {
  readonly place: Place;
  /** At hand, as lanes are compared by it all the time. */
  readonly channelName: string;
  readonly hash: number;
  readonly tasks: SumTree<Task>;
}

/** The weighted tasks of a shape that needs no resources, so that all of them can start or none. */
export class WeightedSums implements WeightedShape {
  share = 0;
  /** By channel name; a lane whose channel is closed weighs nothing. */
  private readonly lanes = new SumTree<WeightedLane>({
    compare: (x, y) => compareNames(x.channelName, y.channelName),
    hash: (lane) => lane.hash,
  });
  private readonly byPlace = new Map<number, WeightedLane>();

  constructor(readonly shape: Shape) {}

  get total(): number {
    return this.lanes.total;
  }

  soonest(): number {
    return this.lanes.total > 0 ? this.shape.momentOf([]) : Infinity;
  }

  insert(task: Task, place: Place, weight: number): boolean {
    const lane = this.laneFor(place);
    if (!lane.tasks.insert(task, weight)) return false;
    this.weighLane(lane);
    return true;
  }

  remove(task: Task, place: Place): boolean {
    const lane = this.byPlace.get(place.index);
    if (lane?.tasks.remove(task) !== true) return false;
    if (lane.tasks.size > 0) this.weighLane(lane);
    else this.dropPlace(place);
    return true;
  }

  setWeight(task: Task, place: Place, weight: number): void {
    const lane = this.byPlace.get(place.index);
    if (lane?.tasks.setWeight(task, weight) === true) this.weighLane(lane);
  }

  pick(x: number): Task | undefined {
    return this.lanes.pick(x)?.tasks.pick(this.lanes.rest);
  }

  weigh(place: Place): void {
    const lane = this.byPlace.get(place.index);
    if (lane !== undefined) this.weighLane(lane);
  }

  /** A tree is built from sorted tasks in a tenth of the time that it takes to insert them. */
  fill(place: Place, tasks: readonly Task[], weightOf: (task: Task) => number): void {
    const lane = this.laneFor(place);
    lane.tasks.rebuild(tasks, weightOf);
    this.weighLane(lane);
  }

  dropPlace(place: Place): number {
    const lane = this.byPlace.get(place.index);
    if (lane === undefined) return 0;
    this.lanes.remove(lane);
    this.byPlace.delete(place.index);
    return lane.tasks.size;
  }

  tasks(): Task[] {
    return [...this.byPlace.values()].flatMap((lane) => [...lane.tasks]);
  }

  tasksAt(place: Place): Task[] {
    return [...(this.byPlace.get(place.index)?.tasks ?? [])];
  }

  private weighLane(lane: WeightedLane): void {
    this.lanes.setWeight(lane, lane.place.channel.isOpen() ? lane.tasks.total : 0);
  }

  private laneFor(place: Place): WeightedLane {
    const known = this.byPlace.get(place.index);
    if (known !== undefined) return known;
    const tasks = new SumTree<Task>({ compare: (x, y) => x.sequence - y.sequence, hash: (x) => x.sequence });
    const channelName = place.channel.name;
    const lane = { place, channelName, hash: hashName(channelName), tasks };
    this.byPlace.set(place.index, lane);
    this.lanes.insert(lane, 0);
    return lane;
  }
}

/** FNV-1a over code units. */
export function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
