import { compareNames, needsOf, type Task } from '../../model/index.js';
import { soonestIn } from './fit-tree.js';
import { FittingSums, SumNode } from './fitting-sums.js';
import type { PlaceTasks } from '../by-place.js';
import { amountsOf, type Place, type Shape } from '../place.js';
import { scramble } from '../sum-nodes.js';
import { hashName, type WeightedShape } from '../weighted-shape.js';

class WeightedTask extends SumNode<WeightedTask> {
  readonly ownLeast: readonly number[];

  constructor(
    readonly task: Task,
    public weight: number,
  ) {
    const amounts = amountsOf(needsOf(task));
    super(scramble(task.sequence), amounts.length);
    this.ownLeast = amounts;
  }

  get ownMost(): readonly number[] {
    return this.ownLeast;
  }
}

/** By amounts, so that what fits of one resource lies together; then by sequence. */
function compareTasks(x: WeightedTask, y: WeightedTask): number {
  for (let i = 0; i < x.ownLeast.length; i += 1) {
    const difference = (x.ownLeast[i] as number) - (y.ownLeast[i] as number);
    if (difference !== 0) return difference;
  }
  return x.task.sequence - y.task.sequence;
}

// A task that is looked at by itself fits.
const weightOf = (node: WeightedTask): number => node.weight;

class WeightedLane extends SumNode<WeightedLane> {
  readonly tasks = new FittingSums<WeightedTask>(compareTasks);
  /** What of it fits, as {@link WeightedFit.total} has found. */
  fitting = 0;

  constructor(
    readonly place: Place,
    resources: number,
  ) {
    super(scramble(hashName(place.channel.name)), resources);
  }

  /** A lane whose channel is closed weighs nothing. */
  get weight(): number {
    return this.place.channel.isOpen() ? (this.tasks.root?.sum ?? 0) : 0;
  }

  get ownLeast(): readonly number[] {
    return this.tasks.root?.least ?? [];
  }

  get ownMost(): readonly number[] {
    return this.tasks.root?.most ?? [];
  }
}

/**
 * The weighted tasks of a shape that needs resources, of which only those that fit take part in the choice.
 *
 * It stands for a shape whose tasks all need the same, too: whether they do may be different after a restart, and a
 * draw must find the same task then.
 */
export class WeightedFit implements WeightedShape {
  share = 0;
  private readonly lanes = new FittingSums<WeightedLane>((x, y) =>
    compareNames(x.place.channel.name, y.place.channel.name),
  );
  private readonly byPlace = new Map<Place, WeightedLane>();
  private readonly byTask = new Map<Task, WeightedTask>();

  constructor(readonly shape: Shape) {}

  get total(): number {
    const { fits } = this.shape;
    return this.lanes.total(fits, (lane) => (lane.fitting = lane.tasks.total(fits, weightOf)));
  }

  soonest(): number {
    const { momentOf } = this.shape;
    return soonestIn(this.lanes.root, momentOf, (lane) => {
      if (lane.weight === 0) return Infinity;
      return soonestIn(lane.tasks.root, momentOf, (entry) => momentOf(entry.ownLeast));
    });
  }

  insert(task: Task, place: Place, weight: number): boolean {
    if (this.byTask.has(task)) return false;
    const lane = this.laneFor(place);
    const added = new WeightedTask(task, weight);
    this.byTask.set(task, added);
    lane.tasks.insert(added);
    this.lanes.refresh(lane);
    return true;
  }

  remove(task: Task, place: Place): boolean {
    const lane = this.byPlace.get(place);
    const entry = this.byTask.get(task);
    if (lane === undefined || entry === undefined) return false;
    this.byTask.delete(task);
    lane.tasks.remove(entry);
    if (lane.tasks.size > 0) this.lanes.refresh(lane);
    else this.dropPlace(place);
    return true;
  }

  setWeight(task: Task, place: Place, weight: number): void {
    const lane = this.byPlace.get(place);
    const entry = this.byTask.get(task);
    if (lane === undefined || entry === undefined) return;
    entry.weight = weight;
    lane.tasks.refresh(entry);
    this.lanes.refresh(lane);
  }

  /** Comes right after {@link total}: what that found of each lane is not looked for again. */
  pick(x: number): Task | undefined {
    const { fits } = this.shape;
    const lane = this.lanes.pick(x, fits, ({ fitting }) => fitting);
    return lane?.node.tasks.pick(lane.rest, fits, weightOf)?.node.task;
  }

  /** The place's channel was opened or closed. */
  weigh(place: Place): void {
    const lane = this.byPlace.get(place);
    if (lane !== undefined) this.lanes.refresh(lane);
  }

  fill({ place, tasks }: PlaceTasks, weightOf: (level: number) => number): void {
    for (const task of tasks) this.insert(task, place, weightOf(task.urgency));
  }

  dropPlace(place: Place): number {
    const lane = this.byPlace.get(place);
    if (lane === undefined) return 0;
    for (const { task } of lane.tasks) this.byTask.delete(task);
    this.lanes.remove(lane);
    this.byPlace.delete(place);
    return lane.tasks.size;
  }

  tasks(): Task[] {
    return [...this.byTask.keys()];
  }

  tasksAt(place: Place): Task[] {
    return [...(this.byPlace.get(place)?.tasks ?? [])].map((entry) => entry.task);
  }

  private laneFor(place: Place): WeightedLane {
    const known = this.byPlace.get(place);
    if (known !== undefined) return known;
    const lane = new WeightedLane(place, this.shape.needs.length);
    this.byPlace.set(place, lane);
    this.lanes.insert(lane);
    return lane;
  }
}
