import { compareNames, type Task } from '../model/index.js';
import type { PlaceTasks } from './by-place.js';
import { NumberedTasks } from './numbered-tasks.js';
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
  /** The task's level has changed from this one. */
  setWeight(task: Task, place: Place, weight: number, before: number): void;
  /** The task at which the weights, added up by channel and in a fixed order inside it, first exceed `x`. */
  pick(x: number): Task | undefined;
  /** The place's channel was opened or closed. */
  weigh(place: Place): void;
  /** Takes in all tasks of a place that is still empty. */
  fill(ready: PlaceTasks, weightOf: (level: number) => number): void;
  /** The place's tasks leave at once; how many they were. */
  dropPlace(place: Place): number;
  tasks(): Task[];
  tasksAt(place: Place): Task[];
}

/** The tasks of a lane that have the same level, and so the same weight: the draw among them is by number. */
interface WeightedLevel {
  readonly level: number;
  readonly weight: number;
  readonly hash: number;
  readonly tasks: NumberedTasks;
}

interface WeightedLane {
  readonly place: Place;
  /** At hand, as lanes are compared by it all the time. */
  readonly channelName: string;
  readonly hash: number;
  /** Weights are cumulated by level, then sequence. */
  readonly levels: SumTree<WeightedLevel>;
  readonly byLevel: Map<number, WeightedLevel>;
  size: number;
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
    const level = levelIn(lane, task.urgency, weight);
    if (!level.tasks.insert(task)) return false;
    this.counted(lane, level, 1);
    return true;
  }

  remove(task: Task, place: Place): boolean {
    const lane = this.byPlace.get(place.index);
    if (lane === undefined || !this.takeOut(lane, task, task.urgency)) return false;
    if (lane.size === 0) this.dropPlace(place);
    return true;
  }

  setWeight(task: Task, place: Place, weight: number, before: number): void {
    const lane = this.byPlace.get(place.index);
    if (lane === undefined || before === task.urgency || !this.takeOut(lane, task, before)) return;
    const level = levelIn(lane, task.urgency, weight);
    level.tasks.insert(task);
    this.counted(lane, level, 1);
  }

  pick(x: number): Task | undefined {
    const { lanes } = this;
    const lane = lanes.pick(x);
    const level = lane?.levels.pick(lanes.rest);
    if (lane === undefined || level === undefined) return undefined;
    const { tasks, weight } = level;
    // Rounding may push the draw past the last of them.
    return tasks.at(Math.min(tasks.size - 1, Math.floor(lane.levels.rest / weight)));
  }

  weigh(place: Place): void {
    const lane = this.byPlace.get(place.index);
    if (lane !== undefined) this.weighLane(lane);
  }

  fill(ready: PlaceTasks, weightOf: (level: number) => number): void {
    const lane = this.laneFor(ready.place);
    for (const tasks of ready.byLevel()) {
      const { urgency } = tasks[0] as Task;
      const level = levelIn(lane, urgency, weightOf(urgency));
      level.tasks.fill(tasks);
      this.counted(lane, level, tasks.length);
    }
  }

  dropPlace(place: Place): number {
    const lane = this.byPlace.get(place.index);
    if (lane === undefined) return 0;
    this.lanes.remove(lane);
    this.byPlace.delete(place.index);
    return lane.size;
  }

  tasks(): Task[] {
    return [...this.byPlace.values()].flatMap(tasksIn);
  }

  tasksAt(place: Place): Task[] {
    const lane = this.byPlace.get(place.index);
    return lane === undefined ? [] : tasksIn(lane);
  }

  /** Inherited urgency is told of at the end of a command: until then the task still stands at the level before. */
  private takeOut(lane: WeightedLane, task: Task, likely: number): boolean {
    const first = lane.byLevel.get(likely);
    const level =
      first?.tasks.remove(task) === true ? first : [...lane.byLevel.values()].find(({ tasks }) => tasks.remove(task));
    if (level === undefined) return false;
    this.counted(lane, level, -1);
    return true;
  }

  private counted(lane: WeightedLane, level: WeightedLevel, change: number): void {
    lane.size += change;
    const { size } = level.tasks;
    if (size > 0) lane.levels.setWeight(level, level.weight * size);
    else {
      lane.levels.remove(level);
      lane.byLevel.delete(level.level);
    }
    this.weighLane(lane);
  }

  private weighLane(lane: WeightedLane): void {
    this.lanes.setWeight(lane, lane.place.channel.isOpen() ? lane.levels.total : 0);
  }

  private laneFor(place: Place): WeightedLane {
    const known = this.byPlace.get(place.index);
    if (known !== undefined) return known;
    const levels = new SumTree<WeightedLevel>({ compare: (x, y) => x.level - y.level, hash: ({ hash }) => hash });
    const channelName = place.channel.name;
    const lane = { place, channelName, hash: hashName(channelName), levels, byLevel: new Map(), size: 0 };
    this.byPlace.set(place.index, lane);
    this.lanes.insert(lane, 0);
    return lane;
  }
}

function levelIn(lane: WeightedLane, level: number, weight: number): WeightedLevel {
  const known = lane.byLevel.get(level);
  if (known !== undefined) return known;
  const added = { level, weight, hash: hashName(String(level)), tasks: new NumberedTasks() };
  lane.byLevel.set(level, added);
  lane.levels.insert(added, 0);
  return added;
}

function tasksIn({ byLevel }: WeightedLane): Task[] {
  return [...byLevel.values()].flatMap(({ tasks }) => [...tasks]);
}

/** FNV-1a over code units. */
export function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
