import { StrategyError, type StrategyAnswer, type StrategyDecision } from '../model/index.js';

/** So many kinds of faults are told of for each function. */
const MOST_KINDS = 16;

/** Is told what a function of the user's that decides has done wrong. */
export type FaultReport = (decision: StrategyDecision, answer: StrategyAnswer) => void;

/** Faults in what the user gave to decide by: each kind is told of once, as such functions are called for every task. */
export class Faults {
  private readonly known = new WeakMap<object, Set<string>>();

  constructor(private readonly told: StrategyError[]) {}

  /** For what this one, a strategy or a filter, does wrong. */
  of(decider: object): FaultReport {
    return (decision, answer) => {
      const kinds = this.known.get(decider) ?? new Set();
      this.known.set(decider, kinds);
      const kind = 'taskType' in decision ? `${decision.by} ${decision.taskType}` : decision.by;
      if (kinds.has(kind) || kinds.size >= MOST_KINDS) return;
      kinds.add(kind);
      this.told.push(new StrategyError(decision, answer));
    };
  }
}
