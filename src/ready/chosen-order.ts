import { compareFifo, type Task } from '../model/index.js';
import { LaneOrder } from './lane-order.js';
import type { FaultReport } from './faults.js';
import type { ClaimView } from './order.js';
import { candidateOf, type Candidate, type Strategy } from './strategy.js';

/** Lanes ordered by rank, with a `choose` of the user's own among their heads. */
export class ChosenOrder extends LaneOrder {
  constructor(
    private readonly strategy: Strategy & Required<Pick<Strategy, 'choose'>>,
    private readonly random: () => number,
    private readonly report: FaultReport,
    ...rest: ConstructorParameters<typeof LaneOrder>
  ) {
    super(...rest);
  }

  override best(claim: ClaimView): Task | undefined {
    const heads = new Map<Candidate, Task>();
    // Sorted, so that a choice by position is the same after a restart.
    for (const task of [...this.heads(claim)].sort(compareFifo)) heads.set(candidateOf(task), task);
    if (heads.size === 0) return undefined;
    // A choice that is none of the heads, or an error, cannot be followed; the slot must not idle for it.
    return this.choice(heads, claim.mono) ?? super.best(claim);
  }

  private choice(heads: ReadonlyMap<Candidate, Task>, now: number): Task | undefined {
    const decision = { by: 'choose', strategy: this.strategy.name } as const;
    try {
      const chosen = this.strategy.choose([...heads.keys()], { now, random: this.random });
      const task = heads.get(chosen);
      if (task === undefined) this.report(decision, { gave: chosen });
      return task;
    } catch (error) {
      this.report(decision, { threw: error });
      return undefined;
    }
  }
}
