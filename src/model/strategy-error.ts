import { SchedulerError } from './scheduler-error.js';
import { show } from './show.js';

/** Which function of the user's that decides went wrong, and over what. */
export type StrategyDecision =
  | { readonly by: 'rank'; readonly strategy: string; readonly taskId: string; readonly taskType: string }
  | { readonly by: 'choose'; readonly strategy: string }
  | { readonly by: 'weight'; readonly strategy: string; readonly level: number }
  | { readonly by: 'filter'; readonly channel: string; readonly taskType: string }
  | { readonly by: 'admit' };

/** What came of it: an answer that cannot be used, or what it threw. */
export type StrategyAnswer = { readonly gave: unknown } | { readonly threw: unknown };

/** A strategy, a weight function, a filter or `admit` of the user's gave nothing usable, or threw; what is done instead is documented. */
export class StrategyError extends SchedulerError {
  static {
    StrategyError.prototype.name = 'StrategyError';
  }
  readonly code = 'STRATEGY';
  /** Which function it was. */
  readonly by: StrategyDecision['by'];
  /** The name of the strategy; `undefined` where it was none. */
  readonly strategy: string | undefined;
  /** The task that was to be ranked. */
  readonly taskId: string | undefined;
  /** What the function gave; what it threw is the `cause`. */
  readonly value: unknown;

  constructor(decision: StrategyDecision, answer: StrategyAnswer) {
    const { asked, instead } = told(decision);
    const what = 'threw' in answer ? `threw ${show(answer.threw)}` : `gave ${show(answer.gave)}`;
    super(`${asked}, it ${what}. ${instead}`, 'threw' in answer ? { cause: answer.threw } : {});
    this.by = decision.by;
    this.strategy = 'strategy' in decision ? decision.strategy : undefined;
    this.taskId = decision.by === 'rank' ? decision.taskId : undefined;
    this.value = 'gave' in answer ? answer.gave : undefined;
  }
}

function told(decision: StrategyDecision): { readonly asked: string; readonly instead: string } {
  switch (decision.by) {
    case 'rank':
      return {
        asked: `Strategy ${show(decision.strategy)} was asked for the rank of task ${show(decision.taskId)}`,
        instead: 'The task goes last; give a number for every task.',
      };
    case 'choose':
      return {
        asked: `Strategy ${show(decision.strategy)} was asked to choose`,
        instead: 'The ranks decide instead; give one of the candidates that were shown.',
      };
    case 'weight':
      return {
        asked: `The weight function of ${show(decision.strategy)} was asked about level ${show(decision.level)}`,
        instead: 'The level weighs what it does by default; give a finite number above zero.',
      };
    case 'filter':
      return {
        asked: `The filter of a worker was asked about tasks of type ${show(decision.taskType)} in channel ${show(decision.channel)}`,
        instead: 'The worker does not take them; give true or false.',
      };
    case 'admit':
      return {
        asked: 'The function `admit` was asked whether something may start',
        instead: 'That counts as a yes; give true or false, and no promise of it.',
      };
  }
}
