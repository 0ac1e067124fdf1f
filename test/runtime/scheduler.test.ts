import { expect, test } from 'vitest';
import { CancelledError, Scheduler, type AddOptions, type SchedulerOptions } from '../../src/index.js';

/** A promise and the function that resolves it. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    opened,
    open: () => {
      open();
    },
  };
}

test('a burst of tasks starts by priority, not by arrival', async () => {
  const scheduler = new Scheduler({ concurrency: 1 });
  const order: string[] = [];
  const handles = (['low', 'critical', 'normal', 'high'] as const).map((priority) =>
    scheduler.add(() => order.push(priority), { priority }),
  );
  await Promise.all(handles.map((handle) => handle.result));
  expect(order).toEqual(['critical', 'high', 'normal', 'low']);
  await scheduler.close();
});

test('a task gets the results of what it came after, in the order named', async () => {
  const scheduler = new Scheduler();
  const a = scheduler.add(() => Promise.resolve(1));
  const b = scheduler.add(() => 2, { id: 'b' });
  const sum = scheduler.add((task) => task.dependencies, { after: ['b', a] });
  expect(await sum).toEqual([2, 1]);
  await b;
  await scheduler.close();
});

test('C4.1 each result stands where its task was named, also beside one that is long forgotten, and twice if named twice', async () => {
  const scheduler = new Scheduler({ retain: { count: 0 } });
  await scheduler.add(() => 'gone', { id: 'gone' });
  await scheduler.add(() => 'gone too', { id: 'gone-too' });
  const kept = scheduler.add(() => 7);
  const seen = scheduler.add((task) => task.dependencies, {
    after: ['gone', kept, { task: 'gone-too', onFailure: 'run' }, kept],
  });
  expect(await seen).toEqual([undefined, 7, undefined, 7]);
  await scheduler.close();
});

test('a handle can be awaited, caught and finished like a promise', async () => {
  const scheduler = new Scheduler();
  const failure = new Error('no');
  const failing = scheduler.add(() => {
    throw failure;
  });
  expect(await failing.catch((error: unknown) => error)).toBe(failure);
  let finished = 0;
  await scheduler
    .add(() => undefined)
    .finally(() => {
      finished += 1;
    });
  expect(finished).toBe(1);
  expect(failing.state).toBe('failed');
  await scheduler.close();
});

test('a failure nobody awaits does not end the process, even if its result was asked for', async () => {
  const scheduler = new Scheduler();
  const unhandled: unknown[] = [];
  const listen = (reason: unknown): void => {
    unhandled.push(reason);
  };
  process.on('unhandledRejection', listen);
  scheduler.add(() => {
    throw new Error('unheard');
  });
  void scheduler.add(() => Promise.reject(new Error('left alone'))).result;
  await scheduler.onIdle();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', listen);
  expect(unhandled).toEqual([]);
  await scheduler.close();
});

test('F3 the last task in the queue times out too, and its signal is aborted', async () => {
  const scheduler = new Scheduler({ concurrency: 1 });
  void scheduler.add(() => undefined);
  let aborted: unknown;
  const slow = scheduler.add(
    (task) =>
      new Promise((resolve) => {
        task.signal.addEventListener('abort', () => {
          aborted = task.signal.reason;
          resolve(1);
        });
      }),
    { timeout: 20 },
  );
  await expect(slow.result).rejects.toMatchObject({ code: 'TIMEOUT' });
  await scheduler.close();
  expect(aborted).toBeInstanceOf(Error);
});

test('a task that is cancelled rejects with the reason, and never runs', async () => {
  const scheduler = new Scheduler({ concurrency: 1 });
  let ran = false;
  const handle = scheduler.add(() => {
    ran = true;
  });
  handle.cancel('changed my mind');
  const error = await handle.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CancelledError);
  expect((error as Error).message).toMatch(/^Task "task-1" was cancelled: .*changed my mind.{0,3}$/);
  expect(ran).toBe(false);
  expect([handle.cancel(), scheduler.cancel(handle), scheduler.cancel('task-1')]).toEqual([false, 0, 0]);
  await scheduler.close();
});

test('a dependant of a failed task fails or is skipped, and says because of which task', async () => {
  const scheduler = new Scheduler();
  const failing = scheduler.add(
    () => {
      throw new Error('no');
    },
    { id: 'first' },
  );
  const fails = scheduler.add(() => 1, { after: [failing] });
  const skips = scheduler.add(() => 1, { after: [{ task: failing, onFailure: 'skip' }] });
  const runs = scheduler.add((task) => task.dependencies, { after: [{ task: 'first', onFailure: 'run' }] });
  await expect(fails.result).rejects.toMatchObject({ code: 'DEPENDENCY_FAILED' });
  await expect(skips.result).rejects.toThrow(/"first"/);
  expect(skips.state).toBe('skipped');
  expect(await runs).toEqual([undefined]);
  await scheduler.close();
});

test('close cancels what has not started, waits for what runs, and is the same close the second time', async () => {
  const scheduler = new Scheduler({ concurrency: 1 });
  const { opened, open } = gate();
  const running = scheduler.add(() => opened);
  const waiting = scheduler.add(() => 1);
  await Promise.resolve();
  const closed = scheduler.close();
  expect(scheduler.close()).toBe(closed);
  await expect(waiting.result).rejects.toMatchObject({ code: 'CLOSED' });
  expect(running.state).toBe('running');
  open();
  await closed;
  expect(running.state).toBe('completed');
  await expect(scheduler.add(() => 1).accepted).rejects.toMatchObject({ code: 'CLOSED' });
});

test('resources, retries and a delay are kept through the API', async () => {
  const scheduler = new Scheduler({ resources: { gpu: 1 } });
  let running = 0;
  let most = 0;
  const useGpu = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
  };
  const users = [1, 2, 3].map(() => scheduler.add(useGpu, { needs: { gpu: 1 } }));
  const flaky = scheduler.add(
    (task) => {
      if (task.attempt < 3) throw new Error('again');
      return task.attempt;
    },
    { retry: { attempts: 3, backoff: 'fixed', base: 1 }, delay: 1 },
  );
  expect(await flaky).toBe(3);
  await Promise.all(users.map((user) => user.result));
  expect(most).toBe(1);
  await scheduler.close();
});

test.each([
  ['priority', { priority: NaN }, /priority/],
  ['an unknown option', { prioirty: 1 }, /perhaps "priority" is meant/],
  ['after', { after: [7] }, /after\[0\]/],
  ['after that is no list', { after: 'a' }, /after/],
  ['a policy', { after: [{ task: 'a', onFailure: 'boo' }] }, /onFailure/],
])('bad input: %s is refused at add and changes nothing', async (_name, options, message) => {
  const scheduler = new Scheduler();
  expect(() => scheduler.add(() => 1, options as AddOptions)).toThrow(message);
  expect(scheduler.size).toBe(0);
  await scheduler.close();
});

test('bad input: a handle of another scheduler, and a task that is no function, are refused', async () => {
  const [one, other] = [new Scheduler(), new Scheduler()];
  const foreign = other.add(() => 1);
  expect(() => one.add(() => 1, { after: [foreign] })).toThrow(/after\[0\]/);
  expect(() => one.add(undefined as unknown as () => void)).toThrow(/run/);
  await foreign;
  await Promise.all([one.close(), other.close()]);
});

test.each([
  [{ concurency: 2 }, /perhaps "concurrency" is meant/],
  [{ concurrency: -1 }, /concurrency/],
  [{ concurrency: 1.5 }, /concurrency/],
  [{ concurrency: '3' }, /concurrency/],
  [{ channels: { charge: 'money' } }, /channels.charge/],
  [{ channels: { a: 2 } }, /channels.a/],
  [{ aging: true }, /aging/],
  [{ aging: { every: 0 } }, /aging.every/],
  [{ retain: { count: -1 } }, /retain.count/],
  [{ strategy: 'newest' }, /fifo/],
  [{ resources: { gpu: 'one' } }, /gpu/],
  [{ seed: NaN }, /seed/],
])('bad input: the scheduler refuses %j', (options, message) => {
  expect(() => new Scheduler(options as unknown as SchedulerOptions)).toThrow(message);
});

test('a strategy of one’s own that throws does not stop the work', async () => {
  const scheduler = new Scheduler({
    strategy: {
      name: 'broken',
      rank: () => {
        throw new Error('rank');
      },
      choose: () => {
        throw new Error('choose');
      },
      describe: () => 'broken',
    },
  });
  expect(await scheduler.add(() => 'done')).toBe('done');
  await scheduler.close();
});

test('row 16 a handler that never settles is given up: its task ends, and only its slot stays taken', async () => {
  const scheduler = new Scheduler({ concurrency: 2 });
  const { opened, open } = gate();
  const stuck = scheduler.add(() => opened, { timeout: 10 });
  await expect(stuck.result).rejects.toMatchObject({ code: 'TIMEOUT' });
  expect([scheduler.size, scheduler.running]).toEqual([0, 1]);
  expect(await scheduler.add(() => 'others go on')).toBe('others go on');
  open();
  await scheduler.close();
});

test('F1.1 start may be called, at any time and more than once, until the scheduler is closed', async () => {
  const scheduler = new Scheduler();
  await scheduler.start();
  expect(await scheduler.add(() => 1)).toBe(1);
  await scheduler.start();
  await scheduler.close();
  await expect(scheduler.start()).rejects.toMatchObject({ code: 'CLOSED' });
});
