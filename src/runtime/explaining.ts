import type { Core, Explanation, Obstacle } from '../core/index.js';
import type { Arrivals } from './arrivals.js';
import type { Clock } from './clock.js';

/** What explaining looks at. */
export interface ExplainingHost {
  readonly core: Core;
  readonly arrivals: Arrivals;
  readonly isPaused: boolean;
  readonly clock: Clock;
  readonly admission: { readonly askAgainAt: number } | undefined;
  tick(): void;
  dispatchSoon(): void;
}

/** Why a task does not run, with what only the runtime knows: who waits to be let in, and that nothing starts. */
export function explainTask(id: string, host: ExplainingHost): Explanation {
  const { core, arrivals } = host;
  host.tick();
  host.dispatchSoon();
  const outside = core.state.table.byId(id) === undefined ? arrivals.entrance?.explain(id) : undefined;
  const explanation = outside ?? core.explain(id);
  // What has begun goes on also while nothing starts.
  if (explanation.kind !== 'ready' || explanation.attempt !== undefined) return explanation;
  return { ...explanation, obstacles: [...holdingAllBack(host), ...explanation.obstacles] };
}

function holdingAllBack({ isPaused, admission, clock }: ExplainingHost): Obstacle[] {
  if (isPaused) return [{ kind: 'paused' }];
  const { askAgainAt } = admission ?? { askAgainAt: Infinity };
  if (askAgainAt === Infinity) return [];
  return [{ kind: 'admit', remainingMs: Math.max(0, askAgainAt - clock.now().mono) }];
}
