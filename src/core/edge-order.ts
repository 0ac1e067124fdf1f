import type { Graph } from './graph.js';

/**
 * All edges of a graph in an order that agrees with every list they stand in, the edges out of a node and those into
 * it: linked in this order they make the same lists again. The order follows from the lists and from `nodes` alone.
 */
export function edgesInOrder(graph: Graph, nodes: readonly number[]): number[] {
  const order: number[] = [];
  const ready = new Set<number>();
  const blockedBy = new Map<number, number>();
  for (const node of nodes) {
    for (let edge = graph.firstIn(node); edge >= 0; edge = graph.nextIn(edge)) {
      const isFirstIn = edge === graph.firstIn(node);
      const isFirstOut = edge === graph.firstOut(graph.source(edge));
      const blocks = (isFirstIn ? 0 : 1) + (isFirstOut ? 0 : 1);
      if (blocks === 0) ready.add(edge);
      else blockedBy.set(edge, blocks);
    }
  }
  const free = (edge: number): void => {
    if (edge < 0) return;
    const blocks = (blockedBy.get(edge) as number) - 1;
    blockedBy.set(edge, blocks);
    if (blocks === 0) ready.add(edge);
  };
  // A set is walked in the order of insertion, what is added on the way included.
  for (const edge of ready) {
    order.push(edge);
    free(graph.nextIn(edge));
    free(graph.nextOut(edge));
  }
  return order;
}
