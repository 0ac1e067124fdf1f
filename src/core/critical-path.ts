import { isFinal, type Task } from '../model/index.js';
import { Heap } from '../ready/index.js';
import type { Dependencies } from './dependencies.js';

/**
 * The longest remaining path from each task on, by estimated durations.
 *
 * Kept only while a strategy asks for it. Changes are gathered, and one pass against the edges, from the last task
 * in topological order to the first, brings every path concerned up to date: each task is looked at once a round.
 */
export class CriticalPath {
  private readonly paths = new Map<Task, number>();
  private readonly dirty = new Set<Task>();
  private inUse = false;

  constructor(
    private readonly dependencies: Dependencies,
    /** Told of a task whose path has changed. */
    private readonly changed: (task: Task) => void,
  ) {}

  /** A task without dependants is its own path. */
  pathOf(task: Task): number {
    return (this.paths.size === 0 ? undefined : this.paths.get(task)) ?? estimateOf(task);
  }

  use(): void {
    if (this.inUse) return;
    this.inUse = true;
    this.paths.clear();
    for (const task of this.dependencies.inOrder()) this.dirty.add(task);
  }

  /** The paths stay as they are: the next order is built from the old one, which still goes by them. */
  stop(): void {
    this.inUse = false;
    this.dirty.clear();
  }

  /** What comes after this task has changed. */
  mark(task: Task): void {
    if (this.inUse) this.dirty.add(task);
  }

  forget(task: Task): void {
    if (this.paths.size > 0) this.paths.delete(task);
    if (this.dirty.size > 0) this.dirty.delete(task);
  }

  /** Brings all paths up to date. */
  refresh(): void {
    if (this.dirty.size === 0) return;
    const { graph } = this.dependencies;
    const queue = new Heap<Task>((x, y) => graph.before(y.node, x.node));
    const concerned = [...this.dirty].filter((task) => !isFinal(task.state));
    queue.rebuild(concerned.filter((task) => task.node >= 0));
    this.dirty.clear();
    // Nothing comes after a task that has lost its last edge, and nothing before it.
    for (const task of concerned) if (task.node < 0) this.update(task);
    let last: Task | undefined;
    for (let task = queue.pop(); task !== undefined; task = queue.pop()) {
      if (task === last) continue;
      last = task;
      if (this.update(task)) {
        this.dependencies.eachUnfinishedDependency(task, (dependency) => {
          queue.push(dependency);
        });
      }
    }
  }

  private update(task: Task): boolean {
    let longest = 0;
    this.dependencies.eachUnfinishedDependant(task, (dependant) => {
      longest = Math.max(longest, this.pathOf(dependant));
    });
    const path = estimateOf(task) + longest;
    if (path === this.pathOf(task)) return false;
    this.paths.set(task, path);
    this.changed(task);
    return true;
  }
}

/** A task's expected duration. */
function estimateOf(task: Task): number {
  return task.extra?.estimateMs ?? 1;
}
