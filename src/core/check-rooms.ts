import type { Attempt, Task } from '../model/index.js';
import { show } from '../model/show.js';
import type { Pool } from '../ready/index.js';
import { heldBy } from './attempts.js';
import { broken } from './broken.js';
import { Holdings } from './candidates.js';
import { canBeMet, isServed } from './making-way.js';
import type { State } from './state.js';

const DRIFT = 1e-6;

/** C10: throws unless what is kept is kept for somebody, and everybody who may or will make way is known. */
export function checkRooms(state: State): void {
  checkKept(state);
  const running = [...state.table.all()].flatMap(({ attempt, spec }) =>
    attempt !== undefined && spec.preemptible && attempt.wait === undefined ? [attempt] : [],
  );
  checkCandidates(state, running);
  checkLeaving(state, running);
  checkHungry(state);
}

function checkKept(state: State): void {
  const { rooms } = state.preemption;
  const kept = new Map<Pool, number>();
  const slots = new Map<string, number>();
  for (const [task, { asks, workerId, until }] of rooms.all()) {
    if (task.state !== 'ready') broken(state, 'C10', 'room is kept for it, and it does not wait for that', task);
    for (const { pool, amount } of asks) kept.set(pool, (kept.get(pool) ?? 0) + amount);
    if (workerId !== undefined) slots.set(workerId, (slots.get(workerId) ?? 0) + 1);
    else checkReservation(state, task);
    const due = state.monoLine.pending().some(({ kind, subject }) => kind === 'grace' && subject === task);
    if (until !== Infinity && !due) broken(state, 'G9', 'nothing will end what is kept for it', task);
  }
  const limits = [...state.places.allChannels()].map((channel) => channel.limit);
  for (const pool of [...state.resources.allPools(), ...limits]) {
    const sum = kept.get(pool) ?? 0;
    if (Math.abs(pool.kept - sum) > DRIFT) broken(state, 'C10', `${show(pool.name)} keeps ${pool.kept}, not ${sum}`);
  }
  for (const { id } of state.workers.values()) {
    const sum = slots.get(id) ?? 0;
    if (rooms.slotsKept(id) !== sum) broken(state, 'C10', `worker ${show(id)} keeps other slots than ${sum}`);
  }
}

/** C7: there is one, and what runs can meet it. */
function checkReservation(state: State, task: Task): void {
  if (state.preemption.rooms.reserved !== task) broken(state, 'C7', 'it has a second reservation', task);
  if (!canBeMet(state, task)) broken(state, 'C7', 'its reservation may never be met', task);
  if (!isServed(state, task)) broken(state, 'C7', 'nobody would take it, and there is a reservation for it', task);
}

function checkCandidates(state: State, running: readonly Attempt[]): void {
  const { candidates, settings } = state.preemption;
  const able = running.filter(
    ({ stopBy, task }) => stopBy === undefined && (task.extra?.preemptions ?? 0) < settings.maxPerTask,
  );
  for (const attempt of able) if (!candidates.has(attempt)) broken(state, 'C10', 'it cannot be asked', attempt.task);
  if (candidates.size !== able.length) broken(state, 'C10', `${able.length} may make way, counted ${candidates.size}`);
  const order = [...candidates.below(-Infinity, Infinity)];
  const sorted = [...able].sort(
    (x, y) => y.task.urgency - x.task.urgency || y.runsSince - x.runsSince || y.task.sequence - x.task.sequence,
  );
  if (sorted.some((attempt, i) => attempt !== order[i]))
    broken(state, 'C10', 'those who may make way are out of order');
  compareHoldings(state, able, (what) => candidates.heldBelow(-Infinity, what));
}

function checkLeaving(state: State, running: readonly Attempt[]): void {
  const { leaving, freed } = state.preemption;
  for (const attempt of leaving) {
    if (!running.includes(attempt)) broken(state, 'C10', 'it makes way and does not run', attempt.task);
  }
  for (const attempt of running) {
    const counts = attempt.stopBy !== undefined && attempt.stopBy >= state.mono;
    if (counts && !leaving.has(attempt)) broken(state, 'C10', 'nobody counts on it to make way', attempt.task);
  }
  compareHoldings(state, [...leaving], (what) => freed.of(what));
}

function compareHoldings(state: State, attempts: readonly Attempt[], counted: (what: Pool | string) => number): void {
  const holdings = new Holdings((attempt) => heldBy(state, attempt));
  for (const attempt of attempts) holdings.add(attempt);
  for (const what of [...state.resources.allPools(), ...state.workers.keys()]) {
    const sum = holdings.of(what);
    if (Math.abs(counted(what) - sum) > DRIFT) broken(state, 'C10', `${sum} would be freed, not ${counted(what)}`);
  }
}

function checkHungry(state: State): void {
  const { waiting, rooms } = state.preemption;
  if (waiting === undefined) return;
  const known = new Set(waiting.all());
  for (const task of state.index.all()) {
    if (!rooms.isMadeFor(task) && !known.delete(task)) broken(state, 'C10', 'nobody would make way for it', task);
  }
  for (const task of known) broken(state, 'C10', 'somebody would make way for it although it does not wait', task);
}
