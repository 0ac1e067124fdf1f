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

/** A piece of what fits: a node with all below it, or the node alone. */
interface Piece<N> {
  readonly node: N;
  readonly whole: boolean;
}

/**
 * Nodes in order, each with a weight, for an exact weighted choice among those that fit.
 *
 * What fits is put together from whole subtrees: one whose largest amounts fit is taken as it is, one whose smallest do
 * not fit is left out. In the order of the amounts of one resource these are O(log n). Sums are made anew from the
 * children, never incremented, so they depend only on what is there.
 */
export class FittingSums<N extends SumNode<N>> extends Treap<N> {
  constructor(
    private readonly order: (x: N, y: N) => number,
    /** What of the node alone fits: its weight, or of what it stands for as much as fits. */
    private readonly shareOf: (node: N, fits: Fits) => number,
  ) {
    super();
  }

  /** The sum of the weights of all that fits. */
  total(fits: Fits): number {
    let total = 0;
    for (const piece of this.pieces(fits)) total += this.weightOf(piece, fits);
    return total;
  }

  /**
   * The node at which the weights of all that fits, added up in order, first exceed `x`, and how far `x` reaches into it.
   * An `x` that rounding has pushed past the last weight gets the last node that has one.
   */
  pick(x: number, fits: Fits): { readonly node: N; readonly rest: number } | undefined {
    let rest = x;
    let last: Piece<N> | undefined;
    for (const piece of this.pieces(fits)) {
      const weight = this.weightOf(piece, fits);
      if (weight === 0) continue;
      if (rest < weight) return within(piece, rest);
      rest -= weight;
      last = piece;
    }
    return last === undefined ? undefined : within(last, Infinity);
  }

  /** Brings up to date a node whose weight or amounts have changed; its place in the order has not. */
  refresh(node: N): void {
    this.remove(node);
    this.insert(node);
  }

  private weightOf({ node, whole }: Piece<N>, fits: Fits): number {
    return whole ? node.sum : this.shareOf(node, fits);
  }

  private *pieces(fits: Fits): Generator<Piece<N>, void, undefined> {
    const above: N[] = [];
    let node = this.root;
    for (;;) {
      for (; node !== undefined && node.sum > 0 && fits(node.least) && !fits(node.most); node = node.left) {
        above.push(node);
      }
      if (node !== undefined && node.sum > 0 && fits(node.least)) yield { node, whole: true };
      const next = above.pop();
      if (next === undefined) return;
      if (next.weight > 0 && fits(next.ownLeast)) yield { node: next, whole: false };
      node = next.right;
    }
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

function within<N extends SumNode<N>>({ node, whole }: Piece<N>, rest: number): { node: N; rest: number } {
  return whole ? inside(node, rest) : { node, rest };
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
