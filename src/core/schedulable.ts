import { UnschedulableError, type TaskSpec } from '../model/index.js';
import type { State } from './state.js';
import { offers } from './worker.js';

/** Refuses what could never start: a need beyond the capacity, or a capability that nobody offers or will offer. */
export function checkSchedulable(state: State, taskId: string, spec: TaskSpec): void {
  state.resources.checkNeeds(taskId, spec);
  if (spec.capabilities.length === 0 || state.options.workersMayCome) return;
  const workers = [...state.workers.values()].map((worker) => worker.spec.capabilities);
  const offered = (offer: (typeof workers)[number], [name, wanted]: TaskSpec['capabilities'][number]): boolean =>
    offers(offer.get(name), wanted);
  if (workers.some((offer) => spec.capabilities.every((asked) => offered(offer, asked)))) return;
  const missing = spec.capabilities.filter((asked) => !workers.some((offer) => offered(offer, asked)));
  // Each may be offered by some worker, but all of them by none.
  throw new UnschedulableError({ taskId, capabilities: missing.length > 0 ? missing : spec.capabilities });
}
