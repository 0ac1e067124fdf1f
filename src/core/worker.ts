import type { CapabilityValue } from '../model/index.js';
import type { Place, PlaceFilter, Shape, StrategyChoice, View } from '../ready/index.js';

/** What a worker offers: a value, or several of which any will do. */
export type Offer = CapabilityValue | readonly CapabilityValue[];

/** What a worker is like, checked. */
export interface WorkerSpec {
  readonly id: string;
  readonly slots: number;
  readonly capabilities: ReadonlyMap<string, Offer>;
  /** `undefined`: the scheduler's own. */
  readonly strategy: StrategyChoice | undefined;
  readonly filter: PlaceFilter | undefined;
  /** Whether it leaves tasks alone that ask for no capability. */
  readonly exclusive?: boolean | undefined;
  /** `Infinity`: attempts have no lease, because they cannot be lost without the whole process. */
  readonly leaseMs: number;
  /** Executions after the first, for tasks with no policy of their own. */
  readonly retries: number;
}

/** Who executes. */
export class Worker {
  running = 0;
  /** Which of all starts was its latest; 0 for none. Whoever has the smallest is next where workers take turns. */
  lastStart = 0;
  private readonly matching: (boolean | undefined)[] = [];
  private readonly shapes: Shape[] = [];

  constructor(
    readonly spec: WorkerSpec,
    /** `undefined`: it looks through the scheduler's own view. */
    public view: View | undefined,
  ) {}

  get id(): string {
    return this.spec.id;
  }

  /** Whether the worker would take tasks of this place. */
  takes(place: Place): boolean {
    return this.matches(place.shape) && this.view?.takes(place) !== false;
  }

  /** Whether the worker offers all that the shape asks for. Remembered, as shapes are few and claims many. */
  readonly matches = (shape: Shape): boolean => {
    if (shape.worker !== undefined) return shape.worker === this.spec.id;
    if (shape.capabilities.length === 0) return this.spec.exclusive !== true;
    // A shape's number may be used again for another shape.
    if (this.shapes[shape.index] === shape) return this.matching[shape.index] === true;
    const matches = shape.capabilities.every(([name, wanted]) => offers(this.spec.capabilities.get(name), wanted));
    this.shapes[shape.index] = shape;
    this.matching[shape.index] = matches;
    return matches;
  };
}

/** Whether an offer meets what a task asks for. */
export function offers(offered: Offer | undefined, wanted: CapabilityValue): boolean {
  return Array.isArray(offered) ? offered.includes(wanted) : offered === wanted;
}
