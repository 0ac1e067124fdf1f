import type { RateLimit } from '../model/index.js';
import { Flow, type FlowRecord, type MonoClock } from '../ready/index.js';

/** Stands for every type that has no rate of its own. */
const ANY = '*';
/** Below so many flows of types none is looked at whether it is still needed. */
const IDLE_FLOWS = 256;

/** The flows of types, which outlive the types' tasks as long as they have something to say. */
export class TypeRates {
  /** `undefined` for a type that has none whatever the others have. */
  private readonly limits = new Map<string, RateLimit | undefined>();
  private readonly flows = new Map<string, Flow>();
  private sweepAt = IDLE_FLOWS;

  constructor(
    private readonly clock: MonoClock,
    /** Whether there are tasks of the type. */
    private readonly isUsed: (type: string) => boolean,
  ) {}

  /** The flow of a type; `undefined` where nothing limits its rate. */
  flowOf(type: string): Flow | undefined {
    const limit = this.limitOf(type);
    let flow = this.flows.get(type);
    if (flow !== undefined || limit === undefined) return flow;
    if (this.flows.size >= this.sweepAt) this.sweep();
    flow = new Flow(this.clock);
    flow.setRate(limit);
    this.flows.set(type, flow);
    return flow;
  }

  /** The rate of a type; `undefined` where nothing limits it. */
  limitOf(type: string): RateLimit | undefined {
    return this.limits.has(type) ? this.limits.get(type) : this.limits.get(ANY);
  }

  /** The flow of a type if anything has asked for it, without making one. */
  knownFlow(type: string): Flow | undefined {
    return this.flows.get(type);
  }

  /** The types of which something of their own was said, and `*` if it was of the others. */
  named(): Iterable<string> {
    return this.limits.keys();
  }

  /** Another rate for a type, or for all of which nothing of their own was said. */
  set(type: string, limit: RateLimit | undefined): void {
    this.limits.set(type, limit);
    for (const [each, flow] of this.flows) {
      const rate = this.limitOf(each);
      if (rate !== flow.rate) flow.setRate(rate);
    }
  }

  save(): readonly (readonly [string, RateLimit | null])[] {
    return [...this.limits].map(([type, limit]) => [type, limit ?? null] as const);
  }

  saveFlows(): (readonly [string, FlowRecord])[] {
    return saved(this.flows);
  }

  loadFlows(records: readonly (readonly [string, FlowRecord])[]): void {
    for (const [type, record] of records) this.flowOf(type)?.load(record);
  }

  /** A flow that nothing was taken from for long is the same as a new one; types may be made up without end. */
  private sweep(): void {
    for (const [type, flow] of this.flows) if (flow.isIdle && !this.isUsed(type)) this.flows.delete(type);
    this.sweepAt = Math.max(IDLE_FLOWS, 2 * this.flows.size);
  }
}

/** The flows that have something to say, by name, so that the order in which they came plays no part. */
export function saved(flows: Iterable<readonly [string, Flow | undefined]>): (readonly [string, FlowRecord])[] {
  const records: (readonly [string, FlowRecord])[] = [];
  for (const [name, flow] of flows) {
    const record = flow?.save();
    if (record !== undefined) records.push([name, record]);
  }
  return records.sort(([x], [y]) => (x < y ? -1 : 1));
}
