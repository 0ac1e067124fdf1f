import type { Core, Explanation } from '../core/index.js';
import type { Arrivals } from './arrivals.js';

/** What explaining looks at. */
export interface ExplainingHost {
  readonly core: Core;
  readonly arrivals: Arrivals;
  readonly isPaused: boolean;
  tick(): void;
  dispatchSoon(): void;
}

/** Why a task does not run, with what only the runtime knows: who waits to be let in, and that nothing starts. */
export function explainTask(id: string, host: ExplainingHost): Explanation {
  const { core, arrivals, isPaused } = host;
  host.tick();
  host.dispatchSoon();
  const outside = core.state.table.byId(id) === undefined ? arrivals.entrance?.explain(id) : undefined;
  const explanation = outside ?? core.explain(id);
  if (!isPaused || explanation.kind !== 'ready') return explanation;
  return { ...explanation, obstacles: [{ kind: 'paused' }, ...explanation.obstacles] };
}
