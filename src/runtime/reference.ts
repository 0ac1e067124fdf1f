import type { Explanation } from '../core/index.js';
import type { Priority, TaskState } from '../model/index.js';
import type { Handle } from './handle.js';
import { showAs } from './shown.js';

/** A task that was accepted. Unlike a handle it cannot be awaited itself, so that async functions can return it. */
export class TaskReference<Result> {
  static {
    showAs(TaskReference, 'TaskReference', ({ id, state }) => ({ id, state }));
  }

  /** @internal */
  constructor(
    /** @internal */
    readonly handle: Handle<Result>,
  ) {}

  get id(): string {
    return this.handle.id;
  }

  get state(): TaskState {
    return this.handle.state;
  }

  /** The promise of the task's result; it rejects when the task fails, is cancelled or skipped. */
  get result(): Promise<Result> {
    return this.handle.result;
  }

  /** Takes the task back, for all who share it, and says whether there was anything to take back: not if it has ended. */
  cancel(reason?: string): boolean {
    return this.handle.cancel(reason);
  }

  /** Changes how urgent the task is, unless it has ended. */
  setPriority(priority: Priority): void {
    this.handle.setPriority(priority);
  }

  /** Why the task does not run, since when it does, or how it ended. */
  explain(): Explanation {
    return this.handle.explain();
  }
}
