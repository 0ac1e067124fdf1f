import { Task, type TaskSpec } from '../model/index.js';
import { PAGE } from './pages.js';
import type { TaskRecord } from './snapshot-format.js';
import type { SpecTable } from './spec-table.js';
import { taskRecord } from './task-record.js';

/** A task as it was before it changed, but for its spec's place, which it gets in its turn. */
export class TaskBefore {
  private readonly spec: TaskSpec;
  private readonly record: TaskRecord;

  constructor(task: Task) {
    this.spec = task.spec;
    this.record = taskRecord(task, -1);
  }

  recordWith(specs: SpecTable): TaskRecord {
    return { ...this.record, spec: specs.indexOf(this.spec) };
  }
}

type Slot = Task | TaskBefore | undefined;

/**
 * All tasks of a moment, to be recorded bit by bit afterwards. One that changes before its turn has come is recorded
 * first. So the moment itself costs a copy of the pages, and no look at a task.
 */
export class FrozenTasks {
  /** Pages below this one have been recorded. */
  private from = 0;

  constructor(
    /** In order. */
    private readonly pages: ReadonlyMap<number, Slot[]>,
  ) {}

  /** Whether the task was there. */
  has({ sequence }: Task): boolean {
    return this.pages.get(Math.floor(sequence / PAGE))?.[sequence % PAGE] !== undefined;
  }

  /** The task is about to change. */
  changing(task: Task): void {
    const number = Math.floor(task.sequence / PAGE);
    if (number < this.from) return;
    const page = this.pages.get(number);
    if (page?.[task.sequence % PAGE] === task) page[task.sequence % PAGE] = new TaskBefore(task);
  }

  /** Every task as it was, in order of submission; whoever walks this may stop anywhere, and go on later. */
  *records(specs: SpecTable): Iterable<TaskRecord> {
    for (const [number, page] of this.pages) {
      for (const slot of page) {
        if (slot instanceof Task) yield taskRecord(slot, specs.indexOf(slot.spec));
        else if (slot !== undefined) yield slot.recordWith(specs);
      }
      this.from = number + 1;
    }
  }
}
