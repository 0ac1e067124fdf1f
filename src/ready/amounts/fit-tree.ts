import { Branch, Treap } from './treap.js';

/** Says whether so much of each resource is to be had now; what fits still fits with less. */
export type Fits = (amounts: readonly number[]) => boolean;

/** Says when so much of each resource is to be had, `Infinity` for who knows; with less it is no later. */
export type MomentOf = (amounts: readonly number[]) => number;

/** Something that needs amounts of a few resources, in a fixed order. */
export abstract class FitNode<N> extends Branch<N> {
  /** The smallest amount of each resource, over the node and all below it. */
  readonly least: number[];

  constructor(
    priority: number,
    /** Changed only while the node stands in no tree. */
    public amounts: readonly number[],
  ) {
    super(priority);
    this.least = [...amounts];
  }
}

/**
 * Nodes in order, of which the first that fits is found in O(log n).
 *
 * Every node knows the smallest amounts below it, so that a subtree in which nothing fits is never entered. With one
 * resource the converse holds too, and the way down never turns back. With several, the smallest amounts may be
 * those of different nodes: a subtree may then be entered in vain.
 */
export class FitTree<N extends FitNode<N>> extends Treap<N> {
  constructor(private readonly order: (x: N, y: N) => number) {
    super();
  }

  /** The first node that fits. */
  firstFitting(fits: Fits): N | undefined {
    for (const node of this.fitting(fits)) return node;
    return undefined;
  }

  /** The nodes that fit, in order; the tree must not change meanwhile. */
  *fitting(fits: Fits): Generator<N, void, undefined> {
    const above: N[] = [];
    let node = this.root;
    for (;;) {
      for (; node !== undefined && fits(node.least); node = node.left) above.push(node);
      const next = above.pop();
      if (next === undefined) return;
      if (fits(next.amounts)) yield next;
      node = next.right;
    }
  }

  /**
   * The smallest of what `exact` says of a node, which is nowhere before what `momentOf` says of its amounts: a subtree
   * whose smallest amounts are not to be had sooner is not entered.
   */
  soonest(momentOf: MomentOf, exact: (node: N) => number): number {
    return soonestIn(this.root, momentOf, (node, sooner) => (momentOf(node.amounts) < sooner ? exact(node) : Infinity));
  }

  protected override compare(x: N, y: N): number {
    return this.order(x, y);
  }

  protected override gather(node: N): void {
    const { amounts, least, left, right } = node;
    for (let i = 0; i < amounts.length; i += 1) {
      let smallest = amounts[i] as number;
      if (left !== undefined) smallest = Math.min(smallest, left.least[i] as number);
      if (right !== undefined) smallest = Math.min(smallest, right.least[i] as number);
      least[i] = smallest;
    }
  }
}

/** The smallest of what `exact` says of a node of this tree that could be before `sooner`, the smallest so far. */
export function soonestIn<N extends Branch<N> & { readonly least: readonly number[] }>(
  root: N | undefined,
  momentOf: MomentOf,
  exact: (node: N, sooner: number) => number,
): number {
  let soonest = Infinity;
  const open: N[] = root === undefined ? [] : [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (momentOf(node.least) >= soonest) continue;
    soonest = Math.min(soonest, exact(node, soonest));
    const { left, right } = node;
    const leftFirst = left !== undefined && (right === undefined || momentOf(left.least) <= momentOf(right.least));
    const [sooner, later] = leftFirst ? [left, right] : [right, left];
    if (later !== undefined) open.push(later);
    if (sooner !== undefined) open.push(sooner);
  }
  return soonest;
}
