import type { Attempt, Task } from '../model/index.js';
import type { Pool } from '../ready/index.js';
import type { State } from './state.js';

/** Every attempt that holds something: those that count, in order of submission, then the abandoned ones. */
export function holdingAttempts(state: State): Attempt[] {
  const attempts: Attempt[] = [];
  for (const task of state.table.all()) if (task.attempt !== undefined) attempts.push(task.attempt);
  attempts.push(...state.abandoned);
  return attempts;
}

/** What an attempt of the task holds, or would hold, of every pool. */
export function holdingsOf(state: State, task: Task): [pool: Pool, amount: number][] {
  const { shape, channel } = state.places.at(task.place);
  const { single, needed } = shape.gates;
  return [
    ...single.map((pool): [Pool, number] => [pool, 1]),
    ...needed.map((pool, i): [Pool, number] => [pool, task.spec.needs[i]?.amount ?? 0]),
    [channel.limit, 1],
  ];
}
