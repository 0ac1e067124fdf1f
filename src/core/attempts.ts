import { keptNeeds, type Attempt, type Need } from '../model/index.js';
import type { Place, Pool } from '../ready/index.js';
import type { State } from './state.js';

/** So many units of a pool. */
interface Holding {
  readonly pool: Pool;
  readonly amount: number;
}

/** Every attempt that holds something: those that count, in order of submission, then the abandoned ones. */
export function holdingAttempts(state: State): Attempt[] {
  const attempts: Attempt[] = [];
  for (const task of state.table.all()) if (task.attempt !== undefined) attempts.push(task.attempt);
  attempts.push(...state.abandoned);
  return attempts;
}

/** What the attempt holds: while it waits for another task, and where it ended in a wait, only what it keeps then. */
export function heldBy(state: State, { task, wait }: Attempt): Holding[] {
  if (wait === undefined) return holdingsAt(state.places.at(task.place), task.spec.needs);
  return keptNeeds(task.spec).flatMap(({ resource, amount }) => {
    const pool = state.resources.pools.get(resource);
    return pool === undefined ? [] : [{ pool, amount }];
  });
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
