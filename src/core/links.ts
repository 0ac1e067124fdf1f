import { Task, isFinal, type FailurePolicy } from '../model/index.js';
import type { EdgePolicy } from './graph.js';

/** The policies of dependencies, by the numbers of their edges. */
export const POLICIES: readonly FailurePolicy[] = ['fail', 'skip', 'run'];
/** The other way round. */
export const NUMBERS: Readonly<Record<FailurePolicy, EdgePolicy>> = { fail: 0, skip: 1, run: 2 };
/** The dependency ended badly and its dependant went on: should it be run again, nobody waits for it any more. */
export const PASSED = 3;
/** Not a dependency of the task but of its attempt, which waits for it: however it ends, the attempt goes on. */
export const AWAITED = 4;
/** The same after a bad end: should it be run again, nobody waits for it any more. */
export const AWAITED_PASSED = 5;

/** A task that another one waits for, and what becomes of that one should it not complete. */
export interface Dependency {
  readonly task: Task;
  readonly onFailure: FailurePolicy;
}

/** The same as a new task names it: a bare task goes by the failure policy of the one that waits. */
export type Link = Task | Dependency;

/** The task at the other end of a link. */
export function linkedTask(link: Link): Task {
  return link instanceof Task ? link : link.task;
}

/** What becomes of the waiting task should the linked one not complete. */
export function linkPolicy(link: Link, waiting: Task): FailurePolicy {
  return link instanceof Task ? waiting.spec.onDependencyFailure : link.onFailure;
}

/** Whether the dependant may come after another task instead: what has begun keeps what it has been given. */
export function isMovable({ state, attempt }: Task, policy: EdgePolicy): boolean {
  return policy <= PASSED && attempt === undefined && !isFinal(state);
}

/** Whether the dependant waits for as long as the dependency is unfinished. */
export function counts(policy: EdgePolicy): boolean {
  return policy !== PASSED && policy !== AWAITED_PASSED;
}

/** Nobody who comes after a bad end waits for it, should the dependency be run again. */
export function edgePolicy(dependency: Task, onFailure: FailurePolicy): EdgePolicy {
  if (isFinal(dependency.state) && dependency.state !== 'completed') return PASSED;
  return NUMBERS[onFailure];
}
