import type { ErrorRecord, Metadata, Task, TaskState } from '../model/index.js';
import { specNow, type Application } from './entrance.js';
import { valueOf } from './kept.js';

/** What can be seen of a task from outside: as it was when it was looked at. */
export interface TaskView {
  readonly id: string;
  /** The name of its handler; empty for a function. */
  readonly type: string;
  readonly state: TaskState;
  readonly channel: string;
  /** The level it is ordered by: its own, or that of something more urgent that waits for it. */
  readonly priority: number;
  /** Attempts that were started. */
  readonly attempts: number;
  /** Epoch milliseconds, its own or inherited; `undefined` when there is none. */
  readonly deadline: number | undefined;
  /** Of a completed task. */
  readonly result: unknown;
  /** What the last failure left behind. */
  readonly error: ErrorRecord | undefined;
  /** What it was added with; `undefined` without. */
  readonly metadata: Metadata | undefined;
}

/** Whether a task is meant. */
export type TaskFilter = (task: TaskView) => boolean;

/** The task as it is now. */
export function viewOf(task: Task): TaskView {
  const { id, spec, state, urgency: priority, attempts, deadline, value, extra } = task;
  return {
    id,
    type: spec.type,
    state,
    channel: spec.channel,
    priority,
    attempts,
    deadline: deadline === Infinity ? undefined : deadline,
    result: state === 'completed' ? valueOf(value) : undefined,
    error: extra?.error,
    metadata: spec.rare?.metadata,
  };
}

/** The same of one that waits to be let in. Only if it is asked for its id is it given one. */
export function viewOutside(application: Application): TaskView {
  const { type, channel, level: priority, deadline, rare } = specNow(application);
  return {
    get id() {
      return application.handle.id;
    },
    type,
    state: 'waiting',
    channel,
    priority,
    attempts: 0,
    deadline: deadline === Infinity ? undefined : deadline,
    result: undefined,
    error: undefined,
    metadata: rare?.metadata,
  };
}
