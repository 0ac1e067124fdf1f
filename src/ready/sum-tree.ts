import {
  LEFT,
  LINKS,
  NOBODY,
  PRIORITY,
  RIGHT,
  ROOT_SLOT,
  SUM,
  VALUES,
  WEIGHT,
  checkedWeight,
  linkAt,
  nodeAt,
  scramble,
  updateSum,
  valueAt,
} from './sum-nodes.js';

/** How a sum tree tells its items apart. */
export interface SumTreeOptions<T> {
  /** A total order: zero means the same item. */
  readonly compare: (a: T, b: T) => number;
  /**
   * An integer that never changes for an item and is seldom shared, such as its sequence number. It need not look
   * random, but if many items share one the tree grows deep.
   */
  readonly hash: (item: T) => number;
}

const SMALLEST_CAPACITY = 16;

/**
 * Items in order, each with a weight, for an exact weighted choice in O(log n).
 *
 * It is a treap whose priorities come from the items themselves. So its form, and with it the rounding of its sums,
 * depends only on what it holds and never on how it came to hold it: a recovered tree picks what the lost one would
 * have picked. A sum is always computed anew from the children, never incremented, so that no error builds up.
 */
export class SumTree<T> implements Iterable<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #hash: (item: T) => number;
  #links = new Int32Array(SMALLEST_CAPACITY * LINKS);
  #values = new Float64Array(SMALLEST_CAPACITY * VALUES);
  #items: (T | undefined)[] = [undefined];
  #size = 0;
  /** The first of the freed nodes, which are chained through their right links. */
  #free = NOBODY;
  /** Where the latest descent ended: the place in `#links` of the link to the item, or of the one it would get. */
  #slot = ROOT_SLOT;
  /** The nodes from the root down whose sums the current operation changes; kept to spare an allocation each time. */
  readonly #path: number[] = [];

  /** The item that was picked last, at this depth, while the path still leads to it: it mostly changes or goes next. */
  #picked: T | undefined = undefined;
  #depth = 0;
  #rest = 0;

  constructor(options: SumTreeOptions<T>) {
    this.#compare = options.compare;
    this.#hash = options.hash;
  }

  get size(): number {
    return this.#size;
  }

  /** The sum of all weights. */
  get total(): number {
    return valueAt(this.#values, linkAt(this.#links, ROOT_SLOT) * VALUES + SUM);
  }

  has(item: T): boolean {
    return this.#descend(item, this.#priorityOf(item)) >= 0;
  }

  /** Adds the item; returns false, and changes nothing, if it is there already. */
  insert(item: T, weight: number): boolean {
    const priority = this.#priorityOf(item);
    const found = this.#descend(item, priority);
    if (found >= 0) return false;
    const depth = ~found;
    const below = linkAt(this.#links, this.#slot);
    const added = this.#allocate(item, checkedWeight(weight), priority);
    this.#links[this.#slot] = added;
    this.#path[depth] = added;
    this.#updateSums(this.#split(below, added, depth + 1));
    this.#size += 1;
    return true;
  }

  /** Removes the item; returns false if it is not there. */
  remove(item: T): boolean {
    const links = this.#links;
    const path = this.#path;
    let depth = this.#descend(item, this.#priorityOf(item));
    if (depth < 0) return false;
    let slot = this.#slot;
    const removed = linkAt(links, slot);
    // Merges the two subtrees in its place. Equal priorities go to the left one, which has the smaller keys: the same
    // rule as on insertion, or the form would depend on the history.
    let left = linkAt(links, removed * LINKS + LEFT);
    let right = linkAt(links, removed * LINKS + RIGHT);
    while (left !== NOBODY && right !== NOBODY) {
      if (linkAt(links, left * LINKS + PRIORITY) >= linkAt(links, right * LINKS + PRIORITY)) {
        links[slot] = path[depth++] = left;
        slot = left * LINKS + RIGHT;
        left = linkAt(links, slot);
      } else {
        links[slot] = path[depth++] = right;
        slot = right * LINKS + LEFT;
        right = linkAt(links, slot);
      }
    }
    links[slot] = left === NOBODY ? right : left;
    this.#updateSums(depth);

    this.#items[removed] = undefined;
    links[removed * LINKS + RIGHT] = this.#free;
    this.#free = removed;
    this.#size -= 1;
    return true;
  }

  /** Changes the item's weight; returns false if it is not there. */
  setWeight(item: T, weight: number): boolean {
    const depth = this.#descend(item, this.#priorityOf(item));
    if (depth < 0) return false;
    const node = linkAt(this.#links, this.#slot);
    this.#values[node * VALUES + WEIGHT] = checkedWeight(weight);
    this.#path[depth] = node;
    this.#updateSums(depth + 1);
    return true;
  }

  /**
   * The item at which the weights, added up in order, first exceed `x`, for 0 <= x < total.
   *
   * It never is an item of weight 0, and it is `undefined` only if the total is 0. An `x` that rounding has pushed past
   * the last weight gets the last item that has one.
   */
  pick(x: number): T | undefined {
    const links = this.#links;
    const values = this.#values;
    let depth = 0;
    let slot = ROOT_SLOT;
    let node = linkAt(links, slot);
    let rest = x > 0 ? x : 0;
    // The sum of the node in hand is positive, so that one of its children or its own weight is positive too.
    if (valueAt(values, node * VALUES + SUM) === 0) return undefined;
    for (;;) {
      const leftSum = valueAt(values, linkAt(links, node * LINKS + LEFT) * VALUES + SUM);
      let side = LEFT;
      if (rest >= leftSum) {
        rest -= leftSum;
        const weight = valueAt(values, node * VALUES + WEIGHT);
        if (rest < weight) break;
        rest -= weight;
        if (valueAt(values, linkAt(links, node * LINKS + RIGHT) * VALUES + SUM) > 0) side = RIGHT;
        else if (weight > 0) break;
        else rest = Infinity;
      }
      this.#path[depth++] = node;
      slot = node * LINKS + side;
      node = linkAt(links, slot);
    }
    this.#slot = slot;
    this.#depth = depth;
    this.#picked = this.#items[node];
    this.#rest = rest;
    return this.#picked;
  }

  /** How far into the picked item's own weight the latest `x` reached: the draw goes on inside it. */
  get rest(): number {
    return this.#rest;
  }

  /** The items in order; the tree must not change meanwhile. */
  *[Symbol.iterator](): Generator<T, void, undefined> {
    const ancestors: number[] = [];
    let node = linkAt(this.#links, ROOT_SLOT);
    for (;;) {
      while (node !== NOBODY) {
        ancestors.push(node);
        node = linkAt(this.#links, node * LINKS + LEFT);
      }
      const next = ancestors.pop();
      if (next === undefined) return;
      yield this.#items[next] as T;
      node = linkAt(this.#links, next * LINKS + RIGHT);
    }
  }

  #priorityOf(item: T): number {
    return scramble(this.#hash(item));
  }

  /**
   * Leaves the item's ancestors in the path and the link to it in `#slot`, and returns its depth. If the item is not
   * there, its place is where its priority puts it, and the complement of the depth is returned, which is negative.
   */
  #descend(item: T, priority: number): number {
    const isPicked = item === this.#picked;
    this.#picked = undefined;
    if (isPicked) return this.#depth;
    const links = this.#links;
    let depth = 0;
    let slot = ROOT_SLOT;
    let node = linkAt(links, slot);
    while (node !== NOBODY) {
      const order = this.#compare(item, this.#items[node] as T);
      if (order === 0) {
        this.#slot = slot;
        return depth;
      }
      const other = linkAt(links, node * LINKS + PRIORITY);
      // The item itself cannot be further down: there the priorities are lower, or equal with a greater key.
      if (other < priority || (other === priority && order < 0)) break;
      this.#path[depth++] = node;
      slot = node * LINKS + (order < 0 ? LEFT : RIGHT);
      node = linkAt(links, slot);
    }
    this.#slot = slot;
    return ~depth;
  }

  /** Divides the subtree at `node` by the key of `added`, whose children the halves become; returns the new depth. */
  #split(node: number, added: number, depth: number): number {
    const links = this.#links;
    const item = this.#items[added] as T;
    let smaller = added * LINKS + LEFT;
    let greater = added * LINKS + RIGHT;
    while (node !== NOBODY) {
      this.#path[depth++] = node;
      if (this.#compare(item, this.#items[node] as T) < 0) {
        links[greater] = node;
        greater = node * LINKS + LEFT;
        node = linkAt(links, greater);
      } else {
        links[smaller] = node;
        smaller = node * LINKS + RIGHT;
        node = linkAt(links, smaller);
      }
    }
    links[smaller] = NOBODY;
    links[greater] = NOBODY;
    return depth;
  }

  /** Recomputes the sums of the first `depth` nodes of the path, each after those below it. */
  #updateSums(depth: number): void {
    for (let at = depth - 1; at >= 0; at -= 1) updateSum(this.#links, this.#values, nodeAt(this.#path, at));
  }

  #allocate(item: T, weight: number, priority: number): number {
    let node = this.#free;
    if (node === NOBODY) {
      node = this.#items.length;
      if (node * LINKS >= this.#links.length) {
        const [links, values] = [this.#links, this.#values];
        this.#links = new Int32Array(links.length * 2);
        this.#values = new Float64Array(values.length * 2);
        this.#links.set(links);
        this.#values.set(values);
      }
    } else {
      this.#free = linkAt(this.#links, node * LINKS + RIGHT);
    }
    this.#items[node] = item;
    this.#links[node * LINKS + PRIORITY] = priority;
    this.#values[node * VALUES + WEIGHT] = weight;
    return node;
  }
}
