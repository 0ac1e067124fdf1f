import { standsAt, type Task } from '../model/index.js';
import { windowOf, type Aging } from './aging.js';
import type { Place } from './place.js';
import type { Places } from './places.js';
import type { Plan } from './plan.js';
import { MOST_RUNS } from './queue.js';

/**
 * Ready tasks of one place, each once, in order of sequence. Orders are built from these, as nearly all that must be
 * looked up for a task is the same for all tasks of its place and level.
 */
export class PlaceTasks {
  readonly tasks: Task[] = [];
  /**
   * Their levels. Like whatever else is known here of many tasks it is found out in passing: a hundred thousand tasks do
   * not fit into the processor's cache, and to look at each again takes as long as the rest.
   */
  private readonly urgencies: number[] = [];
  /** Whether they lie in FIFO order and none has anything of its own, such as an edge, by which it could rank. */
  isPlain = true;
  private latestDue = -Infinity;
  /** Bounds of the times since which they are ready. */
  readySince = Infinity;
  readyUntil = -Infinity;
  private levels: readonly (readonly Task[])[] | undefined = undefined;

  constructor(readonly place: Place) {}

  add(task: Task): void {
    this.tasks.push(task);
    this.urgencies.push(task.urgency);
    if (task.extra !== undefined || task.node >= 0 || task.due < this.latestDue) this.isPlain = false;
    this.latestDue = task.due;
    if (task.ready < this.readySince) this.readySince = task.ready;
    if (task.ready > this.readyUntil) this.readyUntil = task.ready;
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
 */
export function readyByPlace(stretches: Iterable<readonly (Task | undefined)[]>, places: Places): PlaceTasks[] {
  const found: PlaceTasks[] = [];
  /** By the place's index. */
  const byPlace: (PlaceTasks | undefined)[] = [];
  const open = (index: number): PlaceTasks => {
    const ready = new PlaceTasks(places.at(index));
    byPlace[index] = ready;
    found.push(ready);
    return ready;
  };
  for (const stretch of stretches) {
    for (let i = 0; i < stretch.length; i += 1) {
      const task = stretch[i];
      if (task?.state !== 'ready') continue;
      const index = standsAt(task);
      (byPlace[index] ?? open(index)).add(task);
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
export function splitBy(tasks: readonly Task[], keys: readonly number[]): readonly (readonly Task[])[] {
  const numbers = new Map<number, number>();
  const sizes: number[] = [];
  // Which part a task goes to. Parts are made once their sizes are known: lists that grow leave garbage behind.
  const partOf = new Uint32Array(tasks.length);
  for (let i = 0; i < tasks.length; i += 1) {
    const key = keys[i] as number;
    let part = numbers.get(key);
    if (part === undefined) {
      part = sizes.length;
      numbers.set(key, part);
      sizes.push(0);
    }
    partOf[i] = part;
    sizes[part] = (sizes[part] as number) + 1;
  }
  return sizes.length === 1 ? [tasks] : parted(tasks, partOf, sizes);
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
