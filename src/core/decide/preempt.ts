import { PreemptedError, recordOwnError, type Attempt, type Task } from '../../model/index.js';
import type { Pool } from '../../ready/index.js';
import { askedBy, heldBy, type Holding } from '../attempts.js';
import { askedToStop, hasSlot, roomKept } from '../making-way.js';
import { Shortage } from '../shortage.js';
import type { State } from '../state.js';
import type { Worker } from '../worker.js';
import { passWall } from './tick.js';

/**
 * Asks running attempts to make way for ready tasks that are strictly more urgent, wherever that lets such a task start.
 * The most urgent tasks come first, among equals the longest wait, whatever the order in force. To be sent when nothing
 * more can be claimed: a task that can start as it is needs nobody to make way.
 */
export function preempt(state: State): void {
  const { preemption } = state;
  if (preemption.candidates.size === 0) return;
  if (state.wallLine.next() <= state.wall) passWall(state);
  preemption.giveUpOn(state.mono);
  for (const level of preemption.waiting?.inUse() ?? []) {
    if (level >= preemption.candidates.leastUrgent) return;
    preemption.waiting?.offer(level, (task) => makeRoom(state, task));
  }
}

/** Whether room is made for the task: others were asked, or those that were asked before suffice. */
function makeRoom(state: State, task: Task): boolean {
  const place = state.places.of(task);
  const workers = [...state.workers.values()].filter((worker) => worker.takes(place));
  const { rooms } = state.preemption;
  const wanted = askedBy(state, task).map(({ pool, amount }) => {
    return { pool, amount: amount + rooms.keptForOthers(task, pool) };
  });
  // No attempt that stops gives tokens back, and others with room take theirs; what goes on has paid its own.
  if (task.attempt === undefined && !wanted.every(({ pool, amount }) => pool.hasTokens(amount))) return false;
  if (wanted.every(({ pool, amount }) => pool.hasUnits(amount)) && workers.some((each) => hasSlot(state, each))) {
    return false;
  }
  const shortage = shortageOf(state, wanted, workers);
  const victims = choose(state, task, shortage);
  if (victims === undefined) return false;
  const { graceMs } = state.preemption.settings;
  for (const attempt of victims) {
    askedToStop(state, attempt, task.id, state.mono + graceMs);
    const cause = new PreemptedError({ taskId: attempt.task.id, attempt: attempt.number, by: task.id, graceMs });
    state.outbox.preempted.push({ attempt, error: recordOwnError(cause), cause });
  }
  const worker = workers.find((each) => slotsShort(state, each) <= 0) as Worker;
  roomKept(state, task, worker.id, state.mono + graceMs);
  return true;
}

/** What is lacking of so much once all that were asked before have made way. */
function shortageOf(state: State, wanted: readonly Holding[], workers: readonly Worker[]): Shortage {
  const { freed } = state.preemption;
  const lacking = new Map<Pool, number>();
  for (const { pool, amount } of wanted) lacking.set(pool, pool.held - freed.of(pool) + amount - pool.capacity);
  return new Shortage(lacking, new Map(workers.map((worker) => [worker.id, slotsShort(state, worker)])));
}

/** How many more must make way at the worker before it has a slot for one more; 0 or less where it has. */
function slotsShort(state: State, { id, running, spec }: Worker): number {
  const { freed, rooms } = state.preemption;
  return running - freed.of(id) + rooms.slotsKept(id) + 1 - spec.slots;
}

/**
 * The attempts that have to make way: the least urgent, among equals the latest started, each of which has something
 * that is lacking, until nothing is. Then whoever turns out to be dispensable is let be, the most urgent first.
 * `undefined` where all that may be asked would not suffice.
 */
function choose(state: State, task: Task, shortage: Shortage): Attempt[] | undefined {
  const { candidates } = state.preemption;
  if (!shortage.couldBeMetBy((what) => candidates.heldBelow(task.urgency, what))) return undefined;
  const chosen: Attempt[] = [];
  const steps = shortage.isMet ? [] : candidates.below(task.urgency, state.mono);
  for (const attempt of steps) {
    const held = heldBy(state, attempt);
    if (!shortage.isEasedBy(held, attempt.workerId) || isWanted(state, attempt, task)) continue;
    shortage.ease(held, attempt.workerId);
    chosen.push(attempt);
    if (shortage.isMet) break;
  }
  if (!shortage.isMet) return undefined;
  const needed = chosen.reverse().filter((attempt) => isNeeded(state, attempt, shortage));
  return needed.reverse();
}

/** Whether the shortage is met by this attempt only; if not, it is let be. */
function isNeeded(state: State, attempt: Attempt, shortage: Shortage): boolean {
  const held = heldBy(state, attempt);
  shortage.worsen(held, attempt.workerId);
  if (shortage.isMet) return false;
  shortage.ease(held, attempt.workerId);
  return true;
}

/** Whether somebody more urgent than the task lacks what the attempt holds: it is as urgent as that, and goes on. */
function isWanted(state: State, attempt: Attempt, task: Task): boolean {
  return attempt.task.spec.needs.some(({ resource }) => state.lending.lowest(resource) < task.urgency);
}
