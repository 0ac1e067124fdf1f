import type { Adjacency } from './topology.js';

/** Lists that others may change. */
interface Lists extends Adjacency {
  policy(edge: number): number;
}

/** So many nodes or edges are copied together. */
const BLOCK = 1_024;
/** What is kept of an edge: its next ones out of and into the same node, its two ends, its policy. */
const PER_EDGE = 5;
/** What is kept of a node: its first edges out and in. */
const PER_NODE = 2;

/**
 * The lists of a graph as they were at a moment. They are read where they are for as long as nobody changes them: whoever
 * is about to says which node or edge, and the block that it is in is copied first. So the moment itself costs nothing.
 */
export class FrozenLists {
  private readonly nodeBlocks: (Int32Array | undefined)[] = [];
  private readonly edgeBlocks: (Int32Array | undefined)[] = [];

  constructor(
    private readonly lists: Lists,
    /** Nodes have numbers below this one. */
    private readonly nodes: number,
    /** Edges have numbers below this one. */
    readonly edges: number,
  ) {}

  /** The first edges of the node are about to change. */
  keepNode(node: number): void {
    const block = Math.floor(node / BLOCK);
    if (node >= this.nodes || this.nodeBlocks[block] !== undefined) return;
    const { lists } = this;
    const copy = new Int32Array(PER_NODE * BLOCK);
    for (let i = 0; i < BLOCK; i += 1) {
      const each = block * BLOCK + i;
      copy[i * PER_NODE] = lists.firstOut(each);
      copy[i * PER_NODE + 1] = lists.firstIn(each);
    }
    this.nodeBlocks[block] = copy;
  }

  /** Anything about the edge is about to change. */
  keepEdge(edge: number): void {
    const block = Math.floor(edge / BLOCK);
    if (edge >= this.edges || this.edgeBlocks[block] !== undefined) return;
    const { lists } = this;
    const copy = new Int32Array(PER_EDGE * BLOCK);
    for (let i = 0; i < BLOCK; i += 1) {
      const each = block * BLOCK + i;
      copy[i * PER_EDGE] = lists.nextOut(each);
      copy[i * PER_EDGE + 1] = lists.nextIn(each);
      copy[i * PER_EDGE + 2] = lists.source(each);
      copy[i * PER_EDGE + 3] = lists.target(each);
      copy[i * PER_EDGE + 4] = lists.policy(each);
    }
    this.edgeBlocks[block] = copy;
  }

  /** A list of the node is about to change behind this edge, or at its beginning where there is none. */
  keepEnds(node: number, previous: number): void {
    if (previous < 0) this.keepNode(node);
    else this.keepEdge(previous);
  }

  firstOut(node: number): number {
    return this.ofNode(node, 0) ?? this.lists.firstOut(node);
  }

  firstIn(node: number): number {
    return this.ofNode(node, 1) ?? this.lists.firstIn(node);
  }

  nextOut(edge: number): number {
    return this.ofEdge(edge, 0) ?? this.lists.nextOut(edge);
  }

  nextIn(edge: number): number {
    return this.ofEdge(edge, 1) ?? this.lists.nextIn(edge);
  }

  source(edge: number): number {
    return this.ofEdge(edge, 2) ?? this.lists.source(edge);
  }

  target(edge: number): number {
    return this.ofEdge(edge, 3) ?? this.lists.target(edge);
  }

  policy(edge: number): number {
    return this.ofEdge(edge, 4) ?? this.lists.policy(edge);
  }

  private ofNode(node: number, field: number): number | undefined {
    return this.nodeBlocks[Math.floor(node / BLOCK)]?.[(node % BLOCK) * PER_NODE + field];
  }

  private ofEdge(edge: number, field: number): number | undefined {
    return this.edgeBlocks[Math.floor(edge / BLOCK)]?.[(edge % BLOCK) * PER_EDGE + field];
  }
}
