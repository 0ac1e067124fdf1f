/** The graph as the order sees it: lists of edges out of and into each node, walked without allocating. */
export interface Adjacency {
  firstOut(node: number): number;
  nextOut(edge: number): number;
  target(edge: number): number;
  firstIn(node: number): number;
  nextIn(edge: number): number;
  source(edge: number): number;
}

/** The end of a list, and the absence of a node or an edge. */
export const NONE = -1;

const SMALLEST_CAPACITY = 16;

/** The largest value that an `Int32Array` holds. */
const MAX_COUNTER = 0x7fff_ffff;

/**
 * A topological order that is repaired edge by edge (Pearce and Kelly, 2006).
 *
 * Every live node has an order number, no two the same, and every edge leads from a smaller one to a larger one.
 * An edge against the order costs a search of the nodes numbered between its two ends, and of no others.
 */
export class Topology {
  /** By node; `NONE` for a node that is not alive. */
  #orders = new Int32Array(0);
  /** A node belongs to the current search if its stamp is the current generation. */
  #stamps = new Int32Array(0);
  #generation = 0;
  #nextOrder = 0;
  readonly #counterLimit: number;

  // The nodes a search has met double as its queue; their order numbers stand beside them, to be sorted without
  // touching the nodes again. Room for all nodes is made by the first search: many graphs never need one.
  #ahead = new Int32Array(0);
  #aheadOrders = new Int32Array(0);
  #aheadCount = 0;
  #behind = new Int32Array(0);
  #behindOrders = new Int32Array(0);
  #behindCount = 0;

  /** Counters start again, at some cost, when they reach the limit; only tests need one within reach. */
  constructor(counterLimit = MAX_COUNTER) {
    this.#counterLimit = counterLimit;
  }

  /** Puts a node last, whether its slot is new or used before. */
  append(node: number): void {
    if (this.#nextOrder === this.#counterLimit) this.#renumber();
    this.#orders[node] = this.#nextOrder;
    this.#nextOrder += 1;
  }

  /** Forgets a node; the number it had stays unused. */
  remove(node: number): void {
    this.#orders[node] = NONE;
  }

  /** The node's number, which changes as edges are admitted; `NONE` if it is not alive. */
  orderOf(node: number): number {
    return at(this.#orders, node);
  }

  /**
   * Makes the order fit for an edge between two live nodes, or returns the cycle that the edge would close: the
   * shortest way from `to` to `from`, and `to` again. The order is unchanged in that case.
   */
  admit(graph: Adjacency, from: number, to: number): readonly number[] | undefined {
    if (this.orderOf(from) < this.orderOf(to)) return undefined;
    if (from === to) return [to, to];
    this.#beginSearch();
    if (this.#searchAhead(graph, from, to)) return this.#cycle(graph, from, to);
    this.#searchBehind(graph, from, to);
    this.#reorder();
    return undefined;
  }

  /** Makes room for nodes below `capacity`. */
  reserve(capacity: number): void {
    const before = this.#orders.length;
    this.#orders = grown(this.#orders, capacity).fill(NONE, before);
    this.#stamps = grown(this.#stamps, capacity);
  }

  /** Memory held, slack included. */
  bytes(): number {
    return this.#orders.byteLength + this.#stamps.byteLength + 4 * this.#ahead.byteLength;
  }

  #beginSearch(): void {
    const capacity = this.#orders.length;
    if (this.#ahead.length < capacity) {
      this.#ahead = new Int32Array(capacity);
      this.#aheadOrders = new Int32Array(capacity);
      this.#behind = new Int32Array(capacity);
      this.#behindOrders = new Int32Array(capacity);
    }
    if (this.#generation === this.#counterLimit) {
      this.#stamps.fill(0);
      this.#generation = 0;
    }
    this.#generation += 1;
  }

  /** Collects what follows `to` and is numbered before `from`, breadth first, until it meets `from`. */
  #searchAhead(graph: Adjacency, from: number, to: number): boolean {
    const orders = this.#orders;
    const stamps = this.#stamps;
    const found = this.#ahead;
    const foundOrders = this.#aheadOrders;
    const generation = this.#generation;
    const limit = at(orders, from);
    found[0] = to;
    foundOrders[0] = at(orders, to);
    stamps[to] = generation;
    let count = 1;
    for (let head = 0; head < count; head += 1) {
      for (let edge = graph.firstOut(at(found, head)); edge !== NONE; edge = graph.nextOut(edge)) {
        const node = graph.target(edge);
        const order = at(orders, node);
        if (order < limit && at(stamps, node) !== generation) {
          stamps[node] = generation;
          found[count] = node;
          foundOrders[count] = order;
          count += 1;
        } else if (node === from) {
          this.#aheadCount = count;
          return true;
        }
      }
    }
    this.#aheadCount = count;
    return false;
  }

  /** Collects what leads to `from` and is numbered after `to`. The search ahead has met none of these nodes. */
  #searchBehind(graph: Adjacency, from: number, to: number): void {
    const orders = this.#orders;
    const stamps = this.#stamps;
    const found = this.#behind;
    const foundOrders = this.#behindOrders;
    const generation = this.#generation;
    const limit = at(orders, to);
    found[0] = from;
    foundOrders[0] = at(orders, from);
    let count = 1;
    for (let head = 0; head < count; head += 1) {
      for (let edge = graph.firstIn(at(found, head)); edge !== NONE; edge = graph.nextIn(edge)) {
        const node = graph.source(edge);
        const order = at(orders, node);
        if (order > limit && at(stamps, node) !== generation) {
          stamps[node] = generation;
          found[count] = node;
          foundOrders[count] = order;
          count += 1;
        }
      }
    }
    this.#behindCount = count;
  }

  /** Deals the numbers of both sets out again: all that is behind first, each set in the sequence it had. */
  #reorder(): void {
    const orders = this.#orders;
    const aheadOrders = this.#aheadOrders;
    const behindOrders = this.#behindOrders;
    const aheadCount = this.#aheadCount;
    const behindCount = this.#behindCount;
    sortByOrder(aheadOrders, this.#ahead, aheadCount);
    sortByOrder(behindOrders, this.#behind, behindCount);
    let ahead = 0;
    let behind = 0;
    for (let place = 0; place < behindCount + aheadCount; place += 1) {
      const node = place < behindCount ? at(this.#behind, place) : at(this.#ahead, place - behindCount);
      // The largest number is that of `from`, which is behind, so the set ahead always runs out first.
      if (ahead < aheadCount && at(aheadOrders, ahead) < at(behindOrders, behind)) {
        orders[node] = at(aheadOrders, ahead);
        ahead += 1;
      } else {
        orders[node] = at(behindOrders, behind);
        behind += 1;
      }
    }
  }

  /** Walks back from `from` over the nodes met ahead of `to`, each time to the one that was met first. */
  #cycle(graph: Adjacency, from: number, to: number): readonly number[] {
    const positions = this.#behind;
    for (let index = 0; index < this.#aheadCount; index += 1) positions[at(this.#ahead, index)] = index;
    const path = [to];
    for (let node = from; node !== to;) {
      path.push(node);
      let earliest = this.#aheadCount;
      for (let edge = graph.firstIn(node); edge !== NONE; edge = graph.nextIn(edge)) {
        const source = graph.source(edge);
        if (at(this.#stamps, source) === this.#generation) earliest = Math.min(earliest, at(positions, source));
      }
      node = at(this.#ahead, earliest);
    }
    path.push(to);
    return path.reverse();
  }

  /** Closes the gaps that removed nodes have left. This may allocate: it happens once in two thousand million nodes. */
  #renumber(): void {
    const orders = this.#orders;
    const alive: number[] = [];
    for (let node = 0; node < orders.length; node += 1) {
      if (at(orders, node) !== NONE) alive.push(node);
    }
    alive.sort((a, b) => at(orders, a) - at(orders, b));
    alive.forEach((node, order) => (orders[node] = order));
    this.#nextOrder = alive.length;
    if (this.#nextOrder === this.#counterLimit) {
      throw new Error(`The order holds ${this.#counterLimit} nodes, which is as many as it can number.`);
    }
  }
}

/** Reads an element at an index that is known to be within bounds. */
export function at(array: Int32Array, index: number): number {
  // Neither a default nor a check: this is inlined in every inner loop.
  return array[index] as number;
}

/** A longer copy of an array, with zeros at its end: as long as nobody writes there, they take no memory. */
export function grown<Numbers extends Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(
  array: Numbers,
  capacity: number,
): Numbers {
  const longer = new (array.constructor as new (length: number) => Numbers)(capacity);
  longer.set(array);
  return longer;
}

/** How many slots follow so many. */
export function nextCapacity(capacity: number): number {
  return Math.max(SMALLEST_CAPACITY, capacity + (capacity >> 1));
}

/** Shell sort of two parallel arrays: most sets are tiny, and the rare large one must not take quadratic time. */
function sortByOrder(orders: Int32Array, nodes: Int32Array, count: number): void {
  let gap = 1;
  while (gap * 3 + 1 < count >> 1) gap = gap * 3 + 1;
  for (; gap >= 1; gap = Math.floor(gap / 3)) {
    for (let index = gap; index < count; index += 1) {
      const order = at(orders, index);
      const node = at(nodes, index);
      let hole = index;
      for (; hole >= gap && at(orders, hole - gap) > order; hole -= gap) {
        orders[hole] = at(orders, hole - gap);
        nodes[hole] = at(nodes, hole - gap);
      }
      orders[hole] = order;
      nodes[hole] = node;
    }
  }
}
