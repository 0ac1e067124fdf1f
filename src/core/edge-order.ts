import type { FrozenLists } from './frozen-lists.js';
import { at, NONE } from './topology.js';

/**
 * All edges of a graph in an order that agrees with every list they stand in, the edges out of a node and those into
 * it: linked in this order they make the same lists again. The order follows from the lists and from `nodes` alone.
 *
 * `undefined` is a step without an edge: whoever walks this may stop at any step, and go on later.
 */
export function* edgesInOrder(lists: FrozenLists, nodes: Iterable<number | undefined>): Iterable<number | undefined> {
  /** How many lists each edge is not the next one of. */
  const blocks = new Uint8Array(lists.edges);
  const free = new Int32Array(lists.edges);
  let freed = 0;
  for (const node of nodes) {
    yield undefined;
    if (node === undefined) continue;
    const first = lists.firstIn(node);
    for (let edge = first; edge !== NONE; edge = lists.nextIn(edge)) {
      const count = (edge === first ? 0 : 1) + (edge === lists.firstOut(lists.source(edge)) ? 0 : 1);
      blocks[edge] = count;
      if (count === 0) {
        free[freed] = edge;
        freed += 1;
      }
      yield undefined;
    }
  }
  for (let i = 0; i < freed; i += 1) {
    const edge = at(free, i);
    yield edge;
    for (const next of [lists.nextIn(edge), lists.nextOut(edge)]) {
      if (next === NONE) continue;
      const count = (blocks[next] as number) - 1;
      blocks[next] = count;
      if (count > 0) continue;
      free[freed] = next;
      freed += 1;
    }
  }
}
