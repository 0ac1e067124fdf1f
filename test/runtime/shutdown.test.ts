import { expect, test } from 'vitest';
import { Scheduler, type SchedulerOptions } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

const SIGNAL = 'SIGUSR2';

test('F6.1 a signal closes the scheduler, and whoever else listens to it is not disturbed', async () => {
  const before = process.listenerCount(SIGNAL);
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ concurrency: 1, clock, shutdownOn: [SIGNAL] });
  let heard = 0;
  const listen = (): void => {
    heard += 1;
  };
  process.on(SIGNAL, listen);
  expect(process.listenerCount(SIGNAL)).toBe(before + 2);
  const running = scheduler.add(
    () =>
      new Promise((resolve) =>
        clock.setTimer(() => {
          resolve('done');
        }, 1_000),
      ),
  );
  const waiting = scheduler.add(() => 1);
  await clock.settle();
  process.emit(SIGNAL, SIGNAL);
  process.emit(SIGNAL, SIGNAL);
  await expect(waiting.result).rejects.toMatchObject({ code: 'CLOSED' });
  await clock.advance('1s');
  expect(await running).toBe('done');
  await scheduler.close();
  expect([heard, process.listenerCount(SIGNAL)]).toEqual([2, before + 1]);
  process.off(SIGNAL, listen);
});

test('F6.1 closing by hand stops listening, and without the option nobody listens', async () => {
  const before = process.listenerCount(SIGNAL);
  const scheduler = new Scheduler({ shutdownOn: [SIGNAL] });
  expect(process.listenerCount(SIGNAL)).toBe(before + 1);
  await scheduler.close();
  await new Scheduler().close();
  expect(process.listenerCount(SIGNAL)).toBe(before);
});

test.each([
  ['SIGTERM', 'shutdownOn'],
  [['TERM'], 'shutdownOn[0]'],
  [['SIGTERM', 7], 'shutdownOn[1]'],
  [['SIGKILL'], 'shutdownOn[0]'],
  [['SIGNOTHING'], 'shutdownOn[0]'],
])('F6.1 bad input: shutdownOn %j is refused', (shutdownOn, field) => {
  const before = process.listenerCount('SIGTERM');
  expect(() => new Scheduler({ shutdownOn } as unknown as SchedulerOptions)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', field }),
  );
  expect(process.listenerCount('SIGTERM')).toBe(before);
});
