import { FrozenLists } from './frozen-lists.js';
import { at, grown, nextCapacity, NONE, Topology } from './topology.js';

/** What becomes of the dependant when the dependency does not complete; the caller gives the numbers a meaning. */
export type EdgePolicy = 0 | 1 | 2 | 3 | 4 | 5;

/**
 * A dependency graph over small integers that never holds a cycle.
 * Nodes and edges are slots in parallel arrays of numbers; a freed slot is the first to be used again. An edge
 * leads from a dependency to its dependant and stands in two doubly linked lists, the edges out of the one and those
 * into the other, both in the sequence of insertion, ended by -1. A slot that is not in use has no sensible value.
 */
export class Graph {
  readonly #topology: Topology;
  #size = 0;
  #usedNodes = 0;
  /** Freed nodes, linked through `#outHeads`. */
  #freeNode = NONE;
  #outHeads = new Int32Array(0);
  #outTails = new Int32Array(0);
  #outDegrees = new Int32Array(0);
  #inHeads = new Int32Array(0);
  #inTails = new Int32Array(0);
  #inDegrees = new Int32Array(0);

  #edgeCount = 0;
  #usedEdges = 0;
  /** Freed edges, linked through `#outNexts`; their source is `NONE`. */
  #freeEdge = NONE;
  #sources = new Int32Array(0);
  #targets = new Int32Array(0);
  #outNexts = new Int32Array(0);
  #outPreviouses = new Int32Array(0);
  #inNexts = new Int32Array(0);
  #inPreviouses = new Int32Array(0);
  #policies = new Uint8Array(0);
  /** The lists of an earlier moment, which are told before any of them changes. What was free then they never ask for. */
  frozen: FrozenLists | undefined = undefined;

  /** A lower `counterLimit` lets a test see the order being renumbered. */
  constructor(counterLimit?: number) {
    this.#topology = new Topology(counterLimit);
  }

  /** The number of nodes. */
  get size(): number {
    return this.#size;
  }

  /** The number of edges. */
  get edgeCount(): number {
    return this.#edgeCount;
  }

  /** Adds a node behind all others in the topological order, so that `link` can lead to it from any of them. */
  addNode(): number {
    let node = this.#freeNode;
    if (node !== NONE) this.#freeNode = at(this.#outHeads, node);
    else {
      node = this.#usedNodes;
      if (node === this.#outHeads.length) this.#growNodes();
      this.#usedNodes += 1;
    }
    this.#outHeads[node] = NONE;
    this.#topology.append(node);
    this.#size += 1;
    return node;
  }

  /** Removes a node that has no edges left. */
  removeNode(node: number): void {
    if (!(this.orderOf(node) >= 0)) throw new Error(`Node ${node} cannot be removed: it is not in the graph.`);
    const edges = this.outDegree(node) + this.inDegree(node);
    if (edges > 0) throw new Error(`Node ${node} cannot be removed: it has ${edges} edges.`);
    this.#topology.remove(node);
    this.#outHeads[node] = this.#freeNode;
    this.#freeNode = node;
    this.#size -= 1;
  }

  /** Adds an edge that agrees with the topological order, as every edge to the newest node does; returns the edge. */
  link(from: number, to: number, policy: EdgePolicy): number {
    const fromOrder = this.orderOf(from);
    // Written so that it also catches dead nodes, whose order is negative, and numbers that never were nodes.
    if (!(fromOrder >= 0 && fromOrder < this.orderOf(to))) {
      throw new Error(`Edge ${from} to ${to} cannot be linked: it is against the order. Use connect().`);
    }
    const edge = this.#takeEdge();
    this.#sources[edge] = from;
    this.#targets[edge] = to;
    this.#policies[edge] = policy;
    this.#appendOut(from, edge);
    this.#appendIn(to, edge);
    this.#edgeCount += 1;
    return edge;
  }

  /**
   * Adds an edge between any two nodes, last in both lists. If it would close a cycle, nothing changes and the
   * shortest such cycle is returned: from `to` along existing edges to `from`, then `to` again by the new edge;
   * `[n, n]` for an edge from a node to itself. A second edge between the same pair is accepted: ask `findEdge` first
   * where that is not wanted.
   */
  connect(from: number, to: number, policy: EdgePolicy): readonly number[] | undefined {
    if (!(this.orderOf(from) >= 0 && this.orderOf(to) >= 0)) {
      throw new Error(`Edge ${from} to ${to} cannot be connected: one of the nodes is not in the graph.`);
    }
    const cycle = this.#topology.admit(this, from, to);
    if (cycle === undefined) this.link(from, to, policy);
    return cycle;
  }

  /** Lets an edge come from another node, last of those out of it; it stays where it was among those into its target. */
  moveSource(edge: number, from: number): void {
    const cycle = this.#topology.admit(this, from, this.target(edge));
    if (cycle !== undefined) throw new Error(`Edge ${edge} cannot come from ${from}: that would close a cycle.`);
    this.frozen?.keepEdge(edge);
    this.#detachOut(this.source(edge), edge);
    this.#sources[edge] = from;
    this.#appendOut(from, edge);
  }

  /** Removes an edge in constant time; the order stays as it is. */
  unlink(edge: number): void {
    const from = this.source(edge);
    if (!(from >= 0)) throw new Error(`Edge ${edge} cannot be unlinked: it is not in the graph.`);
    this.frozen?.keepEdge(edge);
    this.#detachOut(from, edge);
    this.#detachIn(this.target(edge), edge);
    this.#sources[edge] = NONE;
    this.#outNexts[edge] = this.#freeEdge;
    this.#freeEdge = edge;
    this.#edgeCount -= 1;
  }

  /** An edge between two nodes, or -1; walks the shorter of the two lists it would stand in. */
  findEdge(from: number, to: number): number {
    const byOut = this.outDegree(from) < this.inDegree(to);
    let edge = byOut ? this.firstOut(from) : this.firstIn(to);
    if (byOut) while (edge !== NONE && this.target(edge) !== to) edge = this.nextOut(edge);
    else while (edge !== NONE && this.source(edge) !== from) edge = this.nextIn(edge);
    return edge;
  }

  /** The oldest edge to a dependant of this node. */
  firstOut(node: number): number {
    return at(this.#outHeads, node);
  }

  /** The next younger edge out of the same node. */
  nextOut(edge: number): number {
    return at(this.#outNexts, edge);
  }

  /** The oldest edge from a dependency of this node. */
  firstIn(node: number): number {
    return at(this.#inHeads, node);
  }

  /** The next younger edge into the same node. */
  nextIn(edge: number): number {
    return at(this.#inNexts, edge);
  }

  /** The number of edges to dependants. */
  outDegree(node: number): number {
    return at(this.#outDegrees, node);
  }

  /** The number of edges from dependencies. */
  inDegree(node: number): number {
    return at(this.#inDegrees, node);
  }

  /** The dependency. */
  source(edge: number): number {
    return at(this.#sources, edge);
  }

  /** The dependant. */
  target(edge: number): number {
    return at(this.#targets, edge);
  }

  /** The policy given with the edge. */
  policy(edge: number): EdgePolicy {
    return this.#policies[edge] as EdgePolicy;
  }

  setPolicy(edge: number, policy: EdgePolicy): void {
    this.frozen?.keepEdge(edge);
    this.#policies[edge] = policy;
  }

  /** Compares two nodes by the topological order: negative if `a` comes first. */
  before(a: number, b: number): number {
    return this.orderOf(a) - this.orderOf(b);
  }

  /** The node's place in the topological order, with gaps; it may change whenever a node or an edge is added. */
  orderOf(node: number): number {
    return this.#topology.orderOf(node);
  }

  /** Its lists as they are at this moment; told of changes once they are {@link frozen}. */
  lists(): FrozenLists {
    return new FrozenLists(this, this.#usedNodes, this.#usedEdges);
  }

  /** Memory held, slack included. */
  bytes(): number {
    const lists = 6 * (this.#outHeads.byteLength + this.#sources.byteLength) + this.#policies.byteLength;
    return lists + this.#topology.bytes();
  }

  #appendOut(node: number, edge: number): void {
    const tail = at(this.#outTails, node);
    this.frozen?.keepEnds(node, tail);
    if (tail === NONE) this.#outHeads[node] = edge;
    else this.#outNexts[tail] = edge;
    this.#outTails[node] = edge;
    this.#outPreviouses[edge] = tail;
    this.#outNexts[edge] = NONE;
    this.#outDegrees[node] = at(this.#outDegrees, node) + 1;
  }

  #appendIn(node: number, edge: number): void {
    const tail = at(this.#inTails, node);
    this.frozen?.keepEnds(node, tail);
    if (tail === NONE) this.#inHeads[node] = edge;
    else this.#inNexts[tail] = edge;
    this.#inTails[node] = edge;
    this.#inPreviouses[edge] = tail;
    this.#inNexts[edge] = NONE;
    this.#inDegrees[node] = at(this.#inDegrees, node) + 1;
  }

  #detachOut(node: number, edge: number): void {
    const previous = at(this.#outPreviouses, edge);
    const next = at(this.#outNexts, edge);
    this.frozen?.keepEnds(node, previous);
    if (previous === NONE) this.#outHeads[node] = next;
    else this.#outNexts[previous] = next;
    if (next === NONE) this.#outTails[node] = previous;
    else this.#outPreviouses[next] = previous;
    this.#outDegrees[node] = at(this.#outDegrees, node) - 1;
  }

  #detachIn(node: number, edge: number): void {
    const previous = at(this.#inPreviouses, edge);
    const next = at(this.#inNexts, edge);
    this.frozen?.keepEnds(node, previous);
    if (previous === NONE) this.#inHeads[node] = next;
    else this.#inNexts[previous] = next;
    if (next === NONE) this.#inTails[node] = previous;
    else this.#inPreviouses[next] = previous;
    this.#inDegrees[node] = at(this.#inDegrees, node) - 1;
  }

  #takeEdge(): number {
    const free = this.#freeEdge;
    if (free !== NONE) {
      this.#freeEdge = at(this.#outNexts, free);
      return free;
    }
    const edge = this.#usedEdges;
    if (edge === this.#sources.length) this.#growEdges();
    this.#usedEdges += 1;
    return edge;
  }

  #growNodes(): void {
    const before = this.#outHeads.length;
    const capacity = nextCapacity(before);
    // Heads and tails of new slots are `NONE`; a slot is freed only when its lists are empty, so they stay right.
    this.#outHeads = grown(this.#outHeads, capacity).fill(NONE, before);
    this.#outTails = grown(this.#outTails, capacity).fill(NONE, before);
    this.#inHeads = grown(this.#inHeads, capacity).fill(NONE, before);
    this.#inTails = grown(this.#inTails, capacity).fill(NONE, before);
    this.#outDegrees = grown(this.#outDegrees, capacity);
    this.#inDegrees = grown(this.#inDegrees, capacity);
    this.#topology.reserve(capacity);
  }

  #growEdges(): void {
    const before = this.#sources.length;
    const capacity = nextCapacity(before);
    // A new slot is known by its source; what else it holds is written when it is taken.
    this.#sources = grown(this.#sources, capacity).fill(NONE, before);
    this.#targets = grown(this.#targets, capacity);
    this.#outNexts = grown(this.#outNexts, capacity);
    this.#outPreviouses = grown(this.#outPreviouses, capacity);
    this.#inNexts = grown(this.#inNexts, capacity);
    this.#inPreviouses = grown(this.#inPreviouses, capacity);
    this.#policies = grown(this.#policies, capacity);
  }
}
