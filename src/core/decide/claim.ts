import { InvalidConfigError, type Attempt, type Task } from '../../model/index.js';
import { started } from '../execution.js';
import { hasSlot, nextWithRoom } from '../making-way.js';
import { resumed } from '../suspension.js';
import { occurrenceStarted } from '../recur.js';
import { passOver, passedOverBy } from '../reservation.js';
import type { State } from '../state.js';
import type { Worker } from '../worker.js';
import { passWall } from './tick.js';

/** The worker that a claim is for. */
export function workerFor(state: State, id: string): Worker {
  const worker = state.workers.get(id);
  if (worker !== undefined) return worker;
  throw new InvalidConfigError({ field: 'worker', value: id, expected: 'the id of a worker that was attached' });
}

/** Grants the worker the best task that could start now, or go on there after a wait; `undefined` when there is none, or no slot. */
export function claim(state: State, worker: Worker): Attempt | undefined {
  if (worker.running >= worker.spec.slots) return undefined;
  // A claim may come before the tick: it must not start what has expired, nor miss what has become due.
  if (state.wallLine.next() <= state.wall) passWall(state);
  state.path.refresh();
  const task = nextFor(state, worker);
  return task === undefined ? undefined : grant(state, worker, task);
}

/** Whoever others have made way for goes first; what is left is for the best. */
function nextFor(state: State, worker: Worker): Task | undefined {
  const { index, preemption } = state;
  if (preemption.rooms.size > 0) {
    const [task] = nextWithRoom(state, [worker]) ?? [];
    if (task !== undefined || !hasSlot(state, worker)) return task;
  }
  return index.best(worker.view ?? index.main, state.mono, worker.matches);
}

/** Starts the task for the worker. */
export function grant(state: State, worker: Worker, task: Task): Attempt {
  if (task.attempt !== undefined) return resumed(state, task.attempt);
  const passed = task.spec.needs.length === 0 ? [] : passedOverBy(state, task);
  const attempt = started(state, task, worker, task.spec.leaseMs ?? worker.spec.leaseMs);
  if (passed.length > 0) passOver(state, passed, task);
  if (task.extra?.series !== undefined) occurrenceStarted(state, task);
  return attempt;
}

/** Lets the best of the worker's attempts that wait to go on do so, and starts nothing; `undefined` when there is none. */
export function goOn(state: State, worker: Worker): Attempt | undefined {
  if (state.suspended.size === 0 || worker.running >= worker.spec.slots) return undefined;
  state.path.refresh();
  const task = nextToGoOn(state, worker);
  return task?.attempt === undefined ? undefined : resumed(state, task.attempt);
}

function nextToGoOn(state: State, worker: Worker): Task | undefined {
  const { index, preemption } = state;
  if (preemption.rooms.size > 0) {
    const [task] = nextWithRoom(state, [worker], 'returning') ?? [];
    if (task !== undefined || !hasSlot(state, worker)) return task;
  }
  return index.best(worker.view ?? index.main, state.mono, (shape) => shape.worker === worker.id);
}

/** How many tasks somebody asks for at the most. */
export function checkCount(count: number): void {
  if (count === Infinity || (Number.isSafeInteger(count) && count > 0)) return;
  const expected = 'a whole number of at least 1, or Infinity';
  throw new InvalidConfigError({ field: 'count', value: count, expected });
}

/** Grants up to so many tasks. */
export function claimBatch(state: State, worker: Worker, count: number): Attempt[] {
  checkCount(count);
  const attempts: Attempt[] = [];
  while (attempts.length < count) {
    const attempt = claim(state, worker);
    if (attempt === undefined) break;
    attempts.push(attempt);
  }
  return attempts;
}
