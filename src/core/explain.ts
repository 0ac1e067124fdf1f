import { UnknownTaskError, isFinal, keptNeeds, type Attempt, type Task } from '../model/index.js';
import { defaultWeight, isWeighted, usableWeight, type Place, type Pool } from '../ready/index.js';
import { askedBy, heldBy, holdingAttempts } from './attempts.js';
import type { Explanation, Holder, Obstacle, Standing } from './explanation.js';
import { pending } from './pending.js';
import { hasSlotFor } from './making-way.js';
import type { Room } from './rooms.js';
import type { State } from './state.js';
import { offers } from './worker.js';

/** Why the task with this id does not run, also of one that is forgotten. */
export function explain(state: State, id: string): Explanation {
  const task = state.table.byId(id);
  if (task !== undefined) return explainKnown(state, task);
  const ended = state.table.tombstone(id);
  if (ended === undefined) throw new UnknownTaskError({ taskId: id });
  return { task: id, kind: 'final', state: ended, error: undefined };
}

/**
 * Why the task does not run. Looks at the state as the last command left it and decides nothing; where the task is
 * ready this sorts all that are, so it costs O(n log n).
 */
function explainKnown(state: State, task: Task): Explanation {
  const { id, attempt, extra } = task;
  if (isFinal(task.state)) return { task: id, kind: 'final', state: task.state, error: extra?.error };
  if (attempt !== undefined && attempt.wait === undefined) {
    const { workerId: worker, started, stopBy } = attempt;
    const asked = stopBy === undefined ? {} : { stopBy };
    return { task: id, kind: 'running', attempt: attempt.id, worker, since: started.wall, ...asked };
  }
  if (task.state === 'waiting') {
    const waits = attempt === undefined ? {} : { attempt: attempt.id, keeps: keptNeeds(task.spec) };
    return { task: id, kind: 'waiting', dependencies: awaited(state, task), ...waits };
  }
  if (task.state === 'ready') return explainReady(state, task);
  const { eta = state.wall, backoffUntil: until = -Infinity } = extra ?? {};
  // What is due by now goes on at the next tick: until then it is still the backoff that it waits for.
  if (until === -Infinity || (until <= state.mono && eta > state.wall))
    return { task: id, kind: 'delayed', until: eta };
  const remainingMs = Math.max(0, until - state.mono);
  return { task: id, kind: 'backoff', until, remainingMs, attempts: task.attempts, error: extra?.error };
}

function awaited(state: State, task: Task): { task: string; state: Task['state'] }[] {
  // The same one may have been named more than once.
  const found = new Set<Task>();
  state.dependencies.eachUnfinishedDependency(task, (each) => found.add(each));
  return [...found].map((each) => ({ task: each.id, state: each.state }));
}

function explainReady(state: State, task: Task): Explanation {
  const place = state.places.of(task);
  const obstacles: Obstacle[] = [];
  if (place.paused) obstacles.push({ kind: 'paused', channel: place.channel.name });
  const room = state.preemption.rooms.of(task);
  obstacles.push(...lackingPools(state, task, room), ...lackingWorker(state, place, room));
  const standing = place.paused ? undefined : standingOf(state, task);
  const { attempt } = task;
  return {
    task: task.id,
    kind: 'ready',
    obstacles,
    standing,
    ...(attempt === undefined ? {} : { attempt: attempt.id }),
    ...(room === undefined ? {} : { room: roomOf(room) }),
  };
}

function roomOf({ workerId, until }: Room): { worker?: string; until: number } {
  return workerId === undefined ? { until } : { worker: workerId, until };
}

function lackingPools(state: State, task: Task, room: Room | undefined): Obstacle[] {
  const { resources } = state;
  const obstacles: Obstacle[] = [];
  const limit = (scope: 'global' | 'type' | 'channel', key: string, pool: Pool): void => {
    obstacles.push({ kind: 'limit', scope, key, limit: pool.capacity, filledBy: holders(state, pool) });
  };
  const place = state.places.of(task);
  for (const { pool, amount } of askedBy(state, task)) {
    if (resources.isWithheld(pool)) {
      obstacles.push({ kind: 'handler', type: pool.name });
      continue;
    }
    const isResource = resources.pools.get(pool.name) === pool;
    // What is kept for the task itself is not in its way.
    const kept = room?.asks.some((each) => each.pool === pool) === true ? 0 : pool.kept;
    if (place.shape.worker === undefined) {
      obstacles.push(...lackingTokens(state, pool, amount, kept, isResource ? 'resource' : 'type'));
    }
    if (pool.hasUnits(kept + amount)) continue;
    if (pool === resources.global) limit('global', '', pool);
    else if (pool === place.channel.limit) limit('channel', pool.name, pool);
    else if (isResource) obstacles.push(lackingResource(state, pool, amount, kept));
    else limit('type', pool.name, pool);
  }
  return obstacles;
}

function lackingTokens(state: State, pool: Pool, cost: number, kept: number, scope: 'resource' | 'type'): Obstacle[] {
  const { name: key, flow } = pool;
  if (flow === undefined || flow.fits(kept + cost)) return [];
  const pausedMs = flow.closedUntil - state.mono;
  const asked: Obstacle[] = pausedMs > 0 ? [{ kind: 'retryAfter', resource: key, remainingMs: pausedMs }] : [];
  const { rate } = flow;
  const tokens = flow.tokens();
  if (rate === undefined || tokens >= kept + cost) return asked;
  const remainingMs = flow.soonest(kept + cost) - state.mono;
  return [...asked, { kind: 'rate', scope, key, cost, tokens, rate, remainingMs, ...keptOf(state, pool, kept) }];
}

function lackingResource(state: State, pool: Pool, needs: number, kept: number): Obstacle {
  const { name: resource, capacity } = pool;
  // More may be held than there is, after the capacity was lowered.
  const free = Math.max(0, capacity - pool.held - kept);
  const lacks = pool.held + kept + needs - capacity;
  const heldBy = holders(state, pool);
  return { kind: 'resource', resource, needs, capacity, free, lacks, ...keptOf(state, pool, kept), heldBy };
}

function keptOf(state: State, pool: Pool, kept: number): { kept?: number; keptFor?: readonly string[] } {
  if (kept === 0) return {};
  const rooms = [...state.preemption.rooms.all()];
  const keptFor = rooms.filter(([, { asks }]) => asks.some((each) => each.pool === pool)).map(([task]) => task.id);
  return { kept, keptFor };
}

function holders(state: State, pool: Pool): Holder[] {
  return holdingAttempts(state).flatMap((attempt) => {
    const amount = amountHeld(state, attempt, pool);
    return amount > 0 ? [{ attempt: attempt.id, amount, abandoned: attempt.abandoned }] : [];
  });
}

function amountHeld(state: State, attempt: Attempt, pool: Pool): number {
  return heldBy(state, attempt).find((holding) => holding.pool === pool)?.amount ?? 0;
}

function lackingWorker(state: State, place: Place, room: Room | undefined): Obstacle[] {
  const workers = [...state.workers.values()];
  const willing = workers.filter((worker) => worker.takes(place));
  if (willing.length > 0) {
    if (willing.some((worker) => hasSlotFor(state, worker, room))) return [];
    const busy = willing.map(({ id, running, spec }) => {
      const kept = state.preemption.rooms.slotsKept(id);
      return { id, running, slots: spec.slots, ...(kept > 0 ? { kept } : {}) };
    });
    return [{ kind: 'slots', workers: busy }];
  }
  const missing = place.shape.capabilities.filter(
    ([name, value]) => !workers.some(({ spec }) => offers(spec.capabilities.get(name), value)),
  );
  return [{ kind: 'worker', workers: workers.length, missing }];
}

function standingOf(state: State, task: Task): Standing {
  const { choice } = state.index.main;
  const overdue = state.mono - task.ready >= state.index.aging.maxWaitMs;
  if (!overdue && (choice === 'weighted-random' || isWeighted(choice))) {
    return { kind: 'chance', chance: chanceOf(state, task) };
  }
  if (typeof choice === 'object' && !isWeighted(choice) && choice.choose !== undefined) {
    return { kind: 'chosen', strategy: choice.name };
  }
  const ready = pending(state).filter((each) => each.state === 'ready' && !state.places.of(each).paused);
  return { kind: 'position', position: ready.indexOf(task) + 1, of: ready.length };
}

/** Its weight among those that could start now; one that could not is counted as if it could. */
function chanceOf(state: State, task: Task): number {
  const { choice } = state.index.main;
  const weightOf = isWeighted(choice) ? usableWeight(choice) : defaultWeight;
  let total = 0;
  for (const each of state.index.all()) {
    const { shape, channel } = state.places.of(each);
    if (each === task || (shape.admits(each) && channel.isOpen())) total += weightOf(each.urgency);
  }
  return weightOf(task.urgency) / total;
}
