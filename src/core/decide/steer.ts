import {
  CycleError,
  DeadlockError,
  IllegalTransitionError,
  UnknownDependencyError,
  UnknownTaskError,
  isFinal,
  parseChoice,
  refuseTask,
  type FailurePolicy,
  type FinalState,
  type Task,
} from '../../model/index.js';
import { advance, doom, passGates } from '../advance.js';
import { findDeadlock } from '../deadlock.js';
import { dependencyAdded, dependencyRemoved } from '../edges.js';
import { prioritySet } from '../priority.js';
import type { State } from '../state.js';
import { revived } from '../transitions.js';

/** The task with this id. */
export function taskFor(state: State, id: string): Task {
  const task = state.table.byId(id);
  if (task === undefined) throw new UnknownTaskError({ taskId: id });
  return task;
}

/** Changes the user's level of an unfinished task. */
export function setPriority(state: State, task: Task, level: number): void {
  if (isFinal(task.state)) throw new IllegalTransitionError({ taskId: task.id, from: task.state, to: task.state });
  prioritySet(state, task, level);
}

/** Lets a task wait for one more, or for the same with another policy; refused with the cycle's path where it would close one. */
export function addDependency(state: State, task: Task, dependencyId: string, onFailure: FailurePolicy): void {
  parseChoice(onFailure, ['fail', 'skip', 'run'], 'onFailure', refuseTask);
  checkNotBegun(task);
  const dependency = state.table.byId(dependencyId);
  const ended = dependency === undefined ? state.table.tombstone(dependencyId) : finalState(dependency);
  if (dependency === undefined) {
    if (ended === undefined) throw new UnknownDependencyError({ taskId: task.id, dependencyId });
  } else {
    if (state.dependencies.has(dependency, task)) {
      if (ended !== undefined) return;
      if (!state.dependencies.wentOnWithout(dependency, task)) {
        if (state.dependencies.setPolicy(dependency, task, onFailure))
          dependencyAdded(state, task, dependency, onFailure);
        return;
      }
      // One that ended badly and runs again can be waited for anew by those that had gone on without it.
      dependencyRemoved(state, task, dependency);
    }
    const cycle = state.dependencies.connect(dependency, task, onFailure);
    // The graph's path follows its edges, from dependency to dependant; the error's goes the way tasks wait.
    if (cycle !== undefined) throw new CycleError({ path: cycle.map((each) => each.id).reverse() });
    if (ended === undefined && state.suspended.size > 0) refuseDeadlock(state, task, dependency);
    dependencyAdded(state, task, dependency, onFailure);
  }
  if (ended !== undefined && ended !== 'completed' && onFailure !== 'run') {
    doom(state, task, dependencyId, ended, onFailure);
    advance(state);
  }
}

/** What waits for another task while it runs has dependencies no more than what runs. */
function checkNotBegun(task: Task): void {
  if (!isFinal(task.state) && task.attempt === undefined) return;
  const from = task.attempt === undefined ? task.state : 'running';
  throw new IllegalTransitionError({ taskId: task.id, from, to: 'waiting' });
}

/** Some attempt may keep what the dependency needs, and wait for the task: then neither would ever go on. */
function refuseDeadlock(state: State, task: Task, dependency: Task): void {
  const deadlock = findDeadlock(state, [task]);
  if (deadlock === undefined) return;
  const error = new DeadlockError({ taskId: task.id, ...deadlock.circle(task) });
  state.dependencies.disconnect(dependency, task);
  throw error;
}

/** Lets a task wait for one less. */
export function removeDependency(state: State, task: Task, dependencyId: string): void {
  const dependency = state.table.byId(dependencyId);
  if (dependency === undefined || !state.dependencies.has(dependency, task)) {
    throw new UnknownDependencyError({ taskId: task.id, dependencyId });
  }
  checkNotBegun(task);
  dependencyRemoved(state, task, dependency);
  if (task.state === 'waiting') passGates(state, task);
}

/** Runs a failed task again, with a fresh budget of attempts. */
export function retryByHand(state: State, task: Task): void {
  if (task.state !== 'failed') throw new IllegalTransitionError({ taskId: task.id, from: task.state, to: 'waiting' });
  revived(state, task);
  passGates(state, task);
}

function finalState(task: Task): FinalState | undefined {
  return isFinal(task.state) ? task.state : undefined;
}
