import type { Task } from '../model/index.js';
import { Pages } from './pages.js';

/** How many finished tasks are kept, and for how long. */
export interface RetentionSettings {
  readonly count: number;
  readonly ageMs: number;
}

/** A power of two, as the number of slots always is. */
const FEWEST_SLOTS = 1024;

/** Finished tasks in the order in which they ended; the oldest are forgotten first. */
export class Retention {
  // The slots go round in a ring: a list that is cut at the front is made anew again and again, which cost a plain
  // task a tenth of all its bytes.
  private tasks: (Task | undefined)[] = noTasks(FEWEST_SLOTS);
  private endedAt: number[] = new Array<number>(FEWEST_SLOTS).fill(0);
  private head = 0;
  private size = 0;
  /** While facts are replayed, they say what is forgotten and when. */
  replaying = false;
  /** Forgotten as soon as nobody needs their result. */
  private readonly lingering = new Pages();

  constructor(
    public settings: RetentionSettings,
    private readonly isPinned: (task: Task) => boolean,
    /** Told of a task that is kept only because its result may still be asked for. */
    private readonly pinned: (task: Task) => void,
    private readonly forget: (task: Task) => void,
  ) {}

  keep(task: Task, mono: number): void {
    this.append(task, mono);
    if (!this.replaying) this.trim(mono);
  }

  /** Forgets what is beyond the count or the age. */
  trim(mono: number): void {
    const { count, ageMs } = this.settings;
    while (this.size > 0) {
      const tooMany = this.size > count;
      if (!tooMany && mono - (this.endedAt[this.head] as number) < ageMs) break;
      this.evict(this.takeFirst());
    }
  }

  /** The last task that could ask for this one's result has ended. */
  unpinned(task: Task): void {
    if (!this.replaying && this.lingering.remove(task)) this.forget(task);
  }

  /** Forgets a finished task before its time, unless an unfinished one may still ask for its result. */
  forgetNow(task: Task): void {
    if (!this.release(task)) return;
    this.evict(task);
  }

  /** From now on the task is kept for its dependants only. */
  linger(task: Task): void {
    this.release(task);
    this.lingering.add(task);
  }

  /** The task is unfinished again, or forgotten; `false` where it was not kept. */
  release(task: Task): boolean {
    if (this.lingering.remove(task)) return true;
    let at = 0;
    while (at < this.size && this.tasks[this.slot(at)] !== task) at += 1;
    if (at === this.size) return false;
    // Those before it move up, as mostly it is the first that is released.
    for (; at > 0; at -= 1) {
      this.tasks[this.slot(at)] = this.tasks[this.slot(at - 1)];
      this.endedAt[this.slot(at)] = this.endedAt[this.slot(at - 1)] as number;
    }
    this.takeFirst();
    return true;
  }

  /** The tasks kept at this moment, oldest first, with the time each ended, to be walked whenever there is time. */
  kept(): Iterable<readonly [Task, number]> {
    return inOrder(this.lingering.copy(), this.tasks.slice(), this.endedAt.slice(), this.head, this.size);
  }

  /** Takes a task back from a snapshot. */
  restore(task: Task, endedAt: number): void {
    if (endedAt === -Infinity) this.lingering.add(task);
    else this.append(task, endedAt);
  }

  private slot(at: number): number {
    return (this.head + at) & (this.tasks.length - 1);
  }

  private append(task: Task, endedAt: number): void {
    if (this.size === this.tasks.length) this.resize(2 * this.size);
    const slot = this.slot(this.size);
    this.tasks[slot] = task;
    this.endedAt[slot] = endedAt;
    this.size += 1;
  }

  private takeFirst(): Task {
    const task = this.tasks[this.head] as Task;
    this.tasks[this.head] = undefined;
    this.head = this.slot(1);
    this.size -= 1;
    if (4 * this.size < this.tasks.length && this.tasks.length > FEWEST_SLOTS) this.resize(this.tasks.length / 2);
    return task;
  }

  private resize(slots: number): void {
    const tasks = noTasks(slots);
    const endedAt = new Array<number>(slots).fill(0);
    for (let at = 0; at < this.size; at += 1) {
      tasks[at] = this.tasks[this.slot(at)];
      endedAt[at] = this.endedAt[this.slot(at)] as number;
    }
    this.tasks = tasks;
    this.endedAt = endedAt;
    this.head = 0;
  }

  private evict(task: Task): void {
    if (!this.isPinned(task)) {
      this.forget(task);
      return;
    }
    this.lingering.add(task);
    this.pinned(task);
  }
}

function* inOrder(
  lingering: ReadonlyMap<number, readonly (Task | undefined)[]>,
  tasks: readonly (Task | undefined)[],
  endedAt: readonly number[],
  head: number,
  size: number,
): Iterable<readonly [Task, number]> {
  for (const page of lingering.values()) for (const task of page) if (task !== undefined) yield [task, -Infinity];
  for (let at = head; at < head + size; at += 1) {
    const slot = at & (tasks.length - 1);
    yield [tasks[slot] as Task, endedAt[slot] as number];
  }
}

function noTasks(slots: number): (Task | undefined)[] {
  return new Array<Task | undefined>(slots).fill(undefined);
}
