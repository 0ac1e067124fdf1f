import fc from 'fast-check';
import { expect, test } from 'vitest';

import { type EdgePolicy, Graph } from '../../src/core/graph.js';

interface Edge {
  readonly id: number;
  readonly from: number;
  readonly to: number;
  policy: EdgePolicy;
}

/** What the graph should hold, kept so simply that nobody could get it wrong. */
class Model {
  nodes: number[] = [];
  edges: Edge[] = [];
  readonly freedNodes: number[] = [];
  readonly freedEdges: number[] = [];
  usedNodes = 0;
  usedEdges = 0;

  out(node: number): Edge[] {
    return this.edges.filter((edge) => edge.from === node);
  }

  in(node: number): Edge[] {
    return this.edges.filter((edge) => edge.to === node);
  }

  has(from: number, to: number): boolean {
    return this.edges.some((edge) => edge.from === from && edge.to === to);
  }

  /** The number of edges on the shortest way, or `Infinity`. */
  distance(from: number, to: number): number {
    let reached = new Set([from]);
    for (let steps = 0; ; steps += 1) {
      if (reached.has(to)) return steps;
      const further = new Set([...reached, ...this.edges.filter((e) => reached.has(e.from)).map((e) => e.to)]);
      if (further.size === reached.size) return Infinity;
      reached = further;
    }
  }

  nextNode(): number {
    return this.freedNodes.pop() ?? this.usedNodes++;
  }

  nextEdge(): number {
    return this.freedEdges.pop() ?? this.usedEdges++;
  }
}

type StepKind = 'add' | 'remove' | 'link' | 'connect' | 'unlink' | 'isolate' | 'setPolicy';

interface Step {
  readonly kind: StepKind;
  readonly a: number;
  readonly b: number;
  readonly policy: EdgePolicy;
}

const stepKind = fc.oneof(
  { weight: 4, arbitrary: fc.constant<StepKind>('add') },
  { weight: 1, arbitrary: fc.constant<StepKind>('remove') },
  { weight: 2, arbitrary: fc.constant<StepKind>('link') },
  { weight: 9, arbitrary: fc.constant<StepKind>('connect') },
  { weight: 2, arbitrary: fc.constant<StepKind>('unlink') },
  { weight: 1, arbitrary: fc.constant<StepKind>('isolate') },
  { weight: 1, arbitrary: fc.constant<StepKind>('setPolicy') },
);

const step: fc.Arbitrary<Step> = fc.record({
  kind: stepKind,
  a: fc.nat(999),
  b: fc.nat(999),
  policy: fc.constantFrom<EdgePolicy>(0, 1, 2),
});

const steps = fc.array(step, { maxLength: 150, size: 'max' });

const MOST_NODES = 14;

function take(graph: Graph, model: Model, { kind, a, b, policy }: Step): void {
  if (kind === 'add') {
    if (model.nodes.length < MOST_NODES) addNode(graph, model);
    return;
  }
  if (model.nodes.length === 0) return;
  const from = model.nodes[a % model.nodes.length]!;
  const to = model.nodes[b % model.nodes.length]!;
  const edge = model.edges[a % model.edges.length];
  switch (kind) {
    case 'remove':
      removeNode(graph, model, from);
      return;
    case 'link':
      link(graph, model, from, to, policy);
      return;
    case 'connect':
      connect(graph, model, from, to, policy);
      return;
    case 'unlink':
      if (edge !== undefined) unlink(graph, model, edge);
      return;
    case 'isolate':
      for (const touching of [...model.out(from), ...model.in(from)]) unlink(graph, model, touching);
      removeNode(graph, model, from);
      return;
    case 'setPolicy':
      if (edge === undefined) return;
      graph.setPolicy(edge.id, policy);
      edge.policy = policy;
  }
}

function addNode(graph: Graph, model: Model): void {
  const node = graph.addNode();
  expect(node).toBe(model.nextNode());
  expect(model.nodes.filter((other) => graph.before(other, node) >= 0)).toEqual([]);
  model.nodes.push(node);
}

function removeNode(graph: Graph, model: Model, node: number): void {
  if (model.out(node).length + model.in(node).length > 0) {
    expect(() => {
      graph.removeNode(node);
    }).toThrow('it has');
    return;
  }
  graph.removeNode(node);
  expect(graph.orderOf(node)).toBe(-1);
  model.nodes = model.nodes.filter((other) => other !== node);
  model.freedNodes.push(node);
}

function link(graph: Graph, model: Model, from: number, to: number, policy: EdgePolicy): void {
  if (graph.before(from, to) >= 0) {
    expect(() => graph.link(from, to, policy)).toThrow('against the order');
    return;
  }
  const id = graph.link(from, to, policy);
  expect(id).toBe(model.nextEdge());
  model.edges.push({ id, from, to, policy });
}

function connect(graph: Graph, model: Model, from: number, to: number, policy: EdgePolicy): void {
  const ordersBefore = model.nodes.map((node) => graph.orderOf(node));
  const [lowest, highest] = [graph.orderOf(to), graph.orderOf(from)];
  const distance = model.distance(to, from);
  const cycle = graph.connect(from, to, policy);
  if (cycle === undefined) {
    expect(distance).toBe(Infinity);
    model.edges.push({ id: model.nextEdge(), from, to, policy });
    // Only nodes between the two ends may move, which is what keeps an edge cheap.
    const outside = model.nodes.filter((_, i) => ordersBefore[i]! < lowest || ordersBefore[i]! > highest);
    expect(outside.map((node) => graph.orderOf(node))).toEqual(
      ordersBefore.filter((order) => order < lowest || order > highest),
    );
    return;
  }
  expect(cycle).toHaveLength(distance + 2);
  expect(cycle.at(0)).toBe(to);
  expect(cycle.at(-2)).toBe(from);
  expect(cycle.at(-1)).toBe(to);
  for (let i = 0; i + 2 < cycle.length; i += 1) expect(model.has(cycle[i]!, cycle[i + 1]!)).toBe(true);
  expect(model.nodes.map((node) => graph.orderOf(node))).toEqual(ordersBefore);
}

function unlink(graph: Graph, model: Model, edge: Edge): void {
  graph.unlink(edge.id);
  model.edges = model.edges.filter((other) => other !== edge);
  model.freedEdges.push(edge.id);
  expect(() => {
    graph.unlink(edge.id);
  }).toThrow('not in the graph');
}

function edgeOf(graph: Graph, id: number): Edge {
  return { id, from: graph.source(id), to: graph.target(id), policy: graph.policy(id) };
}

function listsOf(graph: Graph, node: number): { out: Edge[]; in: Edge[] } {
  const lists = { out: [] as Edge[], in: [] as Edge[] };
  for (let id = graph.firstOut(node); id !== -1; id = graph.nextOut(id)) lists.out.push(edgeOf(graph, id));
  for (let id = graph.firstIn(node); id !== -1; id = graph.nextIn(id)) lists.in.push(edgeOf(graph, id));
  return lists;
}

function expectSame(graph: Graph, model: Model): void {
  const { nodes, edges } = model;
  expect({
    size: graph.size,
    edgeCount: graph.edgeCount,
    lists: nodes.map((node) => listsOf(graph, node)),
    degrees: nodes.map((node) => [graph.outDegree(node), graph.inDegree(node)]),
    differentOrders: new Set(nodes.map((node) => graph.orderOf(node))).size,
    edgesAgainstOrder: edges.filter(({ from, to }) => graph.before(from, to) >= 0),
  }).toEqual({
    size: nodes.length,
    edgeCount: edges.length,
    lists: nodes.map((node) => ({ out: model.out(node), in: model.in(node) })),
    degrees: nodes.map((node) => [model.out(node).length, model.in(node).length]),
    differentOrders: nodes.length,
    edgesAgainstOrder: [],
  });
}

function expectSameEdgesFound(graph: Graph, model: Model): void {
  const pairs = model.nodes.flatMap((from) => model.nodes.map((to) => ({ from, to })));
  for (const { from, to } of pairs) {
    const id = graph.findEdge(from, to);
    if (id === -1) expect(model.has(from, to)).toBe(false);
    else expect(edgeOf(graph, id)).toMatchObject({ from, to });
  }
}

function run(graph: Graph, sequence: readonly Step[]): void {
  const model = new Model();
  for (const each of sequence) {
    take(graph, model, each);
    expectSame(graph, model);
  }
  expectSameEdgesFound(graph, model);
}

test('a graph agrees with adjacency sets and a naive search after every step', () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      run(new Graph(), sequence);
    }),
  );
});

test('counters that start again change nothing else', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: MOST_NODES + 1, max: MOST_NODES + 6 }), (sequence, counterLimit) => {
      run(new Graph(counterLimit), sequence);
    }),
  );
});

test('a graph that nobody forces into a cycle takes its edges in any sequence', () => {
  const shuffledEdges = fc
    .tuple(
      fc.shuffledSubarray([...Array(120).keys()], { minLength: 120 }),
      fc.array(fc.tuple(fc.nat(119), fc.nat(119)), { minLength: 200, maxLength: 400, size: 'max' }),
    )
    .map(([rank, pairs]) =>
      pairs.filter(([a, b]) => a !== b).map(([a, b]) => (rank[a]! < rank[b]! ? ([a, b] as const) : ([b, a] as const))),
    );
  fc.assert(
    fc.property(shuffledEdges, (edges) => {
      const graph = graphOf(120);
      expect(edges.filter(([from, to]) => graph.connect(from, to, 0) !== undefined)).toEqual([]);
      expect(edges.filter(([from, to]) => graph.before(from, to) >= 0)).toEqual([]);
      expect(edges.map(([from, to]) => graph.connect(to, from, 0))).toEqual(edges.map(([a, b]) => [a, b, a]));
    }),
  );
});

test('an edge from a node to itself is the shortest cycle', () => {
  const graph = graphOf(1);
  expect(graph.connect(0, 0, 0)).toEqual([0, 0]);
  expect(graph.edgeCount).toBe(0);
});

test('the cycle reported is the shortest of several', () => {
  const graph = graphOf(6);
  for (const node of [1, 2]) graph.link(node - 1, node, 0);
  for (const node of [3, 4]) graph.link(node - 3, node, 0);
  for (const node of [2, 3, 4]) graph.link(node, 5, 0);
  expect(graph.connect(5, 0, 0)).toEqual([0, 3, 5, 0]);
});

test('nodes that are not in the graph are refused', () => {
  const graph = graphOf(2);
  graph.removeNode(1);
  for (const stranger of [1, 7, 1_000, -1]) {
    expect(() => {
      graph.removeNode(stranger);
    }).toThrow('not in the graph');
    expect(() => graph.connect(0, stranger, 0)).toThrow('not in the graph');
    expect(() => graph.connect(stranger, 0, 0)).toThrow('not in the graph');
    expect(() => graph.link(0, stranger, 0)).toThrow('against the order');
    expect(() => graph.link(stranger, 0, 0)).toThrow('against the order');
  }
  expect(graph.edgeCount).toBe(0);
});

test('order numbers do not run out while nodes come and go', () => {
  const graph = new Graph(100);
  const kept = graph.addNode();
  let last = kept;
  for (let round = 0; round < 1_000; round += 1) {
    last = graph.addNode();
    expect(graph.before(kept, last)).toBeLessThan(0);
    expect(graph.orderOf(last)).toBeLessThan(100);
    graph.removeNode(last);
  }
  expect(last).toBe(1);
});

test('marks left by a search long ago do not hide nodes when the generations start again', () => {
  const counterLimit = 6;
  const graph = new Graph(counterLimit);
  for (let count = 0; count < 5; count += 1) graph.addNode();
  for (const node of [1, 2, 4]) graph.link(node - 1, node, 0);
  expect(graph.connect(2, 0, 0)).toEqual([0, 1, 2, 0]);
  for (let search = 1; search < counterLimit; search += 1) graph.connect(4, 3, 0);
  expect(graph.connect(2, 0, 0)).toEqual([0, 1, 2, 0]);
});

test('more nodes than there are order numbers are refused', () => {
  const graph = new Graph(3);
  for (let count = 0; count < 3; count += 1) graph.addNode();
  expect(() => graph.addNode()).toThrow('as many as it can number');
});

const MANY = 200_000;

test('a long chain is closed to a cycle, and its halves are joined against the order, without recursion', () => {
  const graph = graphOf(MANY);
  const half = MANY / 2;
  for (let node = 1; node < MANY; node += 1) if (node !== half) graph.link(node - 1, node, 0);
  expect(graph.connect(MANY - 1, 0, 0)).toBeUndefined();
  expect(graph.orderOf(half)).toBe(0);
  expect(graph.orderOf(half - 1)).toBe(MANY - 1);

  const cycle = graph.connect(half - 1, half, 0);
  expect(cycle).toHaveLength(MANY + 1);
  expect(cycle?.slice(0, 2)).toEqual([half, half + 1]);
  expect(cycle?.slice(-2)).toEqual([half - 1, half]);
});

test('a wide fan, out and in, costs the same for each edge', () => {
  const graph = graphOf(MANY + 1);
  const hub = MANY;
  for (let leaf = MANY - 1; leaf >= MANY / 2; leaf -= 1) graph.connect(hub, leaf, 0);
  for (let leaf = 0; leaf < MANY / 2; leaf += 1) graph.connect(leaf, hub, 0);
  expect([graph.inDegree(hub), graph.outDegree(hub)]).toEqual([MANY / 2, MANY / 2]);
  // Quadratic, and so not done before the time is up, if the hub's own lists were walked.
  for (let leaf = 0; leaf < MANY / 2; leaf += 1) {
    if (graph.findEdge(leaf, hub) === -1 || graph.findEdge(hub, leaf + MANY / 2) === -1) expect.fail(`leaf ${leaf}`);
  }
  for (let edge = graph.firstOut(hub), next = edge; edge !== -1; edge = next) {
    next = graph.nextOut(edge);
    graph.unlink(edge);
  }
  expect([graph.inDegree(hub), graph.outDegree(hub), graph.edgeCount]).toEqual([MANY / 2, 0, MANY / 2]);
});

test('a graph of three edges to a node keeps within 80 bytes per edge, slack included', () => {
  const graph = new Graph();
  const layer = 1_000;
  for (let node = 0; node < 100 * layer; node += 1) {
    graph.addNode();
    if (node < layer) continue;
    for (let nth = 0; nth < 3; nth += 1) graph.link(node - 1 - ((node * 7 + nth * 331) % layer), node, 1);
  }
  expect(graph.connect(1, 0, 0)).toBeUndefined();
  expect(graph.bytes() / graph.edgeCount).toBeLessThan(80);
});

function graphOf(nodes: number): Graph {
  const graph = new Graph();
  for (let node = 0; node < nodes; node += 1) graph.addNode();
  return graph;
}
