import { extraOf, type Task } from '../model/index.js';
import { canBeMet, isServed, roomKept } from './making-way.js';
import type { State } from './state.js';

/*
 * Tasks that need much could wait for ever while smaller ones take what becomes free. Whenever a task starts, the
 * best-ranked of those that lack a resource it takes has been passed over; after a number of times, or once it has waited
 * for `maxWait`, what it needs is kept for it. There is one such reservation at a time, and while there is one nobody is
 * counted. What is kept lies idle until enough of it has come together: that is the price of the bound.
 */

/** The start of a task that takes resources passes over whoever ranks best among those that lack one of them. */
export function passOver(state: State, passed: readonly Task[], by: Task): void {
  for (const task of passed) {
    if ((task.extra?.bypasses ?? 0) < state.options.maxBypasses) bypassed(state, task, by.id);
    if (state.preemption.rooms.reserved !== undefined || !isDue(state, task)) continue;
    if (canBeMet(state, task) && isServed(state, task)) roomKept(state, task, undefined, Infinity);
  }
}

/** For each resource that the task takes, the best-ranked of those that lack it; where chance decides, the first in. */
export function passedOverBy(state: State, task: Task): readonly Task[] {
  if (task.spec.needs.length === 0 || state.preemption.rooms.reserved !== undefined) return [];
  const passed = new Set<Task>();
  for (const { resource } of task.spec.needs) {
    const pool = state.resources.pools.get(resource);
    if (pool === undefined || !state.lending.mayBeLacked(resource)) continue;
    const found = state.index.foremost(state.ranked.at(state.mono), state.mono, pool);
    if (found !== undefined && state.preemption.rooms.of(found) === undefined) passed.add(found);
  }
  return [...passed];
}

/** Another task has started that took what this one lacks. */
export function bypassed(state: State, task: Task, by: string): void {
  state.table.changing(task);
  extraOf(task).bypasses += 1;
  state.emit?.({ kind: 'task.bypassed', task: task.id, by, wall: state.wall, mono: state.mono });
}

function isDue(state: State, { extra, ready }: Task): boolean {
  if ((extra?.bypasses ?? 0) >= state.options.maxBypasses) return true;
  return state.mono - ready >= state.index.aging.maxWaitMs;
}
