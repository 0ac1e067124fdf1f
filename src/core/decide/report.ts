import { InvalidConfigError, refuseConfig, type Attempt } from '../../model/index.js';
import { costReported, resourceClosed } from '../execution.js';
import type { State } from '../state.js';
import { stale } from './settle.js';

/** What a running attempt has learnt of a resource: the true cost of its use, or that it should be left alone for a while. */
export type Feedback = { readonly cost: number } | { readonly retryAfterMs: number };

/** Takes in what an attempt has learnt; one that no longer counts is refused. */
export function report(state: State, attempt: Attempt, resource: string, feedback: Feedback): void {
  if (attempt.over || attempt.abandoned) throw stale(attempt.task.id, attempt.number);
  const pool = state.resources.pools.get(resource);
  if (pool === undefined) {
    throw new InvalidConfigError({ field: 'resource', value: resource, expected: 'the name of a resource' });
  }
  if ('cost' in feedback) {
    const { cost } = feedback;
    if (!isAmount(cost)) refuseConfig('cost', cost, 'a finite number of at least 0');
    if (pool.flow?.rate === undefined)
      refuseConfig('resource', resource, 'a resource with a rate, as others have no cost');
    costReported(state, attempt, resource, cost);
    return;
  }
  const { retryAfterMs } = feedback;
  if (!isAmount(retryAfterMs)) refuseConfig('retryAfter', retryAfterMs, 'a finite duration of at least 0');
  resourceClosed(state, attempt, resource, state.mono + retryAfterMs);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < Infinity;
}
