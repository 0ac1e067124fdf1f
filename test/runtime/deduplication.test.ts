import { expect, test } from 'vitest';
import { Scheduler, type SchedulerOptions } from '../../src/index.js';
import type { Core } from '../../src/core/index.js';
import { VirtualClock } from '../../src/testing/index.js';

const settled = async (promise: PromiseLike<unknown>): Promise<unknown> => {
  try {
    return await promise;
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

const coreOf = (scheduler: Scheduler): Core => (scheduler as unknown as { engine: { core: Core } }).engine.core;

function begin(options: Pick<SchedulerOptions, 'concurrency' | 'maxPending' | 'maxWaiting' | 'whenFull'> = {}): {
  clock: VirtualClock;
  scheduler: Scheduler;
} {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ clock, concurrency: 4, ...options }) };
}

test('F4.4 keep gives a handle of the task that is there, finished or not, and runs nothing twice', async () => {
  const { scheduler } = begin();
  let runs = 0;
  const first = scheduler.add(() => (runs += 1), { id: 'report' });
  const second = scheduler.add(() => 100, { id: 'report', ifExists: 'keep' });
  expect([await first, await second, second.id, second.state]).toEqual([1, 1, 'report', 'completed']);
  const later = await scheduler.submit(() => 100, { id: 'report', ifExists: 'keep' });
  expect(await later.result).toBe(1);
  const failing = scheduler.add(() => Promise.reject(new Error('no')), { id: 'bad' });
  const kept = scheduler.add(() => 1, { id: 'bad', ifExists: 'keep' });
  await expect(failing.result).rejects.toThrow('no');
  await expect(kept.result).rejects.toThrow('no');
  expect(await settled(scheduler.add(() => 1, { id: 'report' }))).toBe('DUPLICATE_TASK');
  await scheduler.close();
});

test('F4.4 keep in a batch: others come after the task that is there, and the same id may stand there twice', async () => {
  const { scheduler } = begin();
  scheduler.add(() => 'old', { id: 'a' });
  const { a, again, after } = scheduler.addAll({
    a: { run: () => 'new', id: 'a', ifExists: 'keep', after: ['after'] },
    again: { run: () => 'newer', id: 'b', ifExists: 'keep' },
    after: { run: (task) => task.dependencies, after: ['a', 'twin'] },
    twin: { run: () => 'newest', id: 'b', ifExists: 'keep' },
  });
  expect([await a, await again, await after]).toEqual(['old', 'newer', ['old', 'newer']]);
  await scheduler.close();
});

test('F4.4 a forgotten task is not there any more: keep runs anew', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, retain: { count: 0 } });
  let runs = 0;
  const run = (): number => (runs += 1);
  expect(await scheduler.add(run, { id: 'a', ifExists: 'keep' })).toBe(1);
  expect(await scheduler.add(run, { id: 'a', ifExists: 'keep' })).toBe(2);
  await scheduler.close();
});

test('F4.4 replace cancels the one that waits, and whoever came after it comes after the new one, results in order', async () => {
  const { scheduler } = begin();
  scheduler.pause();
  const old = scheduler.add(() => 'old', { id: 'a' });
  const other = scheduler.add(() => 'other');
  const dependant = scheduler.add((task) => task.dependencies, { after: [old, other] });
  const fresh = scheduler.add(() => 'new', { id: 'a', ifExists: 'replace' });
  scheduler.resume();
  expect(await settled(old)).toBe('CANCELLED');
  await expect(old.result).rejects.toMatchObject({ reason: 'replaced' });
  expect([await fresh, await dependant]).toEqual(['new', ['new', 'other']]);
  await scheduler.close();
});

test('F4.4 replace aborts the one that runs, and a finished one gives its id away', async () => {
  const { scheduler } = begin();
  let reason: unknown;
  const old = scheduler.add(
    (task) =>
      new Promise((_, reject) => {
        task.signal.addEventListener('abort', () => {
          reason = task.signal.reason;
          reject(task.signal.reason as Error);
        });
      }),
    { id: 'a' },
  );
  await scheduler.add(() => 1);
  expect(old.state).toBe('running');
  const fresh = scheduler.add(() => 'new', { id: 'a', ifExists: 'replace' });
  expect([await settled(old), await fresh]).toEqual(['CANCELLED', 'new']);
  expect(reason).toMatchObject({ code: 'CANCELLED', reason: 'replaced' });
  const dependant = scheduler.add((task) => task.dependencies, { after: [fresh], delay: '1h' });
  const newest = scheduler.add(() => 'newest', { id: 'a', ifExists: 'replace' });
  expect([await newest, dependant.state]).toEqual(['newest', 'delayed']);
  expect(old.cancel()).toBe(false);
  expect(fresh.cancel()).toBe(false);
  await scheduler.close({ drain: 0 });
});

test('F4.4 what may not replace changes nothing: a circle, an unknown dependency, no room, its own parent', async () => {
  const { scheduler } = begin({ maxPending: 2, whenFull: 'reject', concurrency: 1 });
  scheduler.pause();
  const old = scheduler.add(() => 'old', { id: 'a' });
  const dependant = scheduler.add((task) => task.dependencies[0], { id: 'b', after: [old] });
  const replace = { id: 'a', ifExists: 'replace' } as const;
  expect(await settled(scheduler.add(() => 1, { ...replace, after: ['b'] }))).toBe('CYCLE');
  expect(await settled(scheduler.add(() => 1, { ...replace, after: [old] }))).toBe('CYCLE');
  expect(await settled(scheduler.add(() => 1, { ...replace, after: ['nobody'] }))).toBe('UNKNOWN_DEPENDENCY');
  expect(await settled(scheduler.add(() => 1, { ...replace, needs: { gpu: 1 } }))).toBe('UNSCHEDULABLE');
  expect(await settled(scheduler.addAll([{ run: () => 1, ...replace }, { run: () => 2 }])[1])).toBe('SATURATED');
  expect([old.state, dependant.state]).toEqual(['ready', 'waiting']);
  const fresh = scheduler.add((task) => settled(task.add(() => 1, { ...replace, id: 'a' })), replace);
  scheduler.resume();
  expect(await fresh).toBe('INVALID_TASK');
  expect(await dependant).toBe('INVALID_TASK');
  await scheduler.close();
});

test('F4.4 two that replace each other the other way round are no circle, and all of a batch or none', async () => {
  const { scheduler } = begin();
  scheduler.pause();
  const a = scheduler.add(() => 'a', { id: 'a' });
  const b = scheduler.add(() => 'b', { id: 'b', after: [a] });
  const ids = { b: { id: 'b', ifExists: 'replace' }, a: { id: 'a', ifExists: 'replace' } } as const;
  const turned = scheduler.addAll({
    a: { run: (task) => `a after ${String(task.dependencies[0])}`, ...ids.a, after: ['b'] },
    b: { run: () => 'b', ...ids.b },
  });
  scheduler.resume();
  expect([await settled(a), await settled(b)]).toEqual(['CANCELLED', 'CANCELLED']);
  expect([await turned.a, await turned.b]).toEqual(['a after b', 'b']);
  await scheduler.close();
});

test('F4.4 children may be kept and replaced', async () => {
  const { scheduler } = begin();
  const parent = scheduler.add(async (task) => {
    const child = task.add(() => 'child', { id: 'child', delay: '1h' });
    const kept = task.add(() => 'kept', { id: 'child', ifExists: 'keep' });
    const fresh = task.add(() => 'fresh', { id: 'child', ifExists: 'replace' });
    return [await settled(child), await settled(kept), await fresh];
  });
  expect(await parent).toEqual(['CANCELLED', 'CANCELLED', 'fresh']);
  await scheduler.close();
});

test('F4.2 with debounce a burst runs once, after the quiet period that follows its last call, with its last input', async () => {
  const { clock, scheduler } = begin();
  const runs: string[] = [];
  const save = scheduler.define('save', (text: string) => runs.push(text) && text, { debounce: '2s' });
  const first = scheduler.add(save, 'a', { key: 'doc' });
  const early = first.result;
  await clock.advance(1_500);
  const second = scheduler.add(save, 'b', { key: 'doc' });
  await clock.advance(1_999);
  const third = scheduler.add(save, 'c', { key: 'doc' });
  const other = scheduler.add(save, 'x', { key: 'other' });
  await clock.advance(1_999);
  expect(runs).toEqual([]);
  await clock.advance(1);
  expect(runs.sort()).toEqual(['c', 'x']);
  expect(await Promise.all([early, first, second, third, other])).toEqual(['c', 'c', 'c', 'c', 'x']);
  expect(new Set([first.id, second.id, third.id]).size).toBe(1);
  const next = scheduler.add(save, 'd', { key: 'doc' });
  expect(next.id).not.toBe(first.id);
  await clock.advance(2_000);
  expect(await next).toBe('d');
  await scheduler.close();
});

test('F4.2 a debounced task that could start and has no slot waits for quiet anew; one that runs is followed by another', async () => {
  const { clock, scheduler } = begin({ concurrency: 1 });
  const runs: string[] = [];
  const release: (() => void)[] = [];
  const work = (name: string) => async (): Promise<string> => {
    await new Promise<void>((resolve) => release.push(resolve));
    runs.push(name);
    return name;
  };
  scheduler.add(work('busy'));
  const options = { key: 'k', debounce: 1_000 };
  const first = scheduler.add(work('one'), options);
  await clock.advance(1_000);
  expect(first.state).toBe('ready');
  const second = scheduler.add(work('two'), options);
  expect(first.state).toBe('delayed');
  release.pop()?.();
  await clock.advance(999);
  expect(runs).toEqual(['busy']);
  await clock.advance(1);
  expect(second.state).toBe('running');
  const third = scheduler.add(work('three'), options);
  expect(third.id).not.toBe(second.id);
  release.pop()?.();
  expect(await second).toBe('two');
  await clock.advance(1_000);
  release.pop()?.();
  expect([await first, await third]).toEqual(['two', 'three']);
  await scheduler.close();
});

test('F4.2 with throttle at most one starts per period: the first at once, what comes within it shares the next one', async () => {
  const { clock, scheduler } = begin();
  const starts: [string, number][] = [];
  const origin = clock.now().wall;
  const work = (name: string) => (): string => {
    starts.push([name, clock.now().wall - origin]);
    return name;
  };
  const options = { key: 'k', throttle: '1m' };
  const calls = [scheduler.add(work('a'), options)];
  await clock.advance(10_000);
  calls.push(scheduler.add(work('b'), options));
  await clock.advance(10_000);
  calls.push(scheduler.add(work('c'), options));
  await clock.advance(45_000);
  calls.push(scheduler.add(work('d'), options));
  await clock.advance(200_000);
  calls.push(scheduler.add(work('e'), options));
  await clock.advance(0);
  expect(starts).toEqual([
    ['a', 0],
    ['c', 60_000],
    ['d', 120_000],
    ['e', 265_000],
  ]);
  expect(await Promise.all(calls)).toEqual(['a', 'c', 'c', 'd', 'e']);
  await scheduler.close();
});

test('F4.2 a key alone joins the task that is unfinished; definitions do not share keys with each other', async () => {
  const { scheduler } = begin();
  const one = scheduler.define('one', () => 'one');
  const two = scheduler.define('two', () => 'two');
  const handles = [
    scheduler.add(one, undefined, { key: 'k' }),
    scheduler.add(one, undefined, { key: 'k' }),
    scheduler.add(two, undefined, { key: 'k' }),
    ...scheduler.addAll([
      { run: () => 'fn', key: 'k' },
      { run: () => 'not run', key: 'k' },
    ]),
  ];
  expect(await Promise.all(handles)).toEqual(['one', 'one', 'two', 'fn', 'fn']);
  expect(new Set(handles.map(({ id }) => id)).size).toBe(3);
  expect(await scheduler.add(() => 'again', { key: 'k' })).toBe('again');
  await scheduler.close();
});

test('F4.2 the results of dependencies are those that the first call named', async () => {
  const { clock, scheduler } = begin();
  const source = scheduler.add(() => 'source');
  scheduler.add(() => 'not run', { key: 'k', debounce: '1s', after: [source] });
  const last = scheduler.add((task) => task.dependencies, { key: 'k', debounce: '1s' });
  await clock.advance(1_000);
  expect(await last).toEqual(['source']);
  await scheduler.close();
});

test('F4.2 a signal takes the shared task back, and is let go of when that has ended', async () => {
  const { clock, scheduler } = begin();
  const controller = new AbortController();
  const first = scheduler.add(() => 1, { key: 'k', debounce: '1s' });
  const second = scheduler.add(() => 2, { key: 'k', debounce: '1s', signal: controller.signal });
  controller.abort();
  expect([await settled(first), await settled(second)]).toEqual(['CANCELLED', 'CANCELLED']);
  const third = scheduler.add(() => 3, { key: 'k', debounce: '1s' });
  await clock.advance(1_000);
  expect(await third).toBe(3);
  await scheduler.close();
});

test('F4.2 F4.4 what makes no sense together is refused by its name', async () => {
  const { scheduler } = begin();
  const bad = (options: object): (() => unknown) => {
    return () => scheduler.add(() => 1, options);
  };
  const refusal = (field: string): unknown => expect.objectContaining({ code: 'INVALID_TASK', field });
  expect(bad({ ifExists: 'keep' })).toThrow(refusal('ifExists'));
  expect(bad({ id: 'a', ifExists: 'maybe' })).toThrow(refusal('ifExists'));
  expect(bad({ id: 'a', key: 'k', ifExists: 'keep' })).toThrow(refusal('ifExists'));
  expect(bad({ debounce: '1s' })).toThrow(refusal('debounce'));
  expect(bad({ throttle: '1s' })).toThrow(refusal('throttle'));
  expect(bad({ key: 'k', debounce: '1s', throttle: '1s' })).toThrow(refusal('throttle'));
  expect(bad({ key: 'k', debounce: 0 })).toThrow(refusal('debounce'));
  expect(bad({ key: '' })).toThrow(refusal('key'));
  expect(bad({ key: 'k'.repeat(513) })).toThrow(refusal('key'));
  expect(() => scheduler.repeat(() => 1, { every: '1s', key: 'k' } as never)).toThrow(refusal('key'));
  expect(() => scheduler.map([1], () => 1, { key: 'k' })).toThrow(refusal('key'));
  expect(coreOf(scheduler).state.table.size).toBe(0);
  await scheduler.close();
});

test('F4.2 keys are forgotten when their task has ended and their period is over', async () => {
  const { clock, scheduler } = begin();
  for (let round = 0; round < 40; round += 1) {
    for (let at = 0; at < 10; at += 1) scheduler.add(() => 1, { key: `t${round}-${at}`, throttle: '1s' });
    scheduler.add(() => 1, { key: `d${round}`, debounce: '1s' });
    await clock.advance(2_000);
  }
  const core = coreOf(scheduler);
  expect(core.state.keys.size).toBeLessThan(100);
  expect(core.snapshot().keys).toEqual([]);
  core.check();
  await scheduler.close();
});

test('F4.2 F4.4 what joins or keeps a task needs no room, even where children have filled more than there is', async () => {
  const { scheduler } = begin({ maxPending: 1, whenFull: 'reject', concurrency: 1 });
  const children: Promise<unknown>[] = [];
  const parent = scheduler.add((task) => {
    children.push(task.add(() => 'a', { id: 'a' }).result, task.add(() => 'b', { key: 'b' }).result);
    children.push(scheduler.add(() => 1, { id: 'a', ifExists: 'keep' }).result);
    children.push(scheduler.add(() => 1, { key: 'b' }).result);
    children.push(settled(scheduler.add(() => 1)));
  });
  await parent;
  expect(await Promise.all(children)).toEqual(['a', 'b', 'a', 'b', 'SATURATED']);
  await scheduler.close();
});

test('F4.2 F4.4 a call that stands in line is decided when it is let in, and a debounce counts from then', async () => {
  const { clock, scheduler } = begin({ maxPending: 1, maxWaiting: 2, whenFull: 'wait' });
  const early = scheduler.add(() => 'early', { id: 'a', delay: '10s' });
  const kept = scheduler.add(() => 'not run', { id: 'a', ifExists: 'keep' });
  const quiet = scheduler.add(() => 'quiet', { key: 'k', debounce: '1s' });
  expect([kept.state, quiet.state]).toEqual(['waiting', 'waiting']);
  await clock.advance(10_000);
  expect(await kept).toBe(await early);
  await clock.advance(999);
  expect(quiet.state).toBe('delayed');
  await clock.advance(1);
  expect(await quiet).toBe('quiet');
  await scheduler.close();
});

test('F4.2 F4.4 what runs or waits for it keeps to the replaced one; a key alone joins between two attempts', async () => {
  const { clock, scheduler } = begin();
  const old = scheduler.add(() => 'old', { id: 'a', delay: '1h' });
  const waiting = scheduler.add((task) => settled(task.waitFor(old)));
  await clock.advance(0);
  expect(waiting.state).toBe('waiting');
  const fresh = scheduler.add(() => 'new', { id: 'a', ifExists: 'replace' });
  expect([await waiting, await fresh]).toEqual(['CANCELLED', 'new']);
  const failing = scheduler.add((task) => (task.attempt === 1 ? Promise.reject(new Error('no')) : task.attempt), {
    key: 'k',
    retry: { attempts: 2, base: '1s' },
  });
  await clock.advance(0);
  expect(failing.state).toBe('delayed');
  const joined = scheduler.add(() => 'not run', { key: 'k' });
  await clock.advance(5_000);
  expect([joined.id, await joined]).toEqual([failing.id, 2]);
  await scheduler.close();
});

test('F4.1 the handle of a task that was replaced does not change how urgent its successor is', async () => {
  const scheduler = new Scheduler({ clock: new VirtualClock(), concurrency: 0 });
  const old = scheduler.add(() => 'old', { id: 'a' });
  old.catch(() => undefined);
  scheduler.add(() => 'new', { id: 'a', ifExists: 'replace' }).catch(() => undefined);
  expect(() => {
    old.setPriority('critical');
  }).toThrow(expect.objectContaining({ code: 'ILLEGAL_TRANSITION', taskId: 'a', from: 'cancelled' }));
  expect(scheduler.get('a')?.priority).toBe(2);
  await scheduler.close();
});
