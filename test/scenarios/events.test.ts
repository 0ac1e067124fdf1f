import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import {
  StrategyError,
  CancelledError,
  ExpiredError,
  InvalidConfigError,
  Scheduler,
  type EventName,
  type SchedulerEvents,
  type SchedulerOptions,
  type TaskContext,
} from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

const nothing = (): unknown => undefined;
const fail = (): never => {
  throw new Error('no');
};
const TASK_EVENTS = [
  ...(['added', 'ready', 'started', 'completed', 'failed', 'retrying'] as const),
  ...(['cancelled', 'skipped', 'expired', 'lost', 'deadlineMissed'] as const),
];

function observed(options: SchedulerOptions = {}, names: readonly EventName[] = TASK_EVENTS) {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 1, ...options });
  const told: [EventName, SchedulerEvents[EventName]][] = [];
  for (const name of names) scheduler.on(name, (event) => told.push([name, event]));
  const story = (): string[] => told.map(([name, event]) => ('taskId' in event ? `${name} ${event.taskId}` : name));
  const of = <Name extends EventName>(name: Name): SchedulerEvents[Name][] =>
    told.filter(([each]) => each === name).map(([, event]) => event as SchedulerEvents[Name]);
  return { clock, scheduler, story, of };
}

test('row 34 the order of events is the order of facts', async () => {
  const { scheduler, story } = observed();
  const a = scheduler.add(() => 1, { id: 'a' });
  scheduler.add(fail, { id: 'b', after: [a], retry: 2 });
  scheduler.add(nothing, { id: 'c', after: ['b'], onDependencyFailure: 'skip' });
  await scheduler.onIdle();
  expect(story()).toEqual([
    ...['added a', 'ready a', 'added b', 'added c', 'started a', 'completed a', 'ready b'],
    ...['started b', 'retrying b', 'ready b', 'started b', 'failed b', 'skipped c'],
  ]);
});

test('D10.3 each event about a task states task, attempt, channel, level and worker', async () => {
  const { clock, scheduler, of } = observed({ concurrency: 1 });
  const options = { channel: 'acme', priority: 'high' } as const;
  scheduler.add(nothing, { ...options, id: 'a' });
  scheduler.add(fail, { ...options, id: 'b', retry: { attempts: 2, base: '1s', jitter: false } });
  scheduler.add(nothing, { ...options, id: 'c', after: ['b'], onDependencyFailure: 'skip' });
  scheduler.add(nothing, { ...options, id: 'd', delay: '1h', expires: clock.now().wall + 100 });
  scheduler.add(nothing, { ...options, id: 'e', delay: '1h', deadline: clock.now().wall + 100 }).cancel('enough');
  scheduler.add(nothing, { ...options, id: 'f', delay: '2s', deadline: clock.now().wall + 100 });
  await clock.advance('1m');
  for (const name of TASK_EVENTS.filter((each) => each !== 'lost')) {
    expect(of(name), name).not.toEqual([]);
    for (const event of of(name)) expect(event, name).toMatchObject({ channel: 'acme', priority: 1 });
  }
  const ran = { attempt: 1, workerId: 'local' };
  expect(of('added')[0]).toMatchObject({ taskId: 'a', attempt: undefined, workerId: undefined });
  expect(of('started').map(({ taskId, attempt }) => [taskId, attempt])).toEqual([
    ...[
      ['a', 1],
      ['b', 1],
      ['b', 2],
      ['f', 1],
    ],
  ]);
  expect(of('completed')[0]).toMatchObject({ ...ran, taskId: 'a', durationMs: 0, result: undefined });
  expect(of('retrying')[0]).toMatchObject({ ...ran, taskId: 'b', delayMs: 1_000, because: 'failure' });
  expect(of('failed')[0]).toMatchObject({ ...ran, attempt: 2, taskId: 'b', error: new Error('no') });
  expect(of('skipped')[0]).toMatchObject({ taskId: 'c', attempt: undefined, dependencyId: 'b' });
  expect(of('expired')[0]).toMatchObject({ taskId: 'd', error: expect.any(ExpiredError) as unknown });
  expect(of('cancelled')).toMatchObject([{ taskId: 'e', error: expect.any(CancelledError) as unknown }]);
  expect(of('deadlineMissed')[0]).toMatchObject({ taskId: 'f', deadline: clock.now().wall - 60_000 + 100 });
});

test('B10.3 whoever awaits an expired task gets ExpiredError, and it is told once, as is a deadline that was missed', async () => {
  const { clock, scheduler, story, of } = observed({}, ['expired', 'cancelled', 'deadlineMissed', 'completed']);
  const expires = clock.now().wall + 100;
  const expired = scheduler.add(nothing, { id: 'expired', delay: '1h', expires });
  const late = scheduler.add(() => 'done', { id: 'late', delay: '1h', deadline: expires });
  const error: unknown = expired.result.catch((reason: unknown) => reason);
  await clock.advance(99);
  expect(story()).toEqual([]);
  await clock.advance(1);
  expect(await error).toBeInstanceOf(ExpiredError);
  expect(await error).toMatchObject({ code: 'EXPIRED', taskId: 'expired', expires });
  expect(expired.state).toBe('cancelled');
  await clock.advance('1h');
  expect(await late).toBe('done');
  expect(story().sort()).toEqual(['completed late', 'deadlineMissed late', 'expired expired']);
  expect(of('expired')[0]).toMatchObject({ taskId: 'expired', error: await error });
  expect(of('deadlineMissed')[0]).toMatchObject({ taskId: 'late', deadline: expires });
  await scheduler.close();
});

test('D10.3 an attempt that is lost names its worker, and so does what comes of it', async () => {
  const { clock, scheduler, of, story } = observed({ concurrency: 0 });
  scheduler.add(nothing, { id: 'a' });
  await scheduler.worker({ id: 'w', lease: '1s' }).claim();
  await clock.advance('1s');
  expect(story().slice(2)).toEqual(['started a', 'lost a', 'retrying a', 'ready a']);
  expect(of('lost')).toMatchObject([{ attempt: 1, workerId: 'w' }]);
  expect(of('retrying')).toMatchObject([{ attempt: 1, workerId: 'w', because: 'loss', delayMs: 0 }]);
  expect(of('ready').map(({ workerId }) => workerId)).toEqual([undefined, undefined]);
});

test('D10.3 what is cancelled while it runs names its worker, and not when it is cancelled later', async () => {
  const { scheduler, of } = observed({ concurrency: 0 });
  const worker = scheduler.worker({ id: 'w' });
  scheduler.add(nothing, { id: 'a' });
  await worker.claim();
  scheduler.cancel('a');
  scheduler.add(nothing, { id: 'b' });
  await (await worker.claim())?.release();
  scheduler.cancel('b');
  await scheduler.onIdle();
  expect(of('cancelled')).toMatchObject([
    { taskId: 'a', attempt: 1, workerId: 'w' },
    { taskId: 'b', attempt: 1, workerId: undefined },
  ]);
});

test('D10.3 the distribution of claims states for each channel what was claimed and what is pending', async () => {
  const { clock, scheduler, of } = observed({ strategy: 'fair' }, ['claims']);
  const sleep = (): Promise<void> => new Promise((resolve) => clock.setTimer(resolve, 4_000));
  for (const channel of ['x', 'x', 'x', 'y', 'y', 'z']) scheduler.add(sleep, { channel });
  await clock.advance('21s');
  const seen = of('claims').map(({ channels }) =>
    channels.map(({ channel, claimed, pending }) => [channel, claimed, pending]),
  );
  expect(seen).toEqual([
    [
      ['x', 1, 2],
      ['y', 0, 2],
      ['z', 0, 1],
    ],
    [
      ['x', 2, 1],
      ['y', 1, 1],
      ['z', 1, 0],
    ],
  ]);
  await clock.advance('4s');
  expect(
    of('claims')
      .at(-1)
      ?.channels.map(({ claimed, pending }) => [claimed, pending]),
  ).toEqual([
    [3, 0],
    [2, 0],
    [1, 0],
  ]);
});

test('row 34 a listener that throws or rejects disturbs nobody, and becomes an error event', async () => {
  const { scheduler, story, of } = observed({}, ['completed', 'error']);
  const broken = new Error('broken');
  scheduler.on('started', () => {
    throw broken;
  });
  scheduler.on('started', () => Promise.reject(broken));
  let later = 0;
  scheduler.on('started', () => (later += 1));
  expect(await scheduler.add(() => 7, { id: 'a' })).toBe(7);
  expect(later).toBe(1);
  expect(story().sort()).toEqual(['completed a', 'error', 'error']);
  expect(of('error')).toEqual([
    { error: broken, eventName: 'started' },
    { error: broken, eventName: 'started' },
  ]);
});

test('A1.4 row 34 a strategy whose rank is no number becomes an error event, and its task still runs', async () => {
  const { scheduler, of } = observed({ strategy: { name: 'mine', rank: () => NaN, describe: () => 'mine' } }, [
    'error',
  ]);
  expect(await scheduler.add(() => 7, { id: 'a' })).toBe(7);
  expect(await scheduler.add(() => 8, { id: 'b' })).toBe(8);
  const [told, ...others] = of('error');
  expect([told?.eventName, others]).toEqual([undefined, []]);
  expect(told?.error).toBeInstanceOf(StrategyError);
  expect(told?.error).toMatchObject({ code: 'STRATEGY', by: 'rank', strategy: 'mine', taskId: 'a', value: NaN });
});

test('row 34 a listener to errors that throws is not told of itself', async () => {
  const { scheduler, of } = observed({}, ['error']);
  scheduler.on('error', fail);
  scheduler.on('added', fail);
  await scheduler.add(nothing);
  expect(of('error')).toHaveLength(1);
});

test('row 34 what a listener adds or cancels is told after what is being told, to every listener', async () => {
  const scheduler = new Scheduler({ concurrency: 1 });
  const story: string[] = [];
  scheduler.once('added', () => {
    scheduler.add(nothing, { id: 'b' });
    scheduler.add(nothing, { id: 'c' }).cancel();
    story.push('done with a');
  });
  scheduler.on('added', ({ taskId }) => story.push(`added ${taskId}`));
  scheduler.on('cancelled', ({ taskId }) => story.push(`cancelled ${taskId}`));
  scheduler.add(nothing, { id: 'a' });
  await scheduler.onIdle();
  expect(story).toEqual(['done with a', 'added a', 'added b', 'added c', 'cancelled c']);
});

test('row 34 a listener may close the scheduler', async () => {
  const { scheduler, story } = observed({}, ['completed', 'cancelled', 'idle']);
  let closed: Promise<void> | undefined;
  scheduler.once('completed', () => {
    closed = scheduler.close();
  });
  scheduler.add(nothing, { id: 'a' });
  scheduler.add(nothing, { id: 'b', delay: '1h' });
  await scheduler.onIdle();
  await closed;
  expect(story()).toEqual(['completed a', 'cancelled b', 'idle']);
});

test('empty and idle are told once for each time that they come true', async () => {
  const { clock, scheduler, story } = observed({}, ['completed', 'empty', 'idle']);
  const sleep = (): Promise<void> => new Promise((resolve) => clock.setTimer(resolve, 10));
  scheduler.add(sleep, { id: 'a' });
  scheduler.add(sleep, { id: 'b' });
  await clock.advance(20);
  expect(story()).toEqual(['completed a', 'empty', 'completed b', 'idle']);
  await clock.advance('1h');
  scheduler.pauseChannel('x');
  await clock.settle();
  expect(story()).toHaveLength(4);
  scheduler.add(nothing, { id: 'c' }).cancel();
  await clock.settle();
  expect(story().slice(4)).toEqual(['empty', 'idle']);
});

test('whoever awaits a task goes on after its events were told', async () => {
  const { scheduler, story } = observed();
  await scheduler.add(nothing, { id: 'a' });
  expect(story()).toEqual(['added a', 'ready a', 'started a', 'completed a']);
  await scheduler.add(fail, { id: 'b' }).catch(nothing);
  expect(story().at(-1)).toBe('failed b');
});

test('D10.3 handlers tell how far they have come, in order with what else happens', async () => {
  const { scheduler, story, of } = observed({}, ['started', 'progress', 'completed']);
  const half = (task: TaskContext): void => {
    task.progress(0.5);
    task.progress({ page: 3 });
  };
  await scheduler.add(half, { id: 'a', channel: 'acme' });
  expect(story()).toEqual(['started a', 'progress a', 'progress a', 'completed a']);
  expect(of('progress')).toMatchObject([
    { attempt: 1, workerId: 'local', channel: 'acme', priority: 2, progress: 0.5 },
    { attempt: 1, workerId: 'local', channel: 'acme', priority: 2, progress: { page: 3 } },
  ]);
});

test('listeners are told in the context in which the scheduler was made', async () => {
  const storage = new AsyncLocalStorage<string>();
  const { scheduler } = storage.run('maker', () => observed({}, []));
  const seen: unknown[] = [];
  scheduler.on('added', () => seen.push(storage.getStore()));
  await storage.run('adder', () => scheduler.add(nothing));
  expect(seen).toEqual(['maker']);
});

test('D10.3 what is refused is told with its error, whatever it was refused for', async () => {
  const { clock, scheduler, of } = observed({ concurrency: 0, maxPending: 2, maxWaiting: 1 }, ['added', 'refused']);
  const options = { channel: 'acme', priority: 'low' } as const;
  for (const id of ['a', 'a', 'b', 'waits', 'c']) scheduler.add(nothing, { ...options, id }).catch(nothing);
  scheduler.cancel('waits');
  for (const handle of scheduler.addAll([{ run: nothing, id: 'd', after: ['unknown'] }])) handle.catch(nothing);
  await clock.settle();
  const about = { channel: 'acme', priority: 3, attempt: undefined, workerId: undefined };
  expect(of('added').map(({ taskId }) => taskId)).toEqual(['a', 'b']);
  expect(of('refused').slice(0, 3)).toMatchObject([
    { ...about, taskId: 'a', error: { code: 'DUPLICATE_TASK' } },
    { ...about, taskId: 'c', error: { code: 'SATURATED' } },
    { ...about, taskId: 'waits', error: { code: 'CANCELLED' } },
  ]);
  void scheduler.close();
  scheduler.add(nothing, { id: 'late' }).catch(nothing);
  await clock.settle();
  expect(of('refused').at(-1)).toMatchObject({ taskId: 'late', error: { code: 'CLOSED' } });
});

test('C8.1 relief is told once the low mark is reached, and only then does being full count anew', async () => {
  const options = { concurrency: 0, maxPending: 4, lowWater: 1, whenFull: 'reject' } as const;
  const { clock, scheduler, story, of } = observed(options, ['saturated', 'relieved']);
  const handles: { cancel(): unknown }[] = [];
  const add = (count: number): Promise<unknown> => {
    for (let i = 0; i < count; i += 1) {
      const handle = scheduler.add(nothing);
      handle.catch(nothing);
      handles.push(handle);
    }
    return clock.settle();
  };
  const cancel = async (count: number): Promise<void> => {
    for (const handle of handles.splice(0, count)) handle.cancel();
    await clock.settle();
  };
  await add(4);
  await cancel(2);
  await add(2);
  expect([scheduler.size, scheduler.saturated, story()]).toEqual([4, true, ['saturated']]);
  await cancel(2);
  expect(story()).toEqual(['saturated']);
  await cancel(1);
  expect([scheduler.saturated, story()]).toEqual([false, ['saturated', 'relieved']]);
  expect(of('relieved')).toEqual([{ pending: 1, maxPending: 4, at: clock.now().wall }]);
  await add(3);
  expect(story()).toEqual(['saturated', 'relieved', 'saturated']);
});

test('a full scheduler says so once', async () => {
  const { clock, scheduler, of } = observed({ concurrency: 0, maxPending: 2, whenFull: 'reject' }, ['saturated']);
  for (let i = 0; i < 3; i += 1) scheduler.add(nothing).catch(nothing);
  await clock.settle();
  expect(of('saturated')).toEqual([{ pending: 2, maxPending: 2, at: clock.now().wall }]);
});

test('listeners are told from then on, once if they like, and until they go', async () => {
  const scheduler = new Scheduler();
  await scheduler.add(nothing, { id: 'a' });
  const story: string[] = [];
  const listener = ({ taskId }: { taskId: string }): unknown => story.push(taskId);
  scheduler.on('completed', listener).once('completed', ({ taskId }) => story.push(`once ${taskId}`));
  await scheduler.add(nothing, { id: 'b' });
  await scheduler.add(nothing, { id: 'c' });
  scheduler.off('completed', listener);
  await scheduler.add(nothing, { id: 'd' });
  expect(story).toEqual(['b', 'once b', 'c']);
});

test('an unknown event and a listener that is none are refused', () => {
  const scheduler = new Scheduler();
  expect(() => scheduler.on('complete' as 'completed', nothing)).toThrow(InvalidConfigError);
  expect(() => scheduler.on('complete' as 'completed', nothing)).toThrow(/one of added, refused, ready/);
  expect(() => scheduler.once('completed', 'nobody' as never)).toThrow(/listener/);
});
