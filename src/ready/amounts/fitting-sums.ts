import type { Fits } from './fit-tree.js';
import { Branch, Treap } from './treap.js';

/** Something with a share in a random choice that needs amounts of a few resources. */
export abstract class SumNode<N> extends Branch<N> {
  /** The sum of the weights of the node and all below it. */
  sum = 0;
  /** The smallest and the largest amount of each resource, over the node and all below it that weigh something. */
  readonly least: number[];
  readonly most: number[];

  constructor(priority: number, resources: number) {
    super(priority);
    this.least = new Array<number>(resources).fill(Infinity);
    this.most = new Array<number>(resources).fill(-Infinity);
  }

  abstract readonly weight: number;
  /** The smallest and the largest amounts of whatever the node itself stands for. */
  abstract readonly ownLeast: readonly number[];
  abstract readonly ownMost: readonly number[];
}

/** What of a node alone fits, of which only some may: its weight, or of what it stands for as much as fits. */
type ShareOf<N> = (node: N) => number;

/** What a piece of what fits is: a node with all below it, or the node alone. */
type Extent = 'subtree' | 'node';

/**
 * Nodes in order, each with a weight, for an exact weighted choice among those that fit.
 *
 * What fits is put together from whole subtrees: one whose largest amounts fit is taken as it is, one whose smallest do
 * not fit is left out. In the order of the amounts of one resource these are O(log n). Sums are made anew from the
 * children, never incremented, so they depend only on what is there.
 */
export class FittingSums<N extends SumNode<N>> extends Treap<N> {
  /** The nodes that a look has still to come back to; kept to spare an allocation each time. */
  private readonly above: N[] = [];

  constructor(private readonly order: (x: N, y: N) => number) {
    super();
  }

  /** The sum of the weights of all that fits. */
  total(fits: Fits, shareOf: ShareOf<N>): number {
    let total = 0;
    this.eachPiece(fits, shareOf, (_node, _extent, weight) => {
      total += weight;
      return 'on';
    });
    return total;
  }

  /**
   * The node at which the weights of all that fits, added up in order, first exceed `x`, and how far `x` reaches into it.
   * An `x` that rounding has pushed past the last weight gets the last node that has one.
   */
  pick(x: number, fits: Fits, shareOf: ShareOf<N>): { readonly node: N; readonly rest: number } | undefined {
    let rest = x;
    let picked: N | undefined;
    let pickedExtent = 'node' as Extent;
    const isPicked = this.eachPiece(fits, shareOf, (node, extent, weight) => {
      if (weight === 0) return 'on';
      picked = node;
      pickedExtent = extent;
      if (rest < weight) return 'enough';
      rest -= weight;
      return 'on';
    });
    if (picked === undefined) return undefined;
    if (!isPicked) rest = Infinity;
    return pickedExtent === 'subtree' ? inside(picked, rest) : { node: picked, rest };
  }

  /** Shows what fits, piece by piece in order, until it is enough; whether it was. */
  private eachPiece(
    fits: Fits,
    shareOf: ShareOf<N>,
    show: (node: N, extent: Extent, weight: number) => 'on' | 'enough',
  ): boolean {
    const { above } = this;
    let node = this.root;
    for (;;) {
      for (; node !== undefined && node.sum > 0 && fits(node.least) && !fits(node.most); node = node.left) {
        above.push(node);
      }
      const isWhole = node !== undefined && node.sum > 0 && fits(node.least);
      if (isWhole && show(node as N, 'subtree', (node as N).sum) === 'enough') break;
      const next = above.pop();
      if (next === undefined) return false;
      if (next.weight > 0 && fits(next.ownLeast) && show(next, 'node', shareOf(next)) === 'enough') break;
      node = next.right;
    }
    above.length = 0;
    return true;
  }

  protected override compare(x: N, y: N): number {
    return this.order(x, y);
  }

  protected override gather(node: N): void {
    const { left, right, weight } = node;
    node.sum = (left?.sum ?? 0) + weight + (right?.sum ?? 0);
    for (let i = 0; i < node.least.length; i += 1) {
      // What weighs nothing has no part in the choice, whatever it needs.
      const own = weight > 0 ? (node.ownLeast[i] as number) : Infinity;
      const ownMost = weight > 0 ? (node.ownMost[i] as number) : -Infinity;
      node.least[i] = Math.min(own, left?.least[i] ?? Infinity, right?.least[i] ?? Infinity);
      node.most[i] = Math.max(ownMost, left?.most[i] ?? -Infinity, right?.most[i] ?? -Infinity);
    }
  }
}

/** Goes down to the node, of this one and all below it, in whose weight `x` falls. */
function inside<N extends SumNode<N>>(top: N, x: number): { node: N; rest: number } {
  let node = top;
  let rest = x;
  for (;;) {
    const { left, right, weight } = node;
    const leftSum = left?.sum ?? 0;
    if (left !== undefined && rest < leftSum) {
      node = left;
      continue;
    }
    rest -= leftSum;
    if (rest < weight) return { node, rest };
    rest -= weight;
    if (right !== undefined && right.sum > 0) {
      node = right;
    } else if (weight > 0 || left === undefined) {
      return { node, rest };
    } else {
      node = left;
      rest = Infinity;
    }
  }
}
