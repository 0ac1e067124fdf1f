import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Scheduler, type Claim } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

test('a console shows of handles, workers, claims and the rest what they are about, and nothing of the scheduler', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 0 });
  const shout = scheduler.define('shout', (text: string) => text.toUpperCase());
  const handle = scheduler.add(shout, 'a', { id: 'a' });
  const reference = await scheduler.submit(() => 1, { delay: '1h' });
  const series = scheduler.repeat(() => 1, { id: 'ping', every: '1m' });
  const worker = scheduler.worker({ id: 'w', lease: '1m' });
  const claim = (await worker.claim()) as Claim;
  const shown = new Map<unknown, string>([
    [handle, "Handle { id: 'a', state: 'running' }"],
    [reference, "TaskReference { id: 'task-2', state: 'delayed' }"],
    [scheduler, 'Scheduler { size: 2, running: 1, waiting: 0 }'],
    [series, "SeriesHandle { id: 'ping', state: 'active', next: undefined, runs: 1 }"],
    [worker, "PullingWorker { id: 'w' }"],
    [claim, "Claim { taskId: 'a', token: { epoch: 1, attempt: 1, sequence: 1 }, workerId: 'w' }"],
    [claim.task, "Task { id: 'a', attempt: 1, channel: 'default', input: 'a' }"],
    [shout, "Definition { name: 'shout' }"],
  ]);
  for (const [one, text] of shown) expect(inspect(one, { breakLength: Infinity })).toBe(text);
  for (const [one, text] of shown)
    expect(inspect({ deep: { one } }, { depth: 1 })).toContain(`[${text.split(' ')[0] ?? ''}]`);
  expect(inspect(handle, { showHidden: true, depth: Infinity }).length).toBeLessThan(200);
  await claim.complete();
  series.cancel();
  await scheduler.close();
});

test('showing a task that stands in line gives it no id', () => {
  const scheduler = new Scheduler({ concurrency: 0, maxPending: 1, whenFull: 'wait' });
  scheduler.add(() => 1);
  const outside = scheduler.add(() => 1);
  expect(inspect(outside)).toBe("Handle { id: undefined, state: 'waiting' }");
  expect(outside.id).toBe('added-1');
  expect(inspect(outside)).toBe("Handle { id: 'added-1', state: 'waiting' }");
  void scheduler.close();
});
