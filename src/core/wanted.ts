import { FitNode, FitTree, scramble } from '../ready/index.js';

/** So many ready tasks of one level want so much of a resource. */
class Want extends FitNode<Want> {
  tasks = 0;

  constructor(
    number: number,
    readonly level: number,
    readonly amount: number,
  ) {
    // The tree knows the smallest amounts below a node; whoever is to lack something is looked for by the largest.
    super(scramble(number), [-amount]);
  }
}

/**
 * How much of one resource ready tasks want, by level. The most urgent level at which somebody wants more than there is
 * is found in O(log n) of the levels and amounts in use, and however many tasks want the same costs nothing.
 */
export class Wanted {
  private readonly wants = new Map<number, Map<number, Want>>();
  private readonly tree = new FitTree<Want>((x, y) => x.level - y.level || x.amount - y.amount);
  private made = 0;

  add(level: number, amount: number): void {
    let amounts = this.wants.get(level);
    if (amounts === undefined) {
      amounts = new Map();
      this.wants.set(level, amounts);
    }
    let want = amounts.get(amount);
    if (want === undefined) {
      want = new Want((this.made += 1), level, amount);
      amounts.set(amount, want);
      this.tree.insert(want);
    }
    want.tasks += 1;
  }

  remove(level: number, amount: number): void {
    const amounts = this.wants.get(level);
    const want = amounts?.get(amount);
    if (amounts === undefined || want === undefined) return;
    want.tasks -= 1;
    if (want.tasks > 0) return;
    this.tree.remove(want);
    amounts.delete(amount);
    if (amounts.size === 0) this.wants.delete(level);
  }

  /** The most urgent level at which somebody wants an amount that is not to be had; whoever lacks it lacks more too. */
  lowest(isLacked: (amount: number) => boolean): number {
    return this.tree.firstFitting(([negated]) => isLacked(-(negated as number)))?.level ?? Infinity;
  }
}
