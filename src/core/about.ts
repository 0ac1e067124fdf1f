import type { Fact } from '../model/index.js';
import type { State } from './state.js';

/** Whom a fact is about, for log records and events; what is not known is left out. */
export interface Subject {
  readonly task: string;
  readonly channel?: string;
  /** The effective level. */
  readonly level?: number;
  /** The number of the attempt; without one when none was ever started. */
  readonly attempt?: number;
  readonly worker?: string;
}

/** Whom a fact is about, read at once after the command that made it; `undefined` when it is about no task. */
export function about(state: State, fact: Fact): Subject | undefined {
  if (!('task' in fact)) return undefined;
  const task = state.table.byId(fact.task);
  const attempt = 'attempt' in fact ? fact.attempt : task?.attempts;
  const worker = 'workerId' in fact ? fact.workerId : task?.attempt?.workerId;
  return {
    task: fact.task,
    ...(task === undefined ? {} : { channel: task.spec.channel, level: task.urgency }),
    ...(attempt === undefined || attempt === 0 ? {} : { attempt }),
    ...(worker === undefined ? {} : { worker }),
  };
}
