import { InvariantError } from '../model/invariant.js';

// The nodes of a sum tree, packed into two arrays: one node is four integers in `links` (the fourth is padding) and two
// doubles in `values`. At 100,000 items this takes about two thirds of the time of node objects, and for an insertion
// four fifths of the time of one array for each field.

/** Node 0: its sum is 0 for good, and its left link holds the root, so that every link is a slot in `links`. */
export const NOBODY = 0;

/** The slot of the link to the root. */
export const ROOT_SLOT = 0;

/** How many integers a node has in `links`. */
export const LINKS = 4;

/** The offset in `links` of the child with the smaller keys. */
export const LEFT = 0;

/** The offset in `links` of the child with the greater keys. */
export const RIGHT = 1;

/** The offset in `links` of the priority, which is nowhere lower than that of a child. */
export const PRIORITY = 2;

/** How many doubles a node has in `values`. */
export const VALUES = 2;

/** The offset in `values` of the node's own weight. */
export const WEIGHT = 0;

/** The offset in `values` of the sum of the weights of the node and all below it. */
export const SUM = 1;

/** The integer at a slot that belongs to a node, so that it is there. */
export function linkAt<N>(links: ArrayLike<N>, slot: number): N {
  return links[slot] as N;
}

/** The double at a slot that belongs to a node. It is a function of its own so that it only ever sees doubles. */
export function valueAt<N>(values: ArrayLike<N>, slot: number): N {
  return values[slot] as N;
}

/** The node at a depth that the path has reached. It is a function of its own so that it only ever sees plain arrays. */
export function nodeAt<N>(path: readonly N[], depth: number): N {
  return path[depth] as N;
}

/** Computes the node's sum anew from its children's sums, always in the same order. */
export function updateSum(links: Int32Array, values: Float64Array, node: number): void {
  const left = valueAt(values, linkAt(links, node * LINKS + LEFT) * VALUES + SUM);
  const right = valueAt(values, linkAt(links, node * LINKS + RIGHT) * VALUES + SUM);
  values[node * VALUES + SUM] = left + valueAt(values, node * VALUES + WEIGHT) + right;
}

/** Spreads integers over 32 bits (the finalizer of MurmurHash3), because sequence numbers alone would make a chain. */
export function scramble(integer: number): number {
  // Above 2 ** 32 the upper half of the integer has its say, too.
  let bits = integer ^ Math.imul(Math.floor(integer / 2 ** 32), 0x9e3779b1);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

/** The weight itself, if sums can be made of it. */
export function checkedWeight(weight: number): number {
  if (weight >= 0 && weight < Infinity) return weight;
  throw new InvariantError(`A weight in a sum tree must be a finite number of at least 0, got ${weight}.`);
}
