import { isFinal, keptNeeds, yieldedNeeds, type Need, type Task } from '../model/index.js';
import { show } from '../model/show.js';
import { broken } from './broken.js';
import { findDeadlock } from './deadlock.js';
import type { State } from './state.js';

/** C12: throws unless every attempt that waits has something to wait for, keeps what it should, and can go on some day. */
export function checkWaits(state: State): void {
  const waiting: Task[] = [];
  for (const task of state.table.all()) if (task.attempt?.wait !== undefined) waiting.push(task);
  for (const task of waiting) checkWait(state, task);
  if (waiting.length !== state.suspended.size) {
    broken(state, 'index', `${waiting.length} attempts wait, counted ${state.suspended.size}`);
  }
  checkKept(state, waiting);
  if (waiting.length === 0) return;
  const deadlock = findDeadlock(state, waiting);
  if (deadlock !== undefined) {
    const { task } = deadlock.lastInTheWay();
    broken(state, 'G9', `nobody can go on: ${deadlock.circle(task).path.map(show).join(' → ')}`, task);
  }
  checkLent(state, waiting);
}

function checkWait(state: State, task: Task): void {
  const { attempt } = task;
  if (attempt === undefined || !state.suspended.has(attempt)) broken(state, 'index', 'its wait is not known', task);
  if (task.state !== 'waiting' && task.state !== 'ready') {
    broken(state, 'G9', 'its attempt waits, but neither for a task nor to go on', task);
  }
}

function checkKept(state: State, waiting: readonly Task[]): void {
  for (const resource of state.resources.pools.keys()) {
    const keepers = waiting.filter((task) => amountOf(keptNeeds(task.spec), resource) > 0);
    const units = keepers.reduce((sum, task) => sum + amountOf(keptNeeds(task.spec), resource), 0);
    const counted = state.lending.unitsKept(resource);
    if (Math.abs(units - counted) > 1e-6) {
      broken(state, 'index', `waiting attempts keep ${units} of ${show(resource)}, counted ${counted}`);
    }
    const known = new Set(state.lending.keepersOf(resource));
    const missing = keepers.find((task) => !known.has(task));
    if (missing !== undefined) broken(state, 'index', `it keeps ${show(resource)} and nobody knows`, missing);
  }
}

/** Works all levels out from nothing: one that only upholds itself, in a circle, would pass any look at its neighbours. */
function checkLent(state: State, waiting: readonly Task[]): void {
  const levels = new Map<Task, number>();
  for (const task of state.table.all()) if (!isFinal(task.state)) levels.set(task, task.level);
  const levelOf = (task: Task): number => levels.get(task) as number;
  for (let changed = true; changed;) {
    changed = false;
    const lower = (task: Task, level: number): void => {
      if (level >= levelOf(task)) return;
      levels.set(task, level);
      changed = true;
    };
    for (const task of levels.keys()) {
      state.dependencies.eachUnfinishedDependency(task, (dependency) => {
        lower(dependency, levelOf(task));
      });
    }
    for (const task of waiting) {
      for (const { resource } of keptNeeds(task.spec)) lower(task, lowestLacking(state, resource, levels));
    }
  }
  for (const [task, level] of levels) {
    if (task.urgency !== level) broken(state, 'C12', `the effective level should be ${level}`, task);
  }
}

function lowestLacking(state: State, resource: string, levels: ReadonlyMap<Task, number>): number {
  const pool = state.resources.pools.get(resource);
  let lowest = Infinity;
  for (const [task, level] of levels) {
    if (task.state !== 'ready' || level >= lowest) continue;
    const amount = amountOf(task.attempt === undefined ? task.spec.needs : yieldedNeeds(task.spec), resource);
    if (amount > 0 && pool?.hasUnits(amount) === false) lowest = level;
  }
  return lowest;
}

function amountOf(needs: readonly Need[], resource: string): number {
  return needs.find((need) => need.resource === resource)?.amount ?? 0;
}
