import { Heap as BinaryHeap } from 'heap-js';

/**
 * A binary heap whose smallest item by `compare` is at the top.
 *
 * It has no removal by item: heap-js would search the whole heap. Whoever needs it marks the item as dead, drops it
 * when it reaches the top, and calls `filter` once too many are dead. Items must not be `undefined`.
 */
export class Heap<T> {
  readonly #heap: BinaryHeap<T>;

  constructor(compare: (a: T, b: T) => number) {
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
}
