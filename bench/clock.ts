import { setImmediate } from 'node:timers/promises';

/**
 * Prepares one round of `count` tasks outside the clock and returns what the clock measures:
 * from the first task handed over until the last one is done.
 */
export type Round = (count: number) => (() => Promise<unknown>) | Promise<() => Promise<unknown>>;

/** Tasks per second in a round of `count`. */
export const perSecond =
  (count: number, round: Round, warmUp = warmUpTasks) =>
  async (): Promise<number> =>
    count / ((await elapsedMs(count, round, warmUp)) / 1e3);

/** Microseconds per task in a round of `count`. */
export const microsecondsPerTask = (count: number, round: Round) => async (): Promise<number> =>
  ((await elapsedMs(count, round, warmUpTasks)) * 1e3) / count;

const warmUpRounds = 2;
const warmUpTasks = 30_000;

async function elapsedMs(count: number, round: Round, warmUp: number): Promise<number> {
  for (let i = 0; i < warmUpRounds; i++) {
    const run = await round(warmUp);
    await run();
  }
  const run = await round(count);
  // Whatever the warm-up left in the queues of the event loop is not part of the measured round.
  await setImmediate();
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

/** Awaits every result by itself, as a caller who needs each of them does. */
export async function awaitEach(results: readonly Promise<unknown>[]): Promise<void> {
  for (let i = 0; i < results.length; i++) await results[i];
}
