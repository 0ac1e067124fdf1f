import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { Scheduler, type Handle, type TaskContext } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

const never = (): Promise<never> => new Promise<never>(() => undefined);

describe('task.add', () => {
  test('F4.3 cancelling a parent cancels what it added, and what that added, except for what is detached', async () => {
    const clock = new VirtualClock();
    const scheduler = new Scheduler({ concurrency: 9, clock });
    const added = new Map<string, Handle<unknown>>();
    const spawn = (task: TaskContext): Promise<never> => {
      added.set('grandchild', task.add(never));
      return never();
    };
    const parent = scheduler.add((task) => {
      added.set('child', task.add(spawn));
      added.set(
        'pending',
        task.add(() => 1, { delay: '1h' }),
      );
      added.set('detached', task.add(never, { detached: true }));
      return never();
    });
    await clock.settle();
    parent.cancel('enough');
    await clock.settle();
    expect([...added].map(([name, handle]) => [name, handle.state])).toEqual([
      ['child', 'cancelled'],
      ['pending', 'cancelled'],
      ['detached', 'running'],
      ['grandchild', 'cancelled'],
    ]);
    await expect(added.get('child')?.result).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  test('a child is a task like others: a definition or its name, dependencies, waitFor', async () => {
    const scheduler = new Scheduler({ concurrency: 1 });
    const double = scheduler.define('double', (input: number) => input * 2);
    const sum = scheduler.add(async (task) => {
      const two = task.add(double, 1, { priority: 'high' });
      const four = task.add('double', 2);
      const both = task.add((child) => child.dependencies, { after: [two, four] });
      return task.waitFor(both);
    });
    expect(await sum).toEqual([2, 4]);
    await scheduler.close();
  });

  test('C8.2 children come in above the bound, also where others wait, and detached ones too', async () => {
    const scheduler = new Scheduler({ concurrency: 1, maxPending: 1 });
    let states: string[] = [];
    const parent = scheduler.add((task) => {
      void scheduler.add(() => 'fills it');
      const outside = scheduler.add(() => 'waits');
      states = [outside, task.add(() => 1), task.add(() => 1, { detached: true })].map(({ state }) => state);
      outside.cancel();
    });
    await parent;
    expect(states).toEqual(['waiting', 'ready', 'ready']);
    await scheduler.close();
  });

  test('a cancelled parent adds nothing more; one that has ended adds tasks of their own', async () => {
    const scheduler = new Scheduler();
    const contexts: TaskContext[] = [];
    const run = (task: TaskContext): void => {
      contexts.push(task);
    };
    await scheduler.add(run);
    const cancelled = scheduler.add((task) => {
      run(task);
      return never();
    });
    await new Promise((resolve) => setImmediate(resolve));
    cancelled.cancel();
    expect(await contexts[0]?.add(() => 'late')).toBe('late');
    await expect(contexts[1]?.add(() => 'late').result).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  test('bad input: what is malformed throws in the handler', async () => {
    const scheduler = new Scheduler();
    for (const [options, field] of [
      [{ detached: 'yes' }, 'detached'],
      [{ priority: NaN }, 'priority'],
    ] as const) {
      await expect(scheduler.add((task) => task.add(() => 1, options as object)).result).rejects.toMatchObject({
        field,
      });
      if (field === 'detached') expect(() => scheduler.add(() => 1, options as object)).toThrow(/detached/);
    }
    await scheduler.close();
  });
});

describe('F1.1 a signal that is passed in', () => {
  test('takes back all its tasks that are unfinished: running, pending, or waiting to be let in', async () => {
    const scheduler = new Scheduler({ concurrency: 1, maxPending: 1, maxWaiting: 5, clock: new VirtualClock() });
    const controller = new AbortController();
    const { signal } = controller;
    let heard: unknown;
    const running = scheduler.add(
      (task) =>
        new Promise((_, reject) => {
          task.signal.addEventListener('abort', () => {
            heard = task.signal.reason;
            reject(new Error('stopped'));
          });
        }),
      { signal },
    );
    await new Promise((resolve) => setImmediate(resolve));
    const handles = [running, scheduler.add(() => 1, { signal }), scheduler.add(() => 1, { signal, id: 'outside' })];
    controller.abort(new Error('the user left'));
    for (const handle of handles) {
      await expect(handle.result).rejects.toMatchObject({ code: 'CANCELLED', reason: 'the user left' });
    }
    expect([handles.map(({ state }) => state), heard]).toMatchObject([
      ['cancelled', 'cancelled', 'cancelled'],
      { code: 'CANCELLED' },
    ]);
  });

  test('that has been aborted already lets nothing in', async () => {
    const scheduler = new Scheduler();
    let runs = 0;
    const late = scheduler.add(() => (runs += 1), { signal: AbortSignal.abort('too late'), id: 'late' });
    await expect(late.accepted).rejects.toMatchObject({ code: 'CANCELLED', reason: 'too late', taskId: 'late' });
    expect([late.state, runs]).toEqual(['cancelled', 0]);
    const [inBatch] = scheduler.addAll([{ run: () => 1, signal: AbortSignal.abort() }]);
    await expect(inBatch.result).rejects.toMatchObject({ code: 'CANCELLED' });
    await scheduler.close();
  });

  test('is listened to once, and no more when its tasks have ended, however that was', async () => {
    const scheduler = new Scheduler();
    const controller = new AbortController();
    const { signal } = controller;
    const listeners = (): number => getEventListeners(signal, 'abort').length;
    const double = scheduler.define('double', (input: number) => input * 2);
    const handles = [
      scheduler.add(double, 1, { signal }),
      scheduler.add(() => Promise.reject(new Error('no')), { signal }),
      scheduler.add(() => 1, { signal, after: ['nobody'] }),
    ];
    expect(listeners()).toBe(1);
    await Promise.allSettled(handles.map(({ result }) => result));
    expect(listeners()).toBe(0);
    controller.abort();
    expect(handles.map(({ state }) => state)).toEqual(['completed', 'failed', 'failed']);
    await scheduler.close();
  });

  test('B10.1 takes a task back also when that was run again by hand', async () => {
    const scheduler = new Scheduler({ clock: new VirtualClock() });
    const controller = new AbortController();
    const { signal } = controller;
    const flaky = scheduler.add(
      (task) =>
        new Promise((_, reject) => {
          if (task.attempt === 1) reject(new Error('no'));
          task.signal.addEventListener('abort', () => {
            reject(task.signal.reason as Error);
          });
        }),
      { signal },
    );
    await expect(flaky.result).rejects.toThrow('no');
    scheduler.retry(flaky);
    const again = flaky.result;
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort('enough');
    await expect(again).rejects.toMatchObject({ code: 'CANCELLED', reason: 'enough' });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await scheduler.close();
  });

  test('bad input: anything else is refused', () => {
    const scheduler = new Scheduler();
    expect(() => scheduler.add(() => 1, { signal: {} as AbortSignal })).toThrow(
      expect.objectContaining({ field: 'signal' }),
    );
    expect(scheduler.size).toBe(0);
  });
});
