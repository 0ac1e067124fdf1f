import { InvalidConfigError, parseChoice, refuseConfig, type Attempt, type Fact } from '../../model/index.js';
import type { Shape } from '../../ready/index.js';
import { hasSlot, nextWithRoom } from '../making-way.js';
import type { State } from '../state.js';
import type { Worker } from '../worker.js';
import { checkCount, grant, workerFor } from './claim.js';
import { passWall } from './tick.js';

/** Who gets an attempt that several could run: whoever has the most free slots, or who has waited longest for one. */
export type Balance = 'least-loaded' | 'round-robin';

const BALANCES = ['least-loaded', 'round-robin'] as const satisfies readonly Balance[];

/** What is to be distributed, and over whom. */
export interface PlanRequest {
  /** How many tasks at the most. */
  readonly count: number;
  readonly balance: Balance;
  /** Those who ask for work; all that are attached unless given. */
  readonly workers?: readonly string[] | undefined;
}

/** One task of a plan, and who runs it. */
export interface Assignment {
  readonly task: string;
  readonly attempt: number;
  readonly worker: string;
}

/**
 * Distributes the best tasks over the workers and starts them, all in one step. The scheduler's own strategy says which
 * task is next among those that a worker with a free slot suits; strategies of workers play no part. What it costs grows
 * with the number of workers for each task. An attempt that goes on after a wait takes the slot that it comes to, but is in the
 * hands of its worker already: it is not one of those asked for.
 */
export function plan(state: State, { count, balance, workers }: PlanRequest): Attempt[] {
  checkCount(count);
  checkBalance(balance);
  const asking = workers === undefined ? everybody(state) : [...new Set(workers)].map((id) => named(state, id));
  const started: Attempt[] = [];
  if (asking.some(isFree) && state.wallLine.next() <= state.wall) passWall(state);
  while (started.length < count) {
    const attempt = startNext(state, asking.filter(isFree), balance);
    if (attempt === undefined) break;
    if (attempt.resumptions === 0) started.push(attempt);
  }
  return started;
}

/** A balance as a user gives it. */
export function checkBalance(balance: unknown): Balance {
  return parseChoice(balance, BALANCES, 'balance', refuseConfig);
}

/** What a plan that was carried out has started. */
export function assignmentsIn(facts: readonly Fact[]): Assignment[] {
  return facts.flatMap((fact) =>
    fact.kind === 'attempt.started' ? [{ task: fact.task, attempt: fact.attempt, worker: fact.workerId }] : [],
  );
}

function isFree(worker: Worker): boolean {
  return worker.running < worker.spec.slots;
}

/** A filter judges places, not shapes: who has one claims for himself, through an order of his own. */
function everybody(state: State): Worker[] {
  return [...state.workers.values()].filter(({ spec }) => spec.filter === undefined);
}

function named(state: State, id: string): Worker {
  const worker = workerFor(state, id);
  if (worker.spec.filter === undefined) return worker;
  const expected = 'workers without a filter: one that has a filter claims for itself';
  throw new InvalidConfigError({ field: 'workers', value: id, expected });
}

function startNext(state: State, asking: readonly Worker[], balance: Balance): Attempt | undefined {
  if (asking.length === 0) return undefined;
  state.path.refresh();
  const first = nextWithRoom(state, asking);
  if (first !== undefined) return grant(state, first[1], first[0]);
  const free = asking.filter((worker) => hasSlot(state, worker));
  const suits = (shape: Shape): boolean => free.some((worker) => worker.matches(shape));
  const task = state.index.best(state.index.main, state.mono, suits);
  if (task === undefined) return undefined;
  const { shape } = state.places.of(task);
  const able = free.filter((worker) => worker.matches(shape));
  return grant(state, balance === 'round-robin' ? inTurn(able) : leastLoaded(able), task);
}

/** The most free slots; without a limit on slots, and among equals, whoever runs the least, then whoever came first. */
function leastLoaded(able: readonly Worker[]): Worker {
  let best = able[0] as Worker;
  for (const worker of able) {
    const free = worker.spec.slots - worker.running;
    const most = best.spec.slots - best.running;
    if (free > most || (free === most && worker.running < best.running)) best = worker;
  }
  return best;
}

/**
 * Whoever has not been given anything for longest; those that never were come first, in the order in which they were
 * attached. Going on from the one that was served last would begin anew with every claim of a worker that is not asked.
 */
function inTurn(able: readonly Worker[]): Worker {
  return able.reduce((next, worker) => (worker.lastStart < next.lastStart ? worker : next));
}
