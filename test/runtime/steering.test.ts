import { beforeEach, describe, expect, test } from 'vitest';
import {
  Scheduler,
  describeExplanation,
  type CancelOptions,
  type Handle,
  type SchedulerOptions,
  type TaskFilter,
} from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

let clock: VirtualClock;
let order: string[];
beforeEach(() => {
  clock = new VirtualClock();
  order = [];
});

function make(options: SchedulerOptions = {}): Scheduler {
  return new Scheduler({ concurrency: 1, clock, ...options });
}

/** Adds tasks that note their ids when they run. */
function add(scheduler: Scheduler, ...ids: string[]): Handle<number>[] {
  return ids.map((id) => scheduler.add(() => order.push(id), { id }));
}

/** A task that runs until it is let go. */
function hold(scheduler: Scheduler, id: string): { readonly handle: Handle<void>; readonly letGo: () => void } {
  let letGo = (): void => undefined;
  const handle = scheduler.add(
    () =>
      new Promise<void>((resolve) => {
        letGo = resolve;
      }),
    { id },
  );
  return {
    handle,
    letGo: () => {
      letGo();
    },
  };
}

describe('cancel', () => {
  test('by a function: all unfinished tasks that it accepts, in one step, also those that wait for each other', async () => {
    const scheduler = make({ concurrency: 0 });
    const resize = scheduler.define('resize', (input: number) => input, { channel: 'images' });
    const first = scheduler.add(resize, 1, { priority: 'low' });
    const second = scheduler.add(resize, 2, { after: [first] });
    const [other] = add(scheduler, 'other');
    const seen: unknown[] = [];
    const isImage: TaskFilter = (task) => {
      seen.push(task);
      return task.type === 'resize' && task.channel === 'images';
    };
    expect(scheduler.cancel(isImage, { reason: 'no images' })).toBe(2);
    expect(seen[0]).toMatchObject({ id: 'task-1', state: 'ready', priority: 2, attempts: 0 });
    await expect(first.result).rejects.toMatchObject({ code: 'CANCELLED', reason: 'no images' });
    await expect(second.result).rejects.toMatchObject({ code: 'CANCELLED', reason: 'no images' });
    expect([other?.state, scheduler.cancel(() => false)]).toEqual(['ready', 0]);
    expect(() =>
      scheduler.cancel(() => {
        throw new RangeError('undecided');
      }),
    ).toThrow(RangeError);
    expect(scheduler.size).toBe(1);
  });

  test('by id or handle, alone or with all that come after', async () => {
    const scheduler = make({ concurrency: 0 });
    const [a, b] = add(scheduler, 'a', 'b') as [Handle<number>, Handle<number>];
    const afterA = scheduler.add(() => 1, { after: [a] });
    const afterB = scheduler.add(() => 1, { after: [scheduler.add(() => 1, { after: [b] })] });
    expect(scheduler.cancel('a')).toBe(1);
    expect(scheduler.cancel(b, { cascade: true })).toBe(3);
    await expect(afterA.result).rejects.toMatchObject({ code: 'DEPENDENCY_FAILED' });
    await expect(afterB.result).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  const malformed: readonly [unknown, unknown, string, string][] = [
    [7, undefined, 'INVALID_TASK', 'task'],
    [new Scheduler().add(() => 1), undefined, 'INVALID_TASK', 'task'],
    ['a', 'because', 'INVALID_TASK', 'options'],
    ['a', { cascade: 'yes' }, 'INVALID_TASK', 'cascade'],
    ['a', { reason: 5 }, 'INVALID_TASK', 'reason'],
    ['a', { resaon: 'x' }, 'INVALID_TASK', 'options.resaon'],
  ];
  test.each(malformed)('bad input: cancel(%o, %o) is refused', (which, options, code, field) => {
    const scheduler = make({ concurrency: 0 });
    add(scheduler, 'a');
    expect(() => scheduler.cancel(which as string, options as CancelOptions)).toThrow(
      expect.objectContaining({ code, field }),
    );
    expect(() => scheduler.cancel('nobody')).toThrow(expect.objectContaining({ code: 'UNKNOWN_TASK' }));
    expect(scheduler.size).toBe(1);
  });
});

test('F2 clear takes back all that have not begun, also those that wait to be let in, and lets the rest finish', async () => {
  const scheduler = make({ maxPending: 2, maxWaiting: 5 });
  const { handle, letGo } = hold(scheduler, 'running');
  await clock.settle();
  const [ready, after, outside] = [
    ...add(scheduler, 'ready'),
    scheduler.add(() => 1, { after: ['ready'] }),
    ...add(scheduler, 'outside'),
  ];
  expect([scheduler.size, scheduler.waiting]).toEqual([2, 1]);
  expect(scheduler.clear()).toBe(3);
  for (const each of [ready, after, outside]) {
    await expect(each?.result).rejects.toMatchObject({ code: 'CANCELLED', reason: 'cleared' });
  }
  expect([scheduler.size, scheduler.waiting, scheduler.clear()]).toEqual([0, 0, 0]);
  letGo();
  await handle;
  expect(order).toEqual([]);
});

test('B10 retry runs a failed task again, and its handle tells the new outcome to whoever asks then', async () => {
  const scheduler = make();
  let fails = true;
  const flaky = scheduler.add(() => {
    if (fails) throw new Error('not yet');
    return 'done';
  });
  await expect(flaky.result).rejects.toThrow('not yet');
  fails = false;
  scheduler.retry(flaky);
  expect(await flaky).toBe('done');
  expect(() => {
    scheduler.retry(flaky.id);
  }).toThrow(expect.objectContaining({ code: 'ILLEGAL_TRANSITION' }));
  expect(() => {
    scheduler.retry('nobody');
  }).toThrow(expect.objectContaining({ code: 'UNKNOWN_TASK' }));
});

test('C5.1 setPriority, by the scheduler or the handle, counts for the next start', async () => {
  const scheduler = make();
  const [, b, c] = add(scheduler, 'a', 'b', 'c') as [Handle<number>, Handle<number>, Handle<number>];
  scheduler.setPriority('c', 'critical');
  b.setPriority('high');
  expect(scheduler.get('b')?.priority).toBe(1);
  await scheduler.onIdle();
  expect(order).toEqual(['c', 'b', 'a']);
  expect(() => {
    c.setPriority('high');
  }).toThrow(expect.objectContaining({ code: 'ILLEGAL_TRANSITION' }));
  const [waiting] = add(scheduler, 'd');
  expect(() => waiting?.setPriority(NaN)).toThrow(expect.objectContaining({ field: 'priority' }));
  const refused = scheduler.add(() => 1, { after: ['nobody'] });
  expect(() => {
    refused.setPriority('high');
  }).toThrow(expect.objectContaining({ code: 'UNKNOWN_TASK' }));
});

test('C2 dependencies are added and removed while tasks wait; a circle is refused', async () => {
  const scheduler = make();
  scheduler.pause();
  const [a, b] = add(scheduler, 'a', 'b') as [Handle<number>, Handle<number>];
  scheduler.addDependency(a, b);
  expect([a.state, a.explain()]).toMatchObject(['waiting', { kind: 'waiting', dependencies: [{ task: 'b' }] }]);
  expect(() => {
    scheduler.addDependency('b', 'a', { onFailure: 'run' });
  }).toThrow(expect.objectContaining({ code: 'CYCLE' }));
  scheduler.removeDependency('a', 'b');
  expect(a.state).toBe('ready');
  scheduler.addDependency('a', 'b', { onFailure: 'skip' });
  b.cancel();
  expect(a.state).toBe('skipped');
  expect(() => {
    scheduler.addDependency('b', 'a', { onFailure: 'maybe' as 'run' });
  }).toThrow(expect.objectContaining({ field: 'onFailure' }));
  for (const [options, field] of [
    [null, 'options'],
    ['run', 'options'],
    [{ onFialure: 'run' }, 'options.onFialure'],
  ] as const) {
    expect(() => {
      scheduler.addDependency('b', 'a', options as never);
    }).toThrow(expect.objectContaining({ code: 'INVALID_TASK', field }));
  }
  expect(() => {
    scheduler.removeDependency('nobody', 'a');
  }).toThrow(expect.objectContaining({ code: 'UNKNOWN_TASK' }));
  await scheduler.close();
});

test('pause holds all starts back, also of workers, until resume; what runs goes on, and explain tells', async () => {
  const scheduler = make();
  const { handle, letGo } = hold(scheduler, 'running');
  const worker = scheduler.worker();
  await clock.settle();
  add(scheduler, 'a', 'b');
  scheduler.pause();
  scheduler.pause();
  letGo();
  await handle;
  await clock.advance('1h');
  expect([await worker.claim(), order, scheduler.paused]).toEqual([undefined, [], true]);
  expect(describeExplanation(scheduler.explain('a'))).toContain('the scheduler is paused');
  const claim = worker.next();
  scheduler.resume();
  expect((await claim).task.id).toBe('b');
  await clock.settle();
  expect([order, scheduler.paused, scheduler.get('a')?.state]).toEqual([['a'], false, 'completed']);
});

test('a paused scheduler lets an attempt go on that waited for another task', async () => {
  const scheduler = make({ concurrency: 2 });
  const { handle: awaited, letGo } = hold(scheduler, 'awaited');
  const waiting = scheduler.add(async (task) => {
    await task.waitFor(awaited);
    return 'went on';
  });
  await clock.settle();
  scheduler.pause();
  letGo();
  expect(await waiting).toBe('went on');
});

test('setConcurrency starts more at once, or no more until enough have ended', async () => {
  const scheduler = make();
  const held = ['a', 'b', 'c', 'd'].map((id) => hold(scheduler, id));
  await clock.settle();
  expect(scheduler.running).toBe(1);
  scheduler.setConcurrency(3);
  await clock.settle();
  expect(scheduler.running).toBe(3);
  scheduler.setConcurrency(1);
  for (const { letGo } of held.slice(0, 2)) letGo();
  await clock.settle();
  expect([scheduler.running, scheduler.size]).toEqual([1, 1]);
  held[2]?.letGo();
  await clock.settle();
  expect([scheduler.running, scheduler.size]).toEqual([1, 0]);
  for (const bad of [-1, 1.5, NaN, '3']) {
    expect(() => {
      scheduler.setConcurrency(bad as number);
    }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field: 'concurrency' }));
  }
  held[3]?.letGo();
  await scheduler.onIdle();
});

test('setLimit takes the form of the option, counts at once, and changes nothing when a part of it is wrong', async () => {
  const scheduler = make({ concurrency: 8 });
  const slow = scheduler.define('slow', () => new Promise<void>((resolve) => clock.setTimer(resolve, 100)));
  scheduler.setLimit({ global: 3, perType: { slow: 2 }, perChannel: { '*': 1 } });
  for (const channel of ['a', 'b', 'c', 'c']) void scheduler.add(slow, undefined, { channel });
  await clock.settle();
  expect(scheduler.running).toBe(2);
  const bad = [
    [{ perType: { slow: 9 }, perChannel: { a: -1 } }, 'limits.perChannel.a'],
    [{ global: 'all' }, 'limits.global'],
    [{ perType: { slow: 9 }, perChanel: {} }, 'limits.perChanel'],
  ] as const;
  for (const [limits, field] of bad) {
    expect(() => {
      scheduler.setLimit(limits as never);
    }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field }));
  }
  await clock.settle();
  expect(scheduler.running).toBe(2);
  scheduler.setLimit({ perType: { slow: Infinity } });
  await clock.settle();
  expect(scheduler.running).toBe(3);
  await clock.advance('1s');
  await scheduler.onIdle();
});

test('A2.1 setStrategy and setWeight decide the next start', async () => {
  const scheduler = make({ strategy: 'fifo' });
  add(scheduler, 'a', 'b', 'c');
  scheduler.setStrategy('lifo');
  await scheduler.onIdle();
  expect(order).toEqual(['c', 'b', 'a']);
  expect(() => {
    scheduler.setStrategy('newest' as 'lifo');
  }).toThrow(/fifo/);
  scheduler.setStrategy('fair');
  scheduler.setWeight('gold', 2);
  order.length = 0;
  for (const channel of ['tin', 'gold']) {
    for (let i = 0; i < 4; i += 1) void scheduler.add(() => order.push(channel), { channel });
  }
  await scheduler.onIdle();
  expect(order.slice(0, 6).filter((channel) => channel === 'gold')).toHaveLength(4);
  for (const [channel, weight] of [
    ['', 1],
    ['gold', 0],
  ] as const) {
    expect(() => {
      scheduler.setWeight(channel, weight);
    }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }));
  }
});

test('get tells what is known of a task, its result or its error, and nothing of an unknown one', async () => {
  const scheduler = make();
  await scheduler.add(() => 'done', { id: 'good' });
  await scheduler.add(() => Promise.reject(new Error('bad')), { id: 'bad' }).catch(() => undefined);
  expect(scheduler.get('good')).toMatchObject({ id: 'good', state: 'completed', result: 'done', attempts: 1 });
  expect(scheduler.get('bad')).toMatchObject({ state: 'failed', result: undefined, error: { message: 'bad' } });
  expect(scheduler.get('nobody')).toBeUndefined();
});
