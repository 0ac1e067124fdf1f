import { random } from './random.js';

/** A graph whose nodes are numbered so that every parent comes before its children. */
export interface Dag {
  readonly nodes: number;
  /** The parents of node i are `parents.slice(starts[i], starts[i + 1])`. */
  readonly starts: Int32Array;
  readonly parents: Int32Array;
}

const layerWidth = 1_000;
const parentsPerNode = 3;

/** Layers of a thousand; each node below the first has three distinct random parents in the layer above, or six in the
 * second layer, which makes up for the first: three edges per node in all. */
export function layered(nodes: number, seed = 1): Dag {
  const next = random(seed);
  const edges: [parent: number, child: number][] = [];
  for (let node = layerWidth; node < nodes; node++) {
    const layer = Math.floor(node / layerWidth);
    const above = (layer - 1) * layerWidth;
    const chosen = new Set<number>();
    const wanted = layer === 1 ? 2 * parentsPerNode : parentsPerNode;
    while (chosen.size < wanted) chosen.add(above + Math.floor(next() * layerWidth));
    for (const parent of chosen) edges.push([parent, node]);
  }
  return fromEdges(nodes, edges);
}

export function chain(nodes: number): Dag {
  return fromEdges(
    nodes,
    Array.from({ length: nodes - 1 }, (_, i) => [i, i + 1]),
  );
}

/** One node, then all but two of them side by side, then one that waits for all of those. */
export function fan(nodes: number): Dag {
  const edges: [number, number][] = [];
  for (let node = 1; node < nodes - 1; node++) edges.push([0, node]);
  for (let node = 1; node < nodes - 1; node++) edges.push([node, nodes - 1]);
  return fromEdges(nodes, edges);
}

/** Edges come grouped by child, in the children's order. */
function fromEdges(nodes: number, edges: readonly (readonly [parent: number, child: number])[]): Dag {
  const starts = new Int32Array(nodes + 1);
  const parents = Int32Array.from(edges, ([parent]) => parent);
  for (const [, child] of edges) starts[child + 1]!++;
  for (let node = 0; node < nodes; node++) starts[node + 1]! += starts[node]!;
  return { nodes, starts, parents };
}
