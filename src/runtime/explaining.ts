import type { Core, Explanation } from '../core/index.js';
import type { Entrance } from './entrance.js';

/** Why a task does not run, with what only the runtime knows: who waits to be let in, and that nothing starts. */
export function explainTask(
  id: string,
  core: Core,
  entrance: Entrance | undefined,
  starts: 'running' | 'paused',
): Explanation {
  const outside = core.state.table.byId(id) === undefined ? entrance?.explain(id) : undefined;
  const explanation = outside ?? core.explain(id);
  if (starts === 'running' || explanation.kind !== 'ready') return explanation;
  return { ...explanation, obstacles: [{ kind: 'paused' }, ...explanation.obstacles] };
}
