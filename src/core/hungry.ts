import { compareFifo, type Task } from '../model/index.js';
import { Heap } from '../ready/index.js';
import { Levels } from './levels.js';

/** A task, and since when it was ready by then, the ready time gathered before included. */
interface Entry {
  readonly task: Task;
  readonly ready: number;
}

/** Tasks of one level that ask for the same, the longest wait first. */
type Group = Heap<Entry>;

/** What the index needs to know of tasks. */
export interface HungrySources {
  /** The same for tasks that ask for the same: where one cannot be let in, no other can. */
  groupOf(task: Task): string;
  /** Ready, not in a paused channel, and nobody makes way for it. */
  isHungry(task: Task): boolean;
}

/**
 * Ready tasks by level and by what they ask for: whoever might be let in if others made way. Entries are dead once their
 * task has left, stands elsewhere or counts from another time, and are dropped when they come up or when most are.
 */
export class Hungry {
  private readonly levels = new Levels<Map<string, Group>>();
  private entries = 0;
  private sweepAt = 64;

  constructor(
    private readonly sources: HungrySources,
    tasks: readonly Task[],
  ) {
    for (const task of tasks) this.enter(task);
  }

  enter(task: Task): void {
    const { urgency } = task;
    const groups = this.levels.get(urgency) ?? new Map<string, Group>();
    if (groups.size === 0) this.levels.set(urgency, groups);
    const key = this.sources.groupOf(task);
    const group = groups.get(key) ?? new Heap<Entry>(compare);
    groups.set(key, group);
    group.push({ task, ready: task.ready });
    this.entries += 1;
    if (this.entries >= this.sweepAt) this.sweep();
  }

  /** The most urgent level at which somebody waits; `Infinity` when nobody does. */
  get mostUrgent(): number {
    for (const level of this.inUse()) return level;
    return Infinity;
  }

  /** Levels at which somebody waits, the most urgent first. */
  *inUse(): Iterable<number> {
    for (const [level, groups] of this.levels.mostUrgentFirst()) {
      for (const [key, group] of groups) {
        if (this.first(level, key, group) !== undefined) break;
        groups.delete(key);
      }
      if (groups.size === 0) this.levels.delete(level);
      else yield level;
    }
  }

  /**
   * Offers the tasks of a level, the longest wait first. Whoever is taken is hungry no more; where one is not, the others of its
   * group are left out.
   */
  offer(level: number, take: (task: Task) => boolean): void {
    const groups = this.levels.get(level) ?? new Map<string, Group>();
    const heads = new Heap<Entry & { readonly key: string }>(compare);
    const show = (key: string, group: Group): void => {
      const entry = this.first(level, key, group);
      if (entry !== undefined) heads.push({ ...entry, key });
    };
    for (const [key, group] of groups) show(key, group);
    for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
      const { task, key } = head;
      if (take(task)) show(key, groups.get(key) as Group);
    }
  }

  /** Everybody in it; one may come up more than once. */
  *all(): Iterable<Task> {
    for (const [level, groups] of this.levels.mostUrgentFirst()) {
      for (const [key, group] of groups) {
        for (const entry of group.items()) if (this.isLive(entry, level, key)) yield entry.task;
      }
    }
  }

  private first(level: number, key: string, group: Group): Entry | undefined {
    for (let entry = group.peek(); entry !== undefined; entry = group.peek()) {
      if (this.isLive(entry, level, key)) return entry;
      group.pop();
      this.entries -= 1;
    }
    return undefined;
  }

  private isLive({ task, ready }: Entry, level: number, key: string): boolean {
    const { sources } = this;
    return task.ready === ready && task.urgency === level && sources.isHungry(task) && sources.groupOf(task) === key;
  }

  private sweep(): void {
    for (const [level, groups] of this.levels.mostUrgentFirst()) {
      for (const [key, group] of groups) {
        this.entries -= group.filter((entry) => this.isLive(entry, level, key));
        if (group.size === 0) groups.delete(key);
      }
      if (groups.size === 0) this.levels.delete(level);
    }
    this.sweepAt = Math.max(64, 2 * this.entries);
  }
}

function compare(x: Entry, y: Entry): number {
  return x.ready - y.ready || compareFifo(x.task, y.task);
}
