import { standsAt, type Task } from '../model/index.js';
import { windowOf, type Aging } from './aging.js';
import type { Place } from './place.js';
import type { Places } from './places.js';
import type { Plan } from './plan.js';
import { MOST_RUNS } from './queue.js';

/** Keys below have their place in a list. */
const SMALL = 256;

/**
 * Ready tasks of one place, each once, in order of sequence. Orders are built from these, as nearly all that must be
 * looked up for a task is the same for all tasks of its place and level.
 */
export class PlaceTasks {
  /** Empty until all of them have been noted. */
  readonly tasks: Task[] = [];
  /** Whether they lie in FIFO order and none has anything of its own, such as an edge, by which it could rank. */
  isPlain = true;
  /** Bounds of the times since which they are ready. */
  readySince = Infinity;
  readyUntil = -Infinity;
  private noted = 0;
  private latestDue = -Infinity;
  private urgencies = new Float64Array();
  private levels: readonly (readonly Task[])[] | undefined = undefined;

  constructor(readonly place: Place) {}

  /** Takes in what must be known of a task; it is added itself when all have been noted. */
  note(task: Task): void {
    this.noted += 1;
    if (task.extra !== undefined || task.node >= 0 || task.due < this.latestDue) this.isPlain = false;
    this.latestDue = task.due;
    if (task.ready < this.readySince) this.readySince = task.ready;
    if (task.ready > this.readyUntil) this.readyUntil = task.ready;
  }

  /** Adds a task that was noted, in the same order, without looking at it. */
  add(task: Task, level: number): void {
    if (this.urgencies.length === 0) {
      this.tasks.length = this.noted;
      this.urgencies = new Float64Array(this.noted);
      this.noted = 0;
    }
    this.tasks[this.noted] = task;
    this.urgencies[this.noted] = level;
    this.noted += 1;
  }

  /** The same tasks, apart by level. */
  byLevel(): readonly (readonly Task[])[] {
    return (this.levels ??= splitBy(this.tasks, this.urgencies));
  }
}

/** Tasks in order of sequence, in pages with gaps. */
export interface TaskPages {
  readonly size: number;
  pagesInOrder(): Iterable<readonly (Task | undefined)[]>;
}

/**
 * Whether so many of all tasks are ready that looking through all of them, who lie in sequence, is quicker than
 * gathering the ready ones from an order and sorting them. While a snapshot is restored none is counted as ready yet.
 */
export function areManyReady(ready: number, all: TaskPages): boolean {
  return ready > 0 && all.size <= 4 * ready;
}

/**
 * The ready tasks outside paused channels, by place, out of stretches of tasks in order of sequence.
 *
 * Places come in the order of their first tasks, which is the same after a restart.
 *
 * Each task is looked at once: a hundred thousand do not fit into the processor's cache, and to look at each again takes
 * as long as the rest. What was seen is noted outside the heap, and lists are made once their sizes are known: garbage left
 * behind by lists that grow would bring on a collection, which copies all tasks that have come lately.
 */
export function readyByPlace(stretches: Iterable<readonly (Task | undefined)[]>, places: Places): PlaceTasks[] {
  const all = [...stretches];
  const slots = all.reduce((sum, { length }) => sum + length, 0);
  const found: PlaceTasks[] = [];
  /** Where the place of an index is found. */
  const numbers: number[] = [];
  /** Where the place of each slot's task is found, from 1; 0 for none that is ready. */
  const placed = new Uint32Array(slots);
  const levels = new Float64Array(slots);
  let slot = 0;
  for (const stretch of all) {
    for (let i = 0; i < stretch.length; i += 1, slot += 1) {
      const task = stretch[i];
      if (task?.state !== 'ready') continue;
      const index = standsAt(task);
      const number = (numbers[index] ??= found.push(new PlaceTasks(places.at(index))));
      placed[slot] = number;
      levels[slot] = task.urgency;
      (found[number - 1] as PlaceTasks).note(task);
    }
  }
  slot = 0;
  for (const stretch of all) {
    for (let i = 0; i < stretch.length; i += 1, slot += 1) {
      const number = placed[slot] as number;
      if (number > 0) (found[number - 1] as PlaceTasks).add(stretch[i] as Task, levels[slot] as number);
    }
  }
  return found.filter(({ place }) => !place.paused);
}

/** Whether the tasks of each share have the same rank. */
export function areAlike(ready: PlaceTasks, plan: Plan): boolean {
  if (!ready.isPlain || plan.alike === 'none') return false;
  return plan.alike === 'all' || ready.byLevel().length <= MOST_RUNS;
}

/** What goes into one lane each, or into a run of one. */
export function sharesOf(ready: PlaceTasks, plan: Plan, aging: Aging): readonly (readonly Task[])[] {
  // A stack's last goes first: the tasks lie in the order of the heap then.
  if (plan.name === 'lifo') return [ready.tasks.toReversed()];
  if (plan.grouping === 'none')
    return plan.alike === 'level' && areAlike(ready, plan) ? ready.byLevel() : [ready.tasks];
  const levels = ready.byLevel();
  if (plan.grouping !== 'aged') return levels;
  if (windowOf(aging, ready.readySince) === windowOf(aging, ready.readyUntil)) return levels;
  return levels.flatMap((tasks) => splitBy(tasks, windowsOf(tasks, aging)));
}

/** Takes a list of tasks apart by their keys; each part keeps the order. */
export function splitBy(tasks: readonly Task[], keys: ArrayLike<number>): readonly (readonly Task[])[] {
  const parts = new Parts();
  // Which part a task goes to. Parts are made once their sizes are known.
  const partOf = new Uint32Array(tasks.length);
  for (let i = 0; i < tasks.length; i += 1) partOf[i] = parts.count(keys[i] as number);
  return parts.sizes.length === 1 ? [tasks] : parted(tasks, partOf, parts.sizes);
}

/** Numbers keys in the order in which they first come, and counts how often each does. */
class Parts {
  readonly sizes: number[] = [];
  /** Levels are mostly small whole numbers, and a map takes five times as long to find one. */
  private readonly small = new Int32Array(SMALL).fill(-1);
  private readonly others = new Map<number, number>();

  count(key: number): number {
    const isSmall = key >= 0 && key < SMALL && Number.isInteger(key);
    let part = isSmall ? (this.small[key] as number) : (this.others.get(key) ?? -1);
    if (part < 0) {
      part = this.sizes.push(0) - 1;
      if (isSmall) this.small[key] = part;
      else this.others.set(key, part);
    }
    this.sizes[part] = (this.sizes[part] as number) + 1;
    return part;
  }
}

function parted(tasks: readonly Task[], partOf: Uint32Array, sizes: readonly number[]): Task[][] {
  const parts = sizes.map((size) => new Array<Task>(size));
  const filled = new Uint32Array(sizes.length);
  for (let i = 0; i < tasks.length; i += 1) {
    const part = partOf[i] as number;
    const at = filled[part] as number;
    (parts[part] as Task[])[at] = tasks[i] as Task;
    filled[part] = at + 1;
  }
  return parts;
}

function windowsOf(tasks: readonly Task[], aging: Aging): readonly number[] {
  return tasks.map((task) => windowOf(aging, task.ready));
}
