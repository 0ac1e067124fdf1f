import { describe, expect, test } from 'vitest';
import { PreemptedError, Scheduler, type SchedulerOptions, type TaskContext } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

function scheduler(options: SchedulerOptions = {}) {
  const clock = new VirtualClock();
  return { clock, s: new Scheduler({ clock, concurrency: 1, ...options }) };
}

/** Works until it is told to stop; says why it was. */
function untilStopped(reasons: unknown[]) {
  return (task: TaskContext): Promise<never> =>
    new Promise((_resolve, reject) => {
      task.signal.addEventListener('abort', () => {
        reasons.push(task.signal.reason);
        reject(task.signal.reason as Error);
      });
    });
}

describe('a running task makes way for a more urgent one', () => {
  test('C10.1 C10.2 its signal aborts with the reason, the other runs, and it goes again from its checkpoint', async () => {
    const { clock, s } = scheduler();
    const reasons: unknown[] = [];
    const stop = untilStopped(reasons);
    const background = s.add(
      (task) => {
        if (task.resumed !== undefined) return { attempt: task.attempt, from: task.resumed };
        task.checkpoint('half');
        return stop(task);
      },
      { id: 'background', priority: 'low', preemptible: true, retry: 1 },
    );
    await clock.advance('5s');
    const urgent = s.add(() => 'done', { id: 'urgent', priority: 'high' });
    expect(await urgent).toBe('done');
    expect(reasons).toHaveLength(1);
    expect(reasons[0]).toBeInstanceOf(PreemptedError);
    expect(reasons[0]).toMatchObject({ taskId: 'background', attempt: 1, by: 'urgent', graceMs: 1_000 });
    expect(await background).toEqual({ attempt: 2, from: 'half' });
    await s.close();
  });

  test('C10.1 not before its minimum run time, for which nobody has to wake the scheduler', async () => {
    const { clock, s } = scheduler({ preemption: { minRun: '3s' } });
    const reasons: unknown[] = [];
    s.add(untilStopped(reasons), { priority: 'low', preemptible: true });
    await clock.advance('1s');
    const urgent = s.add(() => 'done', { priority: 'high' });
    await clock.advance(1_999);
    expect(reasons).toEqual([]);
    await clock.advance(1);
    expect(reasons).toHaveLength(1);
    expect(await urgent).toBe('done');
  });

  test('C10.1 a signal that is first asked for afterwards is aborted already', async () => {
    const { clock, s } = scheduler();
    let goOn: () => void = () => undefined;
    const seen: unknown[] = [];
    s.add(
      async (task) => {
        if (task.attempt > 1) return;
        await new Promise<void>((resolve) => (goOn = resolve));
        seen.push(task.signal.reason);
        task.signal.throwIfAborted();
      },
      { priority: 'low', preemptible: true },
    );
    await clock.advance('2s');
    const urgent = s.add(() => 'done', { priority: 'high' });
    await clock.advance(1);
    goOn();
    expect(await urgent).toBe('done');
    expect(seen).toMatchObject([{ code: 'PREEMPTED' }]);
    await s.onIdle();
  });

  test('C10.3 one that does not listen keeps its slot, and its result counts', async () => {
    const { clock, s } = scheduler({ preemption: { grace: 500 } });
    let finish: (value: string) => void = () => undefined;
    const deaf = s.add(() => new Promise<string>((resolve) => (finish = resolve)), {
      priority: 'low',
      preemptible: true,
    });
    await clock.advance('2s');
    const urgent = s.add(() => 'done', { id: 'urgent', priority: 'high' });
    await clock.advance(499);
    expect(s.explain('urgent')).toMatchObject({ kind: 'ready', room: { worker: 'local' } });
    await clock.advance(1);
    expect(s.explain('urgent')).not.toHaveProperty('room');
    finish('all the same');
    expect(await deaf).toBe('all the same');
    expect(await urgent).toBe('done');
  });

  test('C10.1 a task that comes ready by the end of another has others make way too', async () => {
    const { clock, s } = scheduler({ concurrency: 2 });
    const reasons: unknown[] = [];
    s.add(untilStopped(reasons), { priority: 'low', preemptible: true });
    let finish: () => void = () => undefined;
    const first = s.add(() => new Promise<void>((resolve) => (finish = resolve)), { priority: 'high' });
    await clock.advance('2s');
    const both = [1, 2].map((n) => s.add(() => n, { priority: 'high', after: [first] }));
    finish();
    expect(await Promise.all(both)).toEqual([1, 2]);
  });

  test('C10.1 nobody makes way while starts are held back', async () => {
    let open = true;
    const { clock, s } = scheduler({ admit: () => open });
    const reasons: unknown[] = [];
    s.add(untilStopped(reasons), { priority: 'low', preemptible: true });
    await clock.advance('2s');
    open = false;
    const urgent = s.add(() => 'done', { priority: 'high' });
    await clock.advance('2s');
    expect(reasons).toEqual([]);
    open = true;
    await clock.advance('2s');
    expect(await urgent).toBe('done');
  });

  test('C10.1 a pulled claim is told through its signal, and giving it back costs nothing', async () => {
    const { clock, s } = scheduler({ concurrency: 0 });
    const worker = s.worker({ id: 'w', slots: 1, lease: '1h', retries: 0 });
    s.add(() => 1, { id: 'background', priority: 'low', preemptible: true });
    const claim = await worker.claim();
    const { signal } = (claim as NonNullable<typeof claim>).task;
    await clock.advance('2s');
    s.add(() => 2, { id: 'urgent', priority: 'high' });
    await clock.advance(1);
    expect(signal.reason).toBeInstanceOf(PreemptedError);
    await claim?.release();
    const next = await worker.claim();
    expect(next?.task.id).toBe('urgent');
    await next?.complete();
    expect((await worker.claim())?.task).toMatchObject({ id: 'background', attempt: 2 });
  });

  test('C10.3 an attempt for which others made way at a pulling worker goes on without a claim', async () => {
    const { clock, s } = scheduler({ concurrency: 0, preemption: { minRun: 0, grace: '1s' } });
    const [w, v] = [s.worker({ id: 'w', slots: 1 }), s.worker({ id: 'v', slots: 1 })];
    let finish: () => void = () => undefined;
    const parent = s.add((task) => task.waitFor(child), { priority: 'critical' });
    const parentClaim = await w.claim();
    const child = s.add(() => new Promise<void>((resolve) => (finish = resolve)), { priority: 'critical' });
    for (const claim of [parentClaim, await v.claim()]) void claim?.run();
    await clock.advance(10);
    const reasons: unknown[] = [];
    s.add(untilStopped(reasons), { priority: 'low', preemptible: true });
    void (await w.claim())?.run();
    finish();
    await clock.advance(10);
    expect(reasons).toMatchObject([{ code: 'PREEMPTED' }]);
    expect(parent.state).toBe('completed');
    await s.close();
  });
});

test('C9.5 D10.3 there are events for those that make way and for those that starve', async () => {
  const { clock, s } = scheduler({ starvation: { service: 10 }, aging: { every: '1s' } });
  const told: unknown[] = [];
  s.on('preempted', ({ taskId, attempt, by, workerId, channel, priority }) => {
    told.push({ taskId, attempt, by, workerId, channel, priority });
  });
  s.on('starved', ({ taskId, waitedMs }) => {
    told.push({ taskId, starved: waitedMs > 0 });
  });
  s.add(untilStopped([]), { id: 'background', priority: 'low', preemptible: true });
  await clock.advance('2s');
  s.add((task) => untilStopped([])(task), { id: 'urgent', priority: 'high' });
  await clock.advance('1m');
  expect(told).toEqual([
    { taskId: 'background', attempt: 1, by: 'urgent', workerId: 'local', channel: 'default', priority: 3 },
    { taskId: 'background', starved: true },
  ]);
});

test.each([
  [{ preemption: { grace: -1 } }, 'preemption.grace'],
  [{ preemption: { minRun: 'soon' } }, 'preemption.minRun'],
  [{ preemption: { maxPerTask: 1.5 } }, 'preemption.maxPerTask'],
  [{ preemption: { maxPerTask: -1 } }, 'preemption.maxPerTask'],
  [{ preemption: { maxPerTask: '3' } }, 'preemption.maxPerTask'],
  [{ preemption: { often: 3 } }, 'preemption.often'],
])('refuses %o', (options, field) => {
  expect(() => new Scheduler(options as SchedulerOptions)).toThrow(expect.objectContaining({ field }));
});
