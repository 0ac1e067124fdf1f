import type { AsyncResource } from 'node:async_hooks';
import type { Task } from '../model/index.js';
import type { Handler, TaskContext } from './handle.js';

/** What a task of a scheduler carries: what it runs, and who is told how it has ended. */
export interface Payload {
  readonly run: Handler<unknown>;
  /** The context that it runs in: that of whoever added it; any will do without one. */
  readonly context?: AsyncResource | undefined;
  readonly input?: unknown;
  /** Where it came after tasks that had been forgotten when it was added, in rising order. */
  readonly gaps?: readonly number[];
  settle(task: Task): void;
}

/** Runs what a task does, in the context of whoever added it. */
export function runPayload({ run, context }: Payload, task: TaskContext): unknown {
  return context === undefined ? run(task) : context.runInAsyncScope(run, undefined, task);
}
