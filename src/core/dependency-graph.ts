import type { GraphEdge, GraphTask, Task, TaskGraph } from '../model/index.js';
import type { State } from './state.js';

/** The dependency graph as plain data. */
export function dependencyGraph(state: State): TaskGraph {
  const tasks: GraphTask[] = [];
  const edges: GraphEdge[] = [];
  const shown = new Set<Task>();
  const add = (task: Task): void => {
    if (shown.has(task)) return;
    shown.add(task);
    const { id, state: taskState, urgency: level, spec } = task;
    tasks.push({ key: keyOf(task), id, state: taskState, level, channel: spec.channel });
  };
  for (const task of state.table.all()) add(task);
  for (const task of state.table.all()) {
    for (const { task: dependency, onFailure } of state.dependencies.of(task)) {
      // A result may be needed for longer than its task is known.
      add(dependency);
      edges.push({ from: keyOf(dependency), to: keyOf(task), onFailure });
    }
  }
  return { tasks, edges };
}

function keyOf(task: Task): string {
  return `n${task.sequence}`;
}
