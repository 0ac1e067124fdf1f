import { expect, test } from 'vitest';
import { Scheduler } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

/** A long task that looks at its signal once a minute, and an urgent one that comes after it has begun. */
async function story(failure: (signal: AbortSignal) => void): Promise<string[]> {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 1, preemption: { minRun: '1s', grace: '5s' } });
  const told: string[] = [];
  const long = scheduler.add(
    async (task) => {
      told.push(`long#${task.attempt}`);
      for (let minute = 0; minute < 2; minute += 1) {
        await clock.sleep('1m');
        if (task.signal.aborted) failure(task.signal);
      }
    },
    { priority: 'low', preemptible: true },
  );
  await clock.advance('2s');
  scheduler.add(() => told.push('urgent'), { priority: 'critical' });
  told.push(
    await clock.until(
      long.result.then(
        () => 'done',
        (error: unknown) => (error as Error).message,
      ),
    ),
  );
  await clock.until(scheduler.onIdle());
  await scheduler.close();
  return told;
}

test('C10.2 C10.3 one that makes way late has not failed: it goes again, and loses no attempt', async () => {
  expect(
    await story((signal) => {
      signal.throwIfAborted();
    }),
  ).toEqual(['long#1', 'urgent', 'long#2', 'done']);
});

test('C10.3 one that fails late, for another reason, has failed', async () => {
  const fail = (): never => {
    throw new Error('broken');
  };
  expect(await story(fail)).toEqual(['long#1', 'urgent', 'broken']);
});
