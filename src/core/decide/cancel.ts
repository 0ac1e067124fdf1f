import {
  CancelledError,
  ClosedError,
  IllegalTransitionError,
  isFinal,
  type ErrorRecord,
  type Task,
} from '../../model/index.js';
import { advance } from '../advance.js';
import type { State } from '../state.js';
import { cancelled } from '../transitions.js';
import { abandon } from './settle.js';

/** How tasks are taken back. */
export interface Cancellation {
  readonly reason?: string | undefined;
  /** Whoever comes after them is taken back too; otherwise the policy of each edge decides. */
  readonly cascade?: boolean | undefined;
  /** The scheduler closes, which is what their error says. */
  readonly closing?: boolean | undefined;
}

/** Takes back an unfinished task with its children; one that has ended is refused. */
export function cancel(state: State, task: Task, how: Cancellation = {}): number {
  if (isFinal(task.state)) throw new IllegalTransitionError({ taskId: task.id, from: task.state, to: 'cancelled' });
  if (how.cascade === true || state.family.hasChildren(task)) return cancelAll(state, [task], how);
  end(state, task, errorOf(task, how.reason, how));
  advance(state);
  return 1;
}

/** Takes back those of the tasks that are unfinished, with their children, and says how many that were. */
export function cancelAll(state: State, tasks: readonly Task[], how: Cancellation = {}): number {
  const meant = meantWith(state, tasks, how);
  // All of them before anybody draws conclusions: who is meant must not fail first because of one that it waits for.
  endAll(state, meant, how);
  advance(state);
  return meant.size;
}

/** Those of the tasks that are unfinished, and whoever is taken back with them; with the reason of each. */
export function meantWith(
  state: State,
  tasks: readonly Task[],
  how: Cancellation,
): ReadonlyMap<Task, string | undefined> {
  const meant = new Map<Task, string | undefined>();
  for (const task of tasks) if (!isFinal(task.state)) meant.set(task, how.reason);
  for (const [task] of meant) addBelow(state, task, how, meant);
  return meant;
}

/** Takes them back; what follows for others is for the caller to carry out. */
export function endAll(state: State, meant: ReadonlyMap<Task, string | undefined>, how: Cancellation = {}): void {
  for (const [task, reason] of meant) end(state, task, errorOf(task, reason, how));
}

/** A map goes on with what is set while it is gone through, so that all generations are reached without recursion. */
function addBelow(state: State, task: Task, { cascade }: Cancellation, meant: Map<Task, string | undefined>): void {
  const add = (below: Task[], why: string): void => {
    // How they came about is not the same in every process; the sequence is.
    for (const each of below.sort((x, y) => x.sequence - y.sequence)) if (!meant.has(each)) meant.set(each, why);
  };
  add([...state.family.childrenOf(task)], `its parent ${task.id} was cancelled`);
  if (cascade !== true) return;
  const dependants: Task[] = [];
  state.dependencies.eachUnfinishedDependant(task, (dependant) => {
    // One whose attempt waits for the task has begun, and is told how that ended.
    if (dependant.attempt === undefined) dependants.push(dependant);
  });
  add(dependants, `${task.id}, which it waits for, was cancelled`);
}

function end(state: State, task: Task, error: ErrorRecord): void {
  if (task.attempt !== undefined) abandon(state, task.attempt, error);
  cancelled(state, task, error);
}

function errorOf({ id: taskId }: Task, reason: string | undefined, { closing }: Cancellation): ErrorRecord {
  return closing === true ? ClosedError.record({ taskId }) : CancelledError.record({ taskId, reason });
}
