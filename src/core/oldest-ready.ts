import type { Task } from '../model/index.js';
import { Heap } from '../ready/index.js';

interface Entry {
  readonly task: Task;
  readonly ready: number;
}

/**
 * The ready task that has waited for longest. Kept only once somebody has asked. An entry is dead when its task has left,
 * stands aside with its channel, or counts from another time; it is dropped when it comes up.
 */
export class OldestReady {
  private readonly heap = new Heap<Entry>((x, y) => x.ready - y.ready || x.task.sequence - y.task.sequence);
  private sweepAt = 64;

  constructor(
    /** Ready, and not in a paused channel. */
    private readonly waits: (task: Task) => boolean,
    tasks: readonly Task[],
  ) {
    this.heap.rebuild(tasks.map((task) => ({ task, ready: task.ready })));
    this.sweepAt = Math.max(64, 2 * this.heap.size);
  }

  enter(task: Task): void {
    this.heap.push({ task, ready: task.ready });
    if (this.heap.size < this.sweepAt) return;
    this.heap.filter((entry) => this.isLive(entry));
    this.sweepAt = Math.max(64, 2 * this.heap.size);
  }

  first(): Task | undefined {
    for (let top = this.heap.peek(); top !== undefined; top = this.heap.peek()) {
      if (this.isLive(top)) return top.task;
      this.heap.pop();
    }
    return undefined;
  }

  private isLive({ task, ready }: Entry): boolean {
    return task.ready === ready && this.waits(task);
  }
}
