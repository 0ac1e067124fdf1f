import { isFinal, type FailurePolicy, type Task } from '../model/index.js';
import type { State } from './state.js';
import { move } from './transitions.js';

/** The task waits for one more. */
export function dependencyAdded(state: State, task: Task, dependency: Task, onFailure: FailurePolicy): void {
  if (task.state !== 'waiting' && !isFinal(dependency.state)) move(state, task, 'waiting');
  state.inheritance.extend(task, dependency);
  state.lending.tell();
  state.path.mark(dependency);
  state.emit?.({
    kind: 'dependency.added',
    task: task.id,
    dependency: dependency.id,
    onFailure,
    wall: state.wall,
    mono: state.mono,
  });
}

/** The task waits for one less. */
export function dependencyRemoved(state: State, task: Task, dependency: Task): void {
  state.dependencies.disconnect(dependency, task);
  state.inheritance.withdraw(task, dependency);
  state.path.mark(dependency);
  state.emit?.({
    kind: 'dependency.removed',
    task: task.id,
    dependency: dependency.id,
    wall: state.wall,
    mono: state.mono,
  });
  if (isFinal(dependency.state) && !state.dependencies.isPinned(dependency)) state.retention.unpinned(dependency);
}
