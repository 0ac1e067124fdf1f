import { Heap as BinaryHeap } from 'heap-js';

/** Whether a visitor wants to see the next item. */
export type Visit = 'stop' | 'continue';

/**
 * A binary heap whose smallest item by `compare` is at the top.
 *
 * It has no removal by item: heap-js would search the whole heap. Whoever needs it marks the item as dead, drops it
 * when it reaches the top, and calls `filter` once too many are dead. Items must not be `undefined`.
 */
export class Heap<T> {
  readonly #compare: (a: T, b: T) => number;
  readonly #heap: BinaryHeap<T>;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
    this.#heap = new BinaryHeap(compare);
  }

  get size(): number {
    return this.#heap.heapArray.length;
  }

  push(item: T): void {
    // The variadic `push` of heap-js would allocate an array for each call.
    this.#heap.add(item);
  }

  peek(): T | undefined {
    return this.#heap.heapArray[0];
  }

  pop(): T | undefined {
    return this.#heap.pop();
  }

  /** Puts the item where the top was and lets it sink; it may be the top itself after its key has grown. */
  replaceTop(item: T): void {
    this.#heap.replace(item);
  }

  /** Holds exactly these items from now on, in O(n); the array is copied and stays the caller's. */
  rebuild(items: readonly T[]): void {
    // Handing the array to `init` would copy it through an iterator, which takes three times as long as all the rest.
    this.#heap.heapArray = items.slice();
    this.#heap.init();
  }

  /** Drops every item that `keep` refuses, in O(n), and returns how many went. */
  filter(keep: (item: T) => boolean): number {
    const before = this.#heap.heapArray;
    const kept = before.filter((item) => keep(item));
    const dropped = before.length - kept.length;
    if (dropped > 0) {
      this.#heap.heapArray = kept;
      this.#heap.init();
    }
    return dropped;
  }

  /** The heap's own array in heap order, not a copy: it is valid until the heap next changes. */
  items(): readonly T[] {
    return this.#heap.heapArray;
  }

  clear(): void {
    this.#heap.clear();
  }

  /**
   * Visits the items from the smallest on without removing any, until the visitor says stop.
   *
   * The first k items cost O(k log k), whatever the size of the heap. The visitor must not change the heap.
   */
  visitInOrder(visit: (item: T) => Visit): void {
    const items = this.#heap.heapArray;
    if (items.length === 0) return;
    // The frontier holds the places whose parent has been visited: the next item in order is always among them.
    const frontier = new BinaryHeap<number>((a, b) => this.#compare(items[a] as T, items[b] as T));
    frontier.add(0);
    for (let place = frontier.peek(); place !== undefined; place = frontier.peek()) {
      if (visit(items[place] as T) === 'stop') return;
      const left = 2 * place + 1;
      if (left < items.length) frontier.replace(left);
      else frontier.pop();
      if (left + 1 < items.length) frontier.add(left + 1);
    }
  }
}
