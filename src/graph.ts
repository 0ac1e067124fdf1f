import { Graph } from '@dagrejs/graphlib';
import type { FailurePolicy, GraphSource, GraphTask } from './model/index.js';

export type { FailurePolicy, GraphEdge, GraphSource, GraphTask, TaskGraph, TaskState } from './model/index.js';

/**
 * The dependency graph as a graphlib graph, for layout and analysis.
 *
 * Nodes are named by our own keys (`n1`, `n2`, ...), because graphlib keeps names as keys of plain objects: a task's
 * id is in its node's label. An edge leads from a dependency to its dependant, and its label is what becomes of the
 * dependant should the dependency not complete.
 *
 * Mind that some algorithms of graphlib are recursive and overflow on chains of a few thousand tasks.
 *
 * @example
 * ```ts
 * import { toGraph } from 'precedence/graph';
 * const graph = toGraph(scheduler);
 * const roots = graph.sources().map((key) => graph.node(key).id);
 * ```
 */
export function toGraph(source: GraphSource): Graph<undefined, GraphTask, FailurePolicy> {
  const { tasks, edges } = source.graph();
  const graph = new Graph<undefined, GraphTask, FailurePolicy>({ directed: true, multigraph: false, compound: false });
  for (const task of tasks) graph.setNode(task.key, task);
  for (const { from, to, onFailure } of edges) graph.setEdge(from, to, onFailure);
  return graph;
}
