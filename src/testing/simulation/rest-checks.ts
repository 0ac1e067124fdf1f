import { isFinal } from '../../model/index.js';
import { LONGEST_TIMER_MS } from '../../runtime/clock.js';
import type { Master } from './master.js';
import type { Surroundings } from './surroundings.js';

/** What must hold of a process between two steps, when nothing is under way but what waits for time or for the disk. */
export function checkAtRest(world: Surroundings, master: Master): void {
  const { evidence } = world;
  if (!master.isAlive) return;
  try {
    master.inner.core.check();
    evidence.holds('G9', true, String);
  } catch (error) {
    evidence.holds('G9', false, () => String(error));
  }
  if (!master.isReady) return;
  checkAlarm(world, master);
  checkWorkConserving(world, master);
  checkTold(world, master);
}

/** Whatever is due later, a timer is set that rings by then. */
function checkAlarm({ evidence }: Surroundings, { inner, clock }: Master): void {
  const { wall, mono } = inner.core.nextWakeAt();
  const now = inner.now();
  const waitMs = Math.max(0, Math.min(wall - now.wall, mono - now.mono));
  if (waitMs > LONGEST_TIMER_MS) return;
  const what = (): string => `something is due in ${waitMs} ms, and no timer rings by then`;
  evidence.holds('G9', clock.nextInMs <= Math.ceil(waitMs), what);
}

/** G10: no slot of this process is free while something ready fits. */
function checkWorkConserving({ evidence }: Surroundings, { inner, scheduler }: Master): void {
  const { core, keeping } = inner;
  const local = core.state.workers.get('local');
  if (scheduler.paused || keeping?.letsIn !== true) return;
  // A slot that others make way at for a task is kept for that one.
  if (local === undefined || local.running + core.state.preemption.rooms.slotsKept('local') >= local.spec.slots) return;
  for (const task of core.state.table.all()) {
    if (task.state !== 'ready' || task.attempt !== undefined || task.spec.capabilities.length > 0) continue;
    const explained = core.explain(task.id);
    const couldStart = explained.kind === 'ready' && explained.obstacles.length === 0;
    evidence.holds('G10', !couldStart, () => `"${task.id}" could start, and nobody starts it`, task.id);
  }
}

/** G8: where everything is kept, the facts have told all that the core knows. */
function checkTold({ evidence, witness }: Surroundings, { inner }: Master): void {
  if (inner.keeping?.isAhead !== false) return;
  for (const { id, state } of inner.core.state.table.all()) {
    const told = witness.tasks.get(id);
    const what = (): string => `"${id}" is ${state}, and by the journal ${String(told?.state)}`;
    evidence.holds('G8', told?.state === state, what, id);
    if (isFinal(state)) continue;
    const attempts = inner.core.state.table.byId(id)?.attempts;
    evidence.holds('G8', told?.attempts === attempts, () => `"${id}" has had ${String(attempts)} attempts`, id);
  }
}
