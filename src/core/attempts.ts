import { keptNeeds, type Attempt } from '../model/index.js';
import type { Gate } from '../ready/index.js';
import type { State } from './state.js';

/** Every attempt that holds something: those that count, in order of submission, then the abandoned ones. */
export function holdingAttempts(state: State): Attempt[] {
  const attempts: Attempt[] = [];
  for (const task of state.table.all()) if (task.attempt !== undefined) attempts.push(task.attempt);
  attempts.push(...state.abandoned);
  return attempts;
}

/** What the attempt holds: while it waits for another task, and where it ended in a wait, only what it keeps then. */
export function heldBy(state: State, { task, wait }: Attempt): readonly Gate[] {
  const { channel, shape } = state.places.at(task.place);
  if (wait === undefined) return [{ pool: channel.limit, amount: 1 }, ...shape.gates];
  return keptNeeds(task.spec).flatMap(({ resource, amount }) => {
    const pool = state.resources.pools.get(resource);
    return pool === undefined ? [] : [{ pool, amount }];
  });
}
