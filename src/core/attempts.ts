import { keptNeeds, needsOf, type Attempt, type Need, type Task } from '../model/index.js';
import type { Place, Places, Pool } from '../ready/index.js';
import type { Resources } from './resources.js';
import type { TaskTable } from './task-table.js';

/** Where attempts, and what they hold, are found. */
export interface AttemptSources {
  readonly table: TaskTable;
  readonly abandoned: ReadonlySet<Attempt>;
  readonly places: Places;
  readonly resources: Resources;
}

/** So many units of a pool. */
export interface Holding {
  readonly pool: Pool;
  readonly amount: number;
}

/** Every attempt that holds something: those that count, in order of submission, then the abandoned ones. */
export function holdingAttempts(state: AttemptSources): Attempt[] {
  const attempts: Attempt[] = [];
  for (const task of state.table.all()) if (task.attempt !== undefined) attempts.push(task.attempt);
  attempts.push(...state.abandoned);
  return attempts;
}

/** What the attempt holds: while it waits for another task, and where it ended in a wait, only what it keeps then. */
export function heldBy(state: AttemptSources, { task, wait }: Attempt): Holding[] {
  if (wait === undefined) return holdingsAt(state.places.at(task.place), task.spec.needs);
  return keptNeeds(task.spec).flatMap(({ resource, amount }) => {
    const pool = state.resources.pools.get(resource);
    return pool === undefined ? [] : [{ pool, amount }];
  });
}

/** What the ready task takes of every pool when it starts, or goes on after a wait. */
export function askedBy(state: AttemptSources, task: Task): Holding[] {
  return holdingsAt(state.places.of(task), needsOf(task));
}

/** What of this are named resources. */
export function resourcesAskedBy({ places }: AttemptSources, task: Task): Holding[] {
  const { needed } = places.of(task).shape.gates;
  return needed.map((pool, i) => ({ pool, amount: (needsOf(task)[i] as Need).amount }));
}

/** What a start at this place takes of every pool. */
export function holdingsAt({ shape, channel }: Place, needs: readonly Need[]): Holding[] {
  const { single, needed } = shape.gates;
  return [
    ...single.map((pool) => ({ pool, amount: 1 })),
    ...needed.map((pool, i) => ({ pool, amount: (needs[i] as Need).amount })),
    { pool: channel.limit, amount: 1 },
  ];
}
