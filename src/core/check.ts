import { Attempt, isFinal, keptNeeds, type Task } from '../model/index.js';
import { show } from '../model/show.js';
import { slackOf, type Pool } from '../ready/index.js';
import { heldBy, holdingAttempts, holdingsAt } from './attempts.js';
import { broken } from './broken.js';
import { isPending } from './pressure.js';
import { checkIndex } from './check-index.js';
import { checkRooms } from './check-rooms.js';
import { checkWaits } from './check-waits.js';
import { Series } from './series.js';
import type { DueSubject } from './moments.js';
import type { State } from './state.js';
import type { Due } from './timeline.js';

/** Tokens are worked out from what was spent, whose sum drifts. */
const TOKEN_DRIFT = 1e-6;

/**
 * Throws an `InvariantError` that tells the task's story unless everything the core keeps fits together: whatever is
 * counted, indexed or inherited is worked out anew and compared. Changes nothing; costs O(n).
 */
export function check(state: State): void {
  const attempts = holdingAttempts(state);
  checkTable(state);
  checkAttempts(state, attempts);
  checkHoldings(state, attempts);
  checkPlaces(state, attempts);
  checkDependencies(state);
  checkNoLimbo(state);
  checkWaits(state);
  checkRooms(state);
  checkSeries(state);
  checkFamily(state);
  checkRetention(state);
  checkPressure(state);
  checkIndex(state);
}

/** Throws unless the limits leave room for a task that has just been started. */
export function checkStart(state: State, task: Task): void {
  const place = state.places.at(task.place);
  // What it kept while it waited it has without asking again, also where less is left of it by now.
  const goesOn = task.attempt?.resumptions !== 0;
  const kept = goesOn ? keptNeeds(task.spec).map(({ resource }) => resource) : [];
  for (const { pool } of holdingsAt(place, task.spec.needs)) {
    if (kept.includes(pool.name) && isNamed(state, pool)) continue;
    if (pool.held > pool.capacity + slackOf(pool.capacity)) {
      broken(state, 'G7', `${task.id} started beyond the capacity ${pool.capacity} of ${show(pool.name)}`, task);
    }
    // Its tokens are long spent: others may have made a debt since.
    if (!goesOn && (pool.flow?.tokens() ?? 0) < -TOKEN_DRIFT) {
      broken(state, 'G7', `${task.id} started beyond the rate of ${show(pool.name)}`, task);
    }
  }
}

function isNamed(state: State, pool: Pool): boolean {
  return state.resources.pools.get(pool.name) === pool;
}

function checkTable(state: State): void {
  let size = 0;
  let pending = 0;
  for (const task of state.table.all()) {
    size += 1;
    if (!isFinal(task.state)) pending += 1;
    if (state.table.byId(task.id) !== task) broken(state, 'index', 'the id leads elsewhere', task);
    if (task.sequence >= state.table.next) broken(state, 'index', 'the next sequence is behind', task);
  }
  if (size !== state.table.size) broken(state, 'index', `the table counts ${state.table.size} tasks and has ${size}`);
  if (pending !== state.pending) broken(state, 'index', `${pending} tasks are unfinished, counted ${state.pending}`);
}

/** G3: a task has one attempt that counts at the most, and its number is the largest ever. */
function checkAttempts(state: State, attempts: readonly Attempt[]): void {
  const seen = new Set<string>();
  const perWorker = new Map<string, number>();
  for (const attempt of attempts) {
    const { task } = attempt;
    if (attempt.over) broken(state, 'G3', `${attempt.id} is over and still held`, task);
    if (attempt.epoch > state.epoch) broken(state, 'G3', `${attempt.id} is of a later epoch`, task);
    // An id may be used again once its task is forgotten; a sequence is not.
    const name = `${task.sequence}#${attempt.number}`;
    if (seen.has(name)) broken(state, 'G3', `${attempt.id} was granted twice`, task);
    seen.add(name);
    const counts = task.attempt === attempt;
    if (counts === attempt.abandoned)
      broken(state, 'G3', `${attempt.id} both counts and is abandoned, or neither`, task);
    if (counts ? attempt.number !== task.attempts : attempt.number > task.attempts) {
      broken(state, 'G3', `${attempt.id} does not have the latest number`, task);
    }
    if (attempt.wait === undefined) perWorker.set(attempt.workerId, (perWorker.get(attempt.workerId) ?? 0) + 1);
  }
  const running = attempts.length - state.suspended.size;
  if (running !== state.running) broken(state, 'G7', `${running} run, counted ${state.running}`);
  for (const task of state.table.all()) {
    if ((task.state === 'running') !== (task.attempt !== undefined && task.attempt.wait === undefined)) {
      broken(state, 'G3', 'a task runs exactly while it has an attempt', task);
    }
  }
  for (const worker of state.workers.values()) {
    const runs = perWorker.get(worker.id) ?? 0;
    if (worker.running !== runs) {
      broken(state, 'G7', `worker ${show(worker.id)} runs ${runs} attempts, counted ${worker.running}`);
    }
  }
}

/** C8: whoever could be dropped can be found, and what was told about the bound is true. */
function checkPressure(state: State): void {
  const { pressure, unstarted } = state;
  const pending = [...state.table.all()].filter(isPending);
  if (pending.length !== unstarted) broken(state, 'C8', `${pending.length} tasks are pending, counted ${unstarted}`);
  const { saturated, maxPending, lowWater } = pressure;
  if (saturated ? unstarted <= lowWater : unstarted >= maxPending) {
    broken(state, 'C8', `${unstarted} tasks are pending, which is told as ${saturated ? 'too many' : 'few'}`);
  }
  if (!pressure.isOrdered) return;
  const found = pressure.all();
  for (const task of pending)
    if (!found.delete(task)) broken(state, 'C8', 'it is pending and nobody could drop it', task);
  for (const task of found) broken(state, 'C8', 'it could be dropped although it is not pending', task);
}

/** G7: what is held is what the attempts hold. */
function checkHoldings(state: State, attempts: readonly Attempt[]): void {
  const held = new Map<Pool, number>();
  const hold = (pool: Pool, amount: number): void => {
    held.set(pool, (held.get(pool) ?? 0) + amount);
  };
  for (const attempt of attempts) for (const { pool, amount } of heldBy(state, attempt)) hold(pool, amount);
  const limits = [...state.places.allChannels()].map((channel) => channel.limit);
  for (const pool of [...state.resources.allPools(), ...limits]) {
    const sum = held.get(pool) ?? 0;
    held.delete(pool);
    if (pool.held < 0 || Math.abs(pool.held - sum) > slackOf(sum)) {
      broken(state, 'G7', `${show(pool.name)} counts ${pool.held} as held, attempts hold ${sum}`);
    }
  }
  for (const pool of held.keys()) broken(state, 'G7', `${show(pool.name)} is held but no longer known`);
}

function checkPlaces(state: State, attempts: readonly Attempt[]): void {
  const places = new Map(state.places.all().map((place) => [place.index, place]));
  const users = new Map<number, number>();
  const use = (task: Task): void => {
    users.set(task.place, (users.get(task.place) ?? 0) + 1);
  };
  for (const task of state.table.all()) {
    if (isFinal(task.state)) continue;
    use(task);
    const place = places.get(task.place);
    if (place?.channel.name !== task.spec.channel || place.shape !== state.places.knownShape(task.spec)) {
      broken(state, 'index', 'the task stands at a place of another channel or shape', task);
    }
  }
  for (const { task, wait } of attempts) {
    use(task);
    if (wait !== undefined && wait.place >= 0) users.set(wait.place, (users.get(wait.place) ?? 0) + 1);
  }
  const owners = new Map<unknown, number>();
  for (const place of state.places.all()) {
    const count = users.get(place.index) ?? 0;
    if (count !== place.tasks) broken(state, 'index', `place ${place.index} counts ${place.tasks} users of ${count}`);
    for (const owner of [place.shape, place.channel]) owners.set(owner, (owners.get(owner) ?? 0) + 1);
  }
  for (const owner of [...state.places.allShapes(), ...state.places.allChannels()]) {
    const count = owners.get(owner) ?? 0;
    if (count !== owner.places) broken(state, 'index', `a shape or channel counts ${owner.places} places of ${count}`);
  }
}

/** G6, and whatever is inherited along the edges. */
function checkDependencies(state: State): void {
  const { dependencies, table } = state;
  const nodes = dependencies.inOrder();
  const { size } = dependencies.graph;
  if (nodes.length !== size) broken(state, 'index', `the graph has ${size} nodes for ${nodes.length} tasks`);
  for (const task of nodes) {
    if (dependencies.at(task.node) !== task) broken(state, 'index', 'the graph has another task there', task);
    // A dependency given as an object may have been forgotten before: its result is in the object.
    const isNeeded = isFinal(task.state) && dependencies.isPinned(task);
    if (table.bySequence(task.sequence) !== task && !isNeeded)
      broken(state, 'index', 'it is forgotten but linked', task);
  }
  for (const task of table.all()) {
    checkUnmet(state, task);
    if (!isFinal(task.state)) checkInherited(state, task);
  }
}

function checkUnmet(state: State, task: Task): void {
  const { dependencies } = state;
  if (isFinal(task.state)) {
    if (dependencies.of(task).length > 0) broken(state, 'index', 'a finished task still has dependencies', task);
    return;
  }
  let unmet = 0;
  dependencies.eachUnfinishedDependency(task, () => (unmet += 1));
  const counted = dependencies.unmetOf(task);
  if (unmet !== counted) broken(state, 'index', `${unmet} dependencies are unfinished, counted ${counted}`, task);
  if ((task.state === 'waiting') !== unmet > 0) {
    broken(state, task.state === 'waiting' ? 'G9' : 'G6', `${unmet} dependencies are unfinished`, task);
  }
}

function checkInherited(state: State, task: Task): void {
  let urgency = Math.min(task.level, state.inheritance.lentTo(task));
  let { deadline } = task.spec;
  state.dependencies.eachUnfinishedDependant(task, (dependant) => {
    urgency = Math.min(urgency, dependant.urgency);
    deadline = Math.min(deadline, dependant.deadline);
  });
  if (task.urgency !== urgency) broken(state, 'C5', `the effective level should be ${urgency}`, task);
  if (task.deadline !== deadline) broken(state, 'C5', `the effective deadline should be ${deadline}`, task);
}

/** G9: whatever is to happen by itself stands on a timeline. */
function checkNoLimbo(state: State): void {
  const due = new Set<string>();
  for (const each of state.wallLine.pending()) due.add(nameOf(each));
  for (const each of state.monoLine.pending()) due.add(nameOf(each));
  for (const task of state.table.all()) {
    const { attempt, spec } = task;
    if (isFinal(task.state)) continue;
    if (state.starvation.isWatched && state.starvation.at(task) !== undefined) {
      if (!due.has(`starvation ${task.sequence}`)) broken(state, 'C9', 'nobody looks whether it starves', task);
    }
    if (task.state === 'delayed' && !due.has(`eta ${task.sequence}`) && !due.has(`backoff ${task.sequence}`)) {
      broken(state, 'G9', 'nothing will end the delay', task);
    }
    const expires = attempt === undefined && spec.expires !== Infinity;
    if (expires && !due.has(`expiry ${task.sequence}`)) broken(state, 'G9', 'nothing will let it expire', task);
    if (attempt === undefined) continue;
    if (attempt.leaseEndsAt !== Infinity && !due.has(`lease ${task.sequence}#${attempt.number}`)) {
      broken(state, 'G9', 'nothing will end the lease', task);
    }
    if (attempt.wait !== undefined) continue;
    const name = `${task.sequence}#${attempt.number}`;
    if (spec.timeoutMs !== Infinity && !due.has(`timeout ${name}`)) broken(state, 'G9', 'no timeout is set', task);
  }
}

function nameOf({ kind, subject }: Due<DueSubject>): string {
  if (subject instanceof Attempt) return `${kind} ${subject.task.sequence}#${subject.number}`;
  return `${kind} ${subject instanceof Series ? subject.id : subject.sequence}`;
}

function checkSeries(state: State): void {
  const active = new Map<Series, number>();
  for (const task of state.table.all()) {
    const series = state.seriesOf(task);
    if (series !== undefined && !isFinal(task.state)) active.set(series, (active.get(series) ?? 0) + 1);
  }
  const scheduled = new Set(state.wallLine.pending().map((due) => due.subject));
  for (const series of state.series.values()) {
    const count = active.get(series) ?? 0;
    if (series.active !== count) broken(state, 'index', `${show(series.id)} counts ${series.active} of ${count}`);
    const goesOn = series.paused || count > 0 || (series.nextAt !== undefined && scheduled.has(series));
    if (!goesOn) broken(state, 'G9', `nothing will make the next occurrence of ${show(series.id)}`);
  }
}

/** F4: whoever was added by another is found when that is cancelled. */
function checkFamily(state: State): void {
  const found = new Map(state.family.all());
  for (const task of state.table.all()) {
    const parent = isFinal(task.state) ? undefined : task.extra?.parent;
    if (found.get(task) !== parent) broken(state, 'F4', `its parent is ${String(parent)}`, task);
    found.delete(task);
  }
  for (const task of found.keys()) broken(state, 'F4', 'it is somebody’s child and not known', task);
}

/** A finished task is kept once; an unfinished one is not. */
function checkRetention(state: State): void {
  const kept = new Set<Task>();
  for (const [task] of state.retention.kept()) {
    if (kept.has(task)) broken(state, 'F5', 'it is kept twice', task);
    kept.add(task);
    if (!isFinal(task.state)) broken(state, 'F5', 'it is unfinished and kept as finished', task);
    if (state.table.bySequence(task.sequence) !== task) broken(state, 'F5', 'it is kept and not known', task);
  }
  for (const task of state.table.all()) {
    if (isFinal(task.state) && !kept.has(task)) broken(state, 'F5', 'it would never be forgotten', task);
  }
}
