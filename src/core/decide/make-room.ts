import { DroppedError, SaturatedError, type Task, type TaskSpec } from '../../model/index.js';
import { advance } from '../advance.js';
import { etaOf } from '../eta.js';
import { compareUrgency, type PressureSettings, type Standpoint } from '../pressure.js';
import { finite } from '../resources.js';
import type { State } from '../state.js';
import { cancelled } from '../transitions.js';

/*
 * Keeping to the bound on pending tasks. What counts is every unfinished task that does not run. What is asked to keep
 * to it is what comes from outside: children of running tasks, occurrences of series, and whatever was in already and
 * comes back (retries, released claims, tasks run again by hand) are let in above it.
 */

const NOBODY: ReadonlySet<Task> = new Set();

/** Whom a submission belongs to: a child of a running task is let in above the bound. */
export type Origin = 'outside' | 'child';

/**
 * How many may be pending once these have come in; refused unless there is room for them, or somebody else would be
 * dropped first. Those that leave at the same time count no more. Nobody makes more room than for themselves: what was let in above the bound is not worked off.
 */
export function checkRoom(
  state: State,
  specs: readonly TaskSpec[],
  origin: Origin,
  leaving: ReadonlySet<Task> = NOBODY,
): number {
  const { pressure } = state;
  const unstarted = state.unstarted - leaving.size;
  const { maxPending, whenFull } = pressure;
  const adding = specs.length;
  // Children may have filled more than there is, and who adds nothing asks for no room.
  if (origin === 'child' || adding === 0 || unstarted + adding <= maxPending) return Infinity;
  const refusal = { pending: unstarted, maxPending, adding };
  if (adding > maxPending || whenFull === 'wait' || whenFull === 'reject') throw new SaturatedError(refusal);
  const room = Math.max(maxPending, unstarted);
  if (whenFull === 'drop-lowest') {
    const last = pressure.nth(unstarted + adding - room, leaving) as Standpoint;
    if (specs.some((spec, i) => compareUrgency(standpointOf(state, spec, i), last) > 0)) {
      throw new SaturatedError(refusal);
    }
  }
  return room;
}

/** Where a newcomer stands by what it says itself: whom it lends its urgency to is known only once it is in. */
function standpointOf(state: State, spec: TaskSpec, position: number): Standpoint {
  const due = Math.max(etaOf(state, spec), state.wall) - state.origin.wall;
  return { level: spec.level, deadline: spec.deadline, due, sequence: state.table.next + position };
}

/** Drops pending tasks until no more than so many are left. */
export function dropBeyond(state: State, room: number): void {
  const { pressure } = state;
  const policy = pressure.whenFull === 'drop-oldest' ? 'drop-oldest' : 'drop-lowest';
  while (state.unstarted > room) {
    const task = pressure.next();
    if (task === undefined) return;
    cancelled(state, task, DroppedError.record({ taskId: task.id, policy }));
    advance(state);
  }
}

/** Tells, once each, that the bound is reached and that the low mark is. Comes at the end of every command. */
export function followPressure(state: State): void {
  const { pressure, unstarted: pending } = state;
  const { saturated, maxPending, lowWater } = pressure;
  if (saturated ? pending > lowWater : pending < maxPending) return;
  setSaturated(state, saturated ? 'relieved' : 'saturated');
}

/** The number of pending tasks has reached the bound, or has fallen to the low mark since. */
export function setSaturated(state: State, now: 'saturated' | 'relieved'): void {
  state.pressure.saturated = now === 'saturated';
  const { wall, mono, unstarted: pending, pressure } = state;
  state.emit?.({ kind: `pending.${now}`, pending, maxPending: finite(pressure.maxPending), wall, mono });
}

/** Sets the bound. What is above it stays: nobody is dropped before the next submission. */
export function setPressure(state: State, settings: PressureSettings): void {
  state.pressure.set(settings, state.table.all());
  const { maxPending, whenFull, lowWater } = settings;
  const setting = { name: 'pressure', maxPending: finite(maxPending), whenFull, lowWater: finite(lowWater) } as const;
  state.emit?.({ kind: 'configured', setting, wall: state.wall, mono: state.mono });
}
