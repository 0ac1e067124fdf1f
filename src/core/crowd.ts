import type { Task } from '../model/index.js';
import { Heap } from '../ready/index.js';

/** One of the crowd, with the value by which it was entered. */
interface Entry {
  readonly task: Task;
  readonly value: number;
}

/**
 * Many tasks that wait for the same one: the most urgent level and the earliest deadline among them, in O(log n).
 *
 * A task is entered when it comes to wait and whenever its values change. What is dead by then, because the task waits no
 * more or has another value, is dropped when it comes up, or when most are.
 */
export class Crowd {
  private readonly levels = new Heap<Entry>(compare);
  private readonly deadlines = new Heap<Entry>(compare);
  private sweepAt = 64;

  constructor(
    /** Whether the task still waits. */
    private readonly waits: (task: Task) => boolean,
  ) {}

  enter(task: Task): void {
    this.levels.push({ task, value: task.urgency });
    if (task.deadline !== Infinity) this.deadlines.push({ task, value: task.deadline });
    if (this.levels.size >= this.sweepAt) this.sweep();
  }

  /** The most urgent level among them; `Infinity` when there is nobody. */
  get urgency(): number {
    return least(this.levels, this.hasLevel);
  }

  /** The earliest deadline among them; `Infinity` when nobody has one. */
  get deadline(): number {
    return least(this.deadlines, this.hasDeadline);
  }

  private readonly hasLevel = ({ task, value }: Entry): boolean => task.urgency === value && this.waits(task);

  private readonly hasDeadline = ({ task, value }: Entry): boolean => task.deadline === value && this.waits(task);

  /** Comes each time the size has doubled, so that dead entries do not pile up and it costs little each. */
  private sweep(): void {
    for (const [heap, isLive] of [
      [this.levels, this.hasLevel],
      [this.deadlines, this.hasDeadline],
    ] as const) {
      const seen = new Set<Task>();
      heap.filter((entry) => isLive(entry) && !seen.has(entry.task) && seen.add(entry.task).size > 0);
    }
    this.sweepAt = Math.max(64, 2 * this.levels.size);
  }
}

function least(heap: Heap<Entry>, isLive: (entry: Entry) => boolean): number {
  for (let top = heap.peek(); top !== undefined; top = heap.peek()) {
    if (isLive(top)) return top.value;
    heap.pop();
  }
  return Infinity;
}

function compare(x: Entry, y: Entry): number {
  return x.value - y.value || x.task.sequence - y.task.sequence;
}
