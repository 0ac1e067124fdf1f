import type { Task } from '../../model/index.js';
import type { Front } from '../front.js';
import { MixedRanks, MixedTurns, type MixedHost, type MixedShape } from './mixed-shape.js';
import type { ClaimView } from '../order.js';
import type { Shape } from '../place.js';
import type { Pool } from '../pool.js';

/** The shapes of one order whose tasks need different amounts. */
export class MixedShapes {
  private readonly shapes = new Map<Shape, MixedShape>();

  constructor(private readonly host: MixedHost) {}

  get size(): number {
    return this.shapes.size;
  }

  /** The shape's tasks, with a place for them made on first need. */
  at(shape: Shape): MixedShape {
    let mixed = this.shapes.get(shape);
    if (mixed === undefined) {
      const { grouping } = this.host.plan;
      mixed = grouping === 'level' ? new MixedTurns(shape, this.host) : new MixedRanks(shape, this.host);
      this.shapes.set(shape, mixed);
    }
    return mixed;
  }

  known(shape: Shape): MixedShape | undefined {
    return this.shapes.get(shape);
  }

  drop(shape: Shape): void {
    this.shapes.delete(shape);
  }

  all(): Iterable<MixedShape> {
    return this.shapes.values();
  }

  /** The best that each shape has to offer the claim. */
  *fronts(claim: ClaimView): Iterable<Front> {
    for (const [shape, mixed] of this.shapes) {
      const front = isEligible(shape, claim) ? mixed.best(claim.window, shape.fits) : undefined;
      if (front !== undefined) yield front;
    }
  }

  /** The best of each shape, where nothing but its needs keeps it from starting and it lacks some of this pool. */
  *frontsLacking(claim: ClaimView, pool: Pool): Iterable<Front> {
    for (const [shape, mixed] of this.shapes) {
      const front = shape.isOpenBut(pool) && claim.matches(shape) ? mixed.best(claim.window, anything) : undefined;
      if (front !== undefined && shape.lacks(front.task as Task, pool)) yield front;
    }
  }

  /** The best of every open lane. */
  *heads(claim: ClaimView): Iterable<Task> {
    for (const [shape, mixed] of this.shapes) if (isEligible(shape, claim)) yield* mixed.heads();
  }

  /** When a task could start that waits for tokens alone. */
  soonest(claim: ClaimView): number {
    let soonest = Infinity;
    for (const [shape, mixed] of this.shapes) {
      const moment = claim.matches(shape) ? mixed.soonest() : Infinity;
      if (moment > claim.mono) soonest = Math.min(soonest, moment);
    }
    return soonest;
  }

  smallestPass(level: number, isServed: (shape: Shape) => boolean): number | undefined {
    let smallest: number | undefined;
    for (const [shape, mixed] of this.shapes) {
      const pass = shape.isOpen() && isServed(shape) ? mixed.smallestPass(level) : undefined;
      if (pass !== undefined && (smallest === undefined || pass < smallest)) smallest = pass;
    }
    return smallest;
  }
}

/** As if there were enough of everything. */
const anything = (): boolean => true;

function isEligible(shape: Shape, claim: ClaimView): boolean {
  return shape.isOpen() && claim.matches(shape);
}
