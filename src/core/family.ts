import type { Task } from '../model/index.js';

/** Which unfinished tasks were added by which: cancelling a parent cancels its children. */
export class Family {
  /** By the parent's sequence, as its id may belong to another task by the time a child ends. */
  private readonly children = new Map<number, Set<Task>>();

  /** An unfinished task that was added by another. */
  join(task: Task, parent: number): void {
    const siblings = this.children.get(parent);
    if (siblings === undefined) this.children.set(parent, new Set([task]));
    else siblings.add(task);
  }

  /** It has ended. */
  leave(task: Task, parent: number): void {
    const siblings = this.children.get(parent);
    siblings?.delete(task);
    if (siblings?.size === 0) this.children.delete(parent);
  }

  hasChildren(task: Task): boolean {
    return this.children.has(task.sequence);
  }

  /** The unfinished children, in the order in which they came. */
  childrenOf(task: Task): Iterable<Task> {
    return this.children.get(task.sequence) ?? NONE;
  }

  /** Every unfinished child with its parent's sequence. */
  *all(): Iterable<readonly [Task, number]> {
    for (const [parent, children] of this.children) for (const child of children) yield [child, parent];
  }
}

const NONE: readonly Task[] = [];
