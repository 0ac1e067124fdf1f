import { bytesPer } from '../memory.js';
import { loadGraph } from '../ours.js';
import { loadCycleDetect, loadGraphlib } from '../peers.js';
import { random } from '../random.js';
import { atMost, type Row } from '../row.js';

// A random graph without a cycle: each edge points forward in a hidden order of the nodes. Nodes are added either in
// that order, so that most edges agree with what a topological sort already assumes, or in a random one, so that
// about half of them force it to move nodes. The edges come in random order in both.
const nodes = 100_000;
const edgesPerNode = 3;
type NodeOrder = 'sorted' | 'shuffled';

interface Edges {
  readonly from: Int32Array;
  readonly to: Int32Array;
}

function randomEdges(count: number, order: NodeOrder): Edges {
  const next = random(1);
  const label = Int32Array.from({ length: count }, (_, i) => i);
  if (order === 'shuffled') {
    for (let i = count - 1; i > 0; i--) {
      const j = Math.floor(next() * (i + 1));
      [label[i], label[j]] = [label[j]!, label[i]!];
    }
  }
  const from = new Int32Array(count * edgesPerNode);
  const to = new Int32Array(count * edgesPerNode);
  for (let at = 0; at < from.length;) {
    const a = Math.floor(next() * count);
    const b = Math.floor(next() * count);
    if (a === b) continue;
    from[at] = label[Math.min(a, b)]!;
    to[at] = label[Math.max(a, b)]!;
    at++;
  }
  return { from, to };
}

interface CheckedGraph {
  connect(from: number, to: number): void;
}
type Open = (count: number) => CheckedGraph;

const openOurs = async (): Promise<Open> => {
  const Graph = await loadGraph();
  return (count) => {
    const graph = new Graph();
    const slots = Array.from({ length: count }, () => graph.addNode());
    return {
      connect(from, to) {
        if (graph.connect(slots[from]!, slots[to]!, 0)) throw new Error('A cycle was found although there is none.');
      },
    };
  };
};

const openCycleDetect = async (): Promise<Open> => {
  const adapter = await loadCycleDetect();
  return (count) => {
    const graph = adapter.create();
    for (let i = 0; i < count; i++) graph.addVertex(i);
    return { connect: (from, to) => void graph.addEdge(from, to) };
  };
};

function insert(graph: CheckedGraph, { from, to }: Edges): void {
  for (let at = 0; at < from.length; at++) graph.connect(from[at]!, to[at]!);
}

/** Warmed up with two graphs of 30,000 edges. */
function microsecondsPerEdge(open: Open, order: NodeOrder): number {
  const small = randomEdges(10_000, order);
  insert(open(10_000), small);
  insert(open(10_000), small);
  const edges = randomEdges(nodes, order);
  const graph = open(nodes);
  const startedAt = performance.now();
  insert(graph, edges);
  return ((performance.now() - startedAt) * 1e3) / edges.from.length;
}

/** Searches the whole graph after each of a few edges that come on top of the others. */
async function graphlibPerEdge(): Promise<number> {
  const { Graph: Graphlib, alg } = await loadGraphlib();
  const searched = 10;
  const { from, to } = randomEdges(nodes, 'shuffled');
  const graph = new Graphlib();
  const connect = (at: number) => {
    graph.setEdge(`n${from[at]!}`, `n${to[at]!}`);
  };
  for (let at = searched; at < from.length; at++) connect(at);
  const startedAt = performance.now();
  for (let at = 0; at < searched; at++) {
    connect(at);
    if (!alg.isAcyclic(graph)) throw new Error('A cycle was found although there is none.');
  }
  return ((performance.now() - startedAt) * 1e3) / searched;
}

const p9: Row = {
  id: 'P9',
  group: 'core',
  work: 'add an edge with its cycle check: 100k nodes, 300k edges in random order',
  unit: 'µs/edge',
  better: 'lower',
  candidates: [
    {
      name: 'precedence, nodes shuffled',
      measure: async () => microsecondsPerEdge(await openOurs(), 'shuffled'),
      bars: [atMost(1.5)],
    },
    {
      name: 'precedence, nodes sorted',
      measure: async () => microsecondsPerEdge(await openOurs(), 'sorted'),
      bars: [atMost(1.5)],
    },
    {
      name: 'incremental-cycle-detect, nodes shuffled',
      measure: async () => microsecondsPerEdge(await openCycleDetect(), 'shuffled'),
    },
    {
      name: 'incremental-cycle-detect, nodes sorted',
      measure: async () => microsecondsPerEdge(await openCycleDetect(), 'sorted'),
      against: 'precedence, nodes sorted',
    },
    { name: 'graphlib isAcyclic', measure: graphlibPerEdge },
  ],
};

function bytesPerEdge(open: Open): number {
  const edges = randomEdges(nodes, 'shuffled');
  return bytesPer(edges.from.length, () => {
    const graph = open(nodes);
    insert(graph, edges);
    return graph;
  });
}

const p9Memory: Row = {
  id: 'P9 memory',
  group: 'core',
  work: 'memory of the graph of P9, nodes included, per edge',
  unit: 'bytes/edge',
  better: 'lower',
  candidates: [
    { name: 'precedence', memory: true, measure: async () => bytesPerEdge(await openOurs()), bars: [atMost(80)] },
    {
      name: 'incremental-cycle-detect',
      memory: true,
      measure: async () => bytesPerEdge(await openCycleDetect()),
    },
  ],
};

export const rows = [p9, p9Memory];
