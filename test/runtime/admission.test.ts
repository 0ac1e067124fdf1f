import { expect, test } from 'vitest';
import { Scheduler, describeExplanation, type Load, type SchedulerOptions } from '../../src/index.js';
import { LoopDelay } from '../../src/runtime/loop-delay.js';
import { VirtualClock } from '../../src/testing/index.js';
import { counted } from '../counting.js';

const { operations, Scheduler: Counted } = counted();

function held(options: SchedulerOptions): { readonly scheduler: Scheduler; readonly clock: VirtualClock } {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ clock, ...options }) };
}

test('C8.4 a scheduler tells its load, event-loop delay included', async () => {
  const { scheduler, clock } = held({ concurrency: 1, maxPending: 2, resources: { gpu: 2 } });
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  scheduler.add(() => opened, { needs: { gpu: 1 } });
  await clock.advance(0);
  scheduler.add(() => 1);
  await clock.advance(30);
  scheduler.add(() => 2);
  scheduler.add(() => 3);
  const load = scheduler.load();
  expect(load).toMatchObject({ pending: 2, ready: 2, running: 1, waiting: 1, saturated: true, oldestWaitMs: 30 });
  expect([load.slots.share, load.resources.get('gpu')?.share]).toEqual([1, 0.5]);
  expect(load.eventLoopDelayMs).toBe(0);
  open();
  await scheduler.onIdle();
  expect(scheduler.load()).toMatchObject({ pending: 0, running: 0, oldestWaitMs: 0, waits: { count: 4 } });
  await scheduler.close();
});

test('C8.4 a scheduler shows rates and limits, as they were set and as they are changed', async () => {
  const { scheduler, clock } = held({
    concurrency: 3,
    resources: { gpu: 2, api: { rate: 60, per: '1m', burst: 10 } },
    limits: { global: 50, perType: { mail: { concurrency: 2, rate: 5 } }, perChannel: { '*': 4, gold: 8 } },
  });
  let open = (): void => undefined;
  scheduler.define('mail', () => new Promise<void>((resolve) => (open = resolve)));
  void scheduler.add('mail', {}, { needs: { gpu: 1, api: 4 }, channel: 'gold' });
  await clock.advance(0);
  const load = scheduler.load();
  expect(load.workers).toEqual(new Map([['local', { used: 1, capacity: 3, share: 1 / 3 }]]));
  expect(load.resources.get('api')).toMatchObject({ used: 4, rate: { rate: 60, perMs: 60_000, burst: 10, tokens: 6 } });
  expect(load.limits.global).toEqual({ used: 1, capacity: 50, share: 0.02 });
  expect(load.limits.perType.get('mail')).toMatchObject({ used: 1, capacity: 2, rate: { burst: 5, tokens: 4 } });
  expect([...load.limits.perChannel]).toEqual([
    ['*', { used: 0, capacity: 4, share: 0 }],
    ['gold', { used: 1, capacity: 8, share: 0.125 }],
  ]);
  scheduler.setCapacity('gpu', 4);
  scheduler.setCapacity('api', { rate: 30, per: '1m', burst: 10 });
  scheduler.setLimit({ global: 2, perChannel: { gold: 1 } });
  await clock.advance(2_000);
  const after = scheduler.load();
  expect([after.resources.get('gpu')?.capacity, after.resources.get('api')?.rate?.tokens]).toEqual([4, 7]);
  expect([after.limits.global.share, after.limits.perChannel.get('gold')?.share]).toEqual([0.5, 1]);
  open();
  await scheduler.close();
});

test('C8.4 C8.5 a look at the load costs nothing for channels and types until somebody looks at the limits', () => {
  const cost = (channels: number): { readonly load: number; readonly limits: number } => {
    const scheduler = new Counted({ concurrency: 0, limits: { perChannel: { '*': 4 } } });
    for (let i = 0; i < channels; i += 1) void scheduler.add(() => 1, { channel: `c${i}` });
    scheduler.load();
    let load: Load | undefined;
    return {
      load: operations(() => {
        load = scheduler.load();
      }),
      limits: operations(() => load?.limits),
    };
  };
  const [few, many] = [cost(100), cost(1_000)];
  expect(many.load).toBeLessThanOrEqual(few.load + 10);
  expect(many.limits).toBeGreaterThan(900);
});

test('C8.4 the event loop is measured only while somebody asks', () => {
  const delay = new LoopDelay();
  delay.rest(0);
  expect(delay.isMeasuring).toBe(false);
  expect(delay.read(0)).toBe(0);
  expect(delay.read(9_000)).toBeGreaterThanOrEqual(0);
  delay.rest(18_999);
  expect(delay.isMeasuring).toBe(true);
  delay.rest(19_000);
  expect(delay.isMeasuring).toBe(false);
});

test('C8.5 admit holds starts back, and is asked again at the next change or after its interval, not in between', async () => {
  let asked = 0;
  let allowed = false;
  const seen: Load[] = [];
  const admit = (load: Load): boolean => {
    asked += 1;
    seen.push(load);
    return allowed;
  };
  const { scheduler, clock } = held({ concurrency: 2, admit, admitEvery: '1s' });
  const first = scheduler.add(() => 'first');
  await clock.advance(999);
  expect([asked, first.state]).toEqual([1, 'ready']);
  await clock.advance(1);
  expect([asked, first.state]).toEqual([2, 'ready']);
  scheduler.add(() => 'second');
  await clock.advance(0);
  expect(asked).toBe(3);
  expect(seen.at(-1)).toMatchObject({ ready: 2, oldestWaitMs: 1_000 });
  allowed = true;
  await clock.advance('1s');
  expect(await first).toBe('first');
  await scheduler.onIdle();
  const before = asked;
  await clock.advance('1h');
  expect(asked).toBe(before);
  await scheduler.close();
});

test('C8.5 C13.1 explain names admit while it holds starts back, for whoever has not begun', async () => {
  let allowed = true;
  const { scheduler, clock } = held({ concurrency: 1, admit: () => allowed, admitEvery: '1s' });
  const awaited = scheduler.add(() => clock.sleep(100));
  const parent = scheduler.add(async (task) => task.waitFor(awaited), { id: 'parent', priority: 'high' });
  const busy = scheduler.add(() => clock.sleep(1_000), { id: 'busy', priority: 'low' });
  await clock.advance(50);
  allowed = false;
  const held1 = scheduler.add(() => 1, { id: 'held', after: [awaited] });
  await clock.advance(50);
  const explained = scheduler.explain('held');
  expect(explained).toMatchObject({ kind: 'ready', obstacles: [{ kind: 'admit', remainingMs: 1_000 }] });
  expect(describeExplanation(explained)).toContain('`admit` holds starts back, and is asked again in 1000 ms');
  await clock.advance(300);
  expect(scheduler.explain('held')).toMatchObject({ obstacles: [{ kind: 'admit', remainingMs: 700 }] });
  await parent;
  scheduler.pause();
  expect(scheduler.explain('held')).toMatchObject({ obstacles: [{ kind: 'paused' }] });
  allowed = true;
  scheduler.resume();
  await clock.until(held1);
  await clock.until(busy);
  expect(scheduler.explain('held')).toMatchObject({ kind: 'final' });
  await scheduler.close();
});

test('C13.1 of an attempt that may go on explain does not say that nothing starts', async () => {
  let allowed = true;
  const { scheduler, clock } = held({ concurrency: 1, admit: () => allowed });
  const awaited = scheduler.add(() => 1, { delay: '1h' });
  scheduler.add(async (task) => task.waitFor(awaited), { id: 'parent' }).catch(() => undefined);
  await clock.settle();
  void scheduler.add(() => clock.sleep('1m'), { id: 'busy' });
  await clock.settle();
  allowed = false;
  awaited.cancel();
  await clock.settle();
  const busy = { obstacles: [{ kind: 'slots' }], attempt: 'parent#1' };
  expect(scheduler.explain('parent')).toMatchObject(busy);
  scheduler.pause();
  expect(scheduler.explain('parent')).toMatchObject(busy);
  await clock.until(scheduler.close({ drain: '2m' }));
});

test('C8.5 a task whose time comes is not started unasked', async () => {
  const { scheduler, clock } = held({ admit: () => false });
  const handle = scheduler.add(() => 1, { delay: '1m' });
  await clock.advance('2m');
  expect(handle.state).toBe('ready');
  handle.cancel();
  await scheduler.close();
});

test('C8.5 once nothing is ready any more, nobody is asked and no timer is left', async () => {
  const { scheduler, clock } = held({ admit: () => false, admitEvery: '1s' });
  const handle = scheduler.add(() => 1);
  await clock.advance(10);
  expect(clock.timers.length).toBe(1);
  handle.cancel();
  await clock.advance(10);
  expect(clock.timers.length).toBe(0);
  await scheduler.close();
});

test('C8.5 a claim that comes before the alarm asks about what has become due by then', async () => {
  let moment = { wall: Date.parse('2030-01-01T00:00:00Z'), mono: 0 };
  const nothing = (): void => undefined;
  const clock = { now: () => moment, setTimer: () => ({ cancel: nothing, ref: nothing, unref: nothing }) };
  let asked = 0;
  const admit = (): boolean => {
    asked += 1;
    return false;
  };
  const scheduler = new Scheduler({ concurrency: 0, clock, admit });
  scheduler.add(() => 1, { delay: 100 });
  scheduler.add(() => 2, { delay: 900 });
  const worker = scheduler.worker();
  expect([await worker.claim(), asked]).toEqual([undefined, 0]);
  moment = { wall: moment.wall + 500, mono: 500 };
  expect([await worker.claim(), asked]).toEqual([undefined, 1]);
  await scheduler.close();
});

test('C8.5 pulling workers are held back as well, each time for one more start', async () => {
  const { scheduler, clock } = held({ concurrency: 0, admit: ({ running }) => running < 2 });
  for (let i = 0; i < 5; i += 1) scheduler.add(() => i);
  const worker = scheduler.worker();
  const claims = await worker.claimBatch(5);
  expect(claims.length).toBe(2);
  expect(await scheduler.assign(5)).toEqual([]);
  const waiting = worker.next();
  await claims[0]?.complete();
  await clock.advance(0);
  expect((await waiting).task.id).toBe('task-3');
  await worker.close();
});

test('C8.5 a batch is distributed one by one: admit is asked before each start', async () => {
  const { scheduler } = held({ concurrency: 0, admit: ({ running }) => running < 2 });
  for (let i = 0; i < 5; i += 1) scheduler.add(() => i);
  const workers = [scheduler.worker({ slots: 2 }), scheduler.worker({ slots: 2 })];
  const claims = await scheduler.assign(5);
  expect(claims.map(({ task, workerId }) => `${task.id} > ${workerId}`)).toEqual([
    'task-1 > worker-1',
    'task-2 > worker-2',
  ]);
  await expect(scheduler.assign(NaN)).rejects.toMatchObject({ code: 'INVALID_CONFIG', field: 'count' });
  for (const worker of workers) await worker.close();
});

test.each([
  ['throws', () => expect.fail('out of order'), 'threw an error "out of order"'],
  ['gives nothing', () => undefined, 'gave undefined'],
  ['gives a promise', () => Promise.resolve(false), 'gave a Promise'],
  ['gives a number', () => 0, 'gave 0'],
])('C8.5 when admit %s it counts as yes, and is told of once', async (_, admit, what) => {
  const { scheduler } = held({ admit: admit as unknown as () => boolean });
  const told: string[] = [];
  scheduler.on('error', ({ error, eventName }) => told.push(String(error), String(eventName)));
  expect(await scheduler.add(() => 'ran')).toBe('ran');
  expect(await scheduler.add(() => 'again')).toBe('again');
  await scheduler.onIdle();
  await scheduler.close();
  expect(told).toEqual([expect.stringContaining(`may start, it ${what}. That counts as a yes`), 'undefined']);
});

test.each([
  [{ admit: 'yes' }, 'admit'],
  [{ admit: () => true, admitEvery: 0 }, 'admitEvery'],
])('C8.5 bad input: %j is refused', (options, field) => {
  expect(() => new Scheduler(options as unknown as SchedulerOptions)).toThrow(expect.objectContaining({ field }));
});
