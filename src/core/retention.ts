import type { Task } from '../model/index.js';

/** How many finished tasks are kept, and for how long. */
export interface RetentionSettings {
  readonly count: number;
  readonly ageMs: number;
}

/** Finished tasks in the order in which they ended; the oldest are forgotten first. */
export class Retention {
  private tasks: Task[] = [];
  private endedAt: number[] = [];
  private head = 0;
  /** While facts are replayed, they say what is forgotten and when. */
  replaying = false;
  /** Forgotten as soon as nobody needs their result. */
  private readonly lingering = new Set<Task>();

  constructor(
    public settings: RetentionSettings,
    private readonly isPinned: (task: Task) => boolean,
    /** Told of a task that is kept only because its result may still be asked for. */
    private readonly pinned: (task: Task) => void,
    private readonly forget: (task: Task) => void,
  ) {}

  keep(task: Task, mono: number): void {
    this.tasks.push(task);
    this.endedAt.push(mono);
    if (!this.replaying) this.trim(mono);
  }

  /** Forgets what is beyond the count or the age. */
  trim(mono: number): void {
    const { count, ageMs } = this.settings;
    while (this.head < this.tasks.length) {
      const tooMany = this.tasks.length - this.head > count;
      if (!tooMany && mono - (this.endedAt[this.head] as number) < ageMs) break;
      this.evict(this.tasks[this.head] as Task);
      this.head += 1;
    }
    this.compact();
  }

  private compact(): void {
    if (this.head < 1024 || this.head * 2 < this.tasks.length) return;
    this.tasks = this.tasks.slice(this.head);
    this.endedAt = this.endedAt.slice(this.head);
    this.head = 0;
  }

  /** The last task that could ask for this one's result has ended. */
  unpinned(task: Task): void {
    if (!this.replaying && this.lingering.delete(task)) this.forget(task);
  }

  /** From now on the task is kept for its dependants only. */
  linger(task: Task): void {
    this.release(task);
    this.lingering.add(task);
  }

  /** The task is unfinished again, or forgotten. */
  release(task: Task): void {
    if (this.lingering.delete(task)) return;
    const at = this.tasks.indexOf(task, this.head);
    if (at < 0) return;
    if (at === this.head) {
      this.head += 1;
      this.compact();
      return;
    }
    this.tasks.splice(at, 1);
    this.endedAt.splice(at, 1);
  }

  /** The kept tasks, oldest first, with the time each ended. */
  *kept(): Iterable<readonly [Task, number]> {
    for (const task of this.lingering) yield [task, -Infinity];
    for (let i = this.head; i < this.tasks.length; i += 1) yield [this.tasks[i] as Task, this.endedAt[i] as number];
  }

  /** Takes a task back from a snapshot. */
  restore(task: Task, endedAt: number): void {
    if (endedAt === -Infinity) {
      this.lingering.add(task);
      return;
    }
    this.tasks.push(task);
    this.endedAt.push(endedAt);
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
