import { expect, test } from 'vitest';
import {
  CancelledError,
  ClosedError,
  DeadlockError,
  InProcess,
  InvalidTaskError,
  Scheduler,
  type Claim,
  type Handle,
  type SchedulerError,
  type TaskContext,
} from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

/** What a promise was rejected with. */
const failure = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => 'nothing',
    (error: unknown) => error,
  );

test('C12.1 a parent that waits for its child finishes at concurrency 1, with its result', async () => {
  const scheduler = new Scheduler({ concurrency: 1 });
  const order: string[] = [];
  const parent = scheduler.add(async (task) => {
    order.push(`parent#${String(task.attempt)}`);
    const child = scheduler.add(() => {
      order.push(`child, ${String(scheduler.running)} running`);
      return 20;
    });
    const result = (await task.waitFor(child)) + 1;
    order.push(`parent#${String(task.attempt)} goes on, ${String(scheduler.running)} running`);
    return result;
  });
  expect(await parent).toBe(21);
  expect(order).toEqual(['parent#1', 'child, 1 running', 'parent#1 goes on, 1 running']);
  await scheduler.close();
});

test('C12.1 parents of parents, many at a time, never run more than there are slots', async () => {
  const scheduler = new Scheduler({ concurrency: 2 });
  let most = 0;
  const sum = (depth: number): Handle<number> =>
    scheduler.add(async (task) => {
      most = Math.max(most, scheduler.running);
      if (depth === 0) return 1;
      const [left, right] = await Promise.all([task.waitFor(sum(depth - 1)), task.waitFor(sum(depth - 1))]);
      most = Math.max(most, scheduler.running);
      return left + right;
    });
  expect(await sum(5)).toBe(32);
  expect(most).toBe(2);
  await scheduler.close();
});

test('C12.1 a child that fails rejects the wait with its failure, and one that has ended is not waited for', async () => {
  const scheduler = new Scheduler({ concurrency: 1 });
  const no = new Error('no');
  const done = scheduler.add(() => 7);
  await done;
  const parent = scheduler.add(async (task) => {
    const child = scheduler.add(() => {
      throw no;
    });
    return [await task.waitFor(done), await failure(task.waitFor(child))];
  });
  expect(await parent).toEqual([7, no]);
  await scheduler.close();
});

test('C12.2 a wait that would close a circle rejects with the circle, and the handler may go on', async () => {
  const scheduler = new Scheduler({ concurrency: 4, resources: { gpu: 1 } });
  const parent = scheduler.add(
    async (task) => {
      const child = scheduler.add(() => 'never beside it', { id: 'child', needs: { gpu: 1 } });
      return failure(task.waitFor(child));
    },
    { id: 'parent', needs: { gpu: 1 } },
  );
  const error = await parent;
  expect(error).toBeInstanceOf(DeadlockError);
  expect(error).toMatchObject({ code: 'DEADLOCK', path: ['parent', 'child', 'parent'] });
  await scheduler.onIdle();
  await scheduler.close();
});

test('C12.1 a parent that is cancelled while it waits hears of it there, and gives back what it kept', async () => {
  const scheduler = new Scheduler({ concurrency: 1, resources: { gpu: 1 } });
  const child = scheduler.add(() => new Promise(() => undefined));
  child.cancel();
  const never = scheduler.add(() => 1, { delay: 60_000 });
  let heard: unknown;
  const parent = scheduler.add(
    async (task) => {
      heard = await failure(task.waitFor(never));
    },
    { needs: { gpu: 1 } },
  );
  const after = scheduler.add(() => 'has it now', { needs: { gpu: 1 } });
  while (parent.state !== 'waiting') await new Promise((resolve) => setImmediate(resolve));
  parent.cancel('not any more');
  expect(await failure(parent)).toBeInstanceOf(CancelledError);
  expect(await after).toBe('has it now');
  expect(heard).toMatchObject({ name: 'CancelledError' });
  await scheduler.close();
});

test('C12.1 closing lets a parent that waits go on, and takes back what has not started', async () => {
  const scheduler = new Scheduler({ concurrency: 1 });
  const late = scheduler.add(() => 1, { delay: 60_000 });
  const parent = scheduler.add(async (task) => failure(task.waitFor(late)));
  while (parent.state !== 'waiting') await new Promise((resolve) => setImmediate(resolve));
  await scheduler.close();
  expect(await parent).toBeInstanceOf(ClosedError);
  expect(late.state).toBe('cancelled');
});

test('C12.1 while nothing new starts, what waits in an executor goes on there all the same', async () => {
  const aside = new InProcess({ id: 'aside', slots: 1, capabilities: { aside: true } });
  const scheduler = new Scheduler({ concurrency: 1, executors: [aside] });
  let end = (): void => undefined;
  const child = scheduler.add(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const waits = async (task: TaskContext): Promise<string> => {
    await task.waitFor(child);
    return 'went on';
  };
  const parent = scheduler.add(waits, { capabilities: { aside: true } });
  while (parent.state !== 'waiting') await new Promise((resolve) => setImmediate(resolve));
  const closed = scheduler.close({ drain: '1s' });
  end();
  expect(await parent).toBe('went on');
  await closed;
});

test('C12.1 what a worker has claimed waits too, and goes on there without a claim', async () => {
  const scheduler = new Scheduler({ concurrency: 0 });
  const worker = scheduler.worker({ slots: 1 });
  const child = scheduler.add(() => 5, { priority: 'low' });
  const parent = scheduler.add(async (task) => (await task.waitFor(child)) + 1, { priority: 'high' });
  const first = await worker.claim();
  const running = first?.run();
  await new Promise((resolve) => setImmediate(resolve));
  const second = await worker.claim();
  expect([first?.task.id, second?.task.id]).toEqual([parent.id, child.id]);
  await second?.run();
  expect(await parent).toBe(6);
  await running;
  await scheduler.close();
});

test('C8.2 C12.1 what still waits to be let in comes in for a running task that waits for it, and whoever stands before it', async () => {
  const scheduler = new Scheduler({ concurrency: 1, maxPending: 1, maxWaiting: 9 });
  const order: string[] = [];
  const add = (id: string, after: readonly string[] = []): Handle<unknown> =>
    scheduler.add(() => order.push(id), { id, after });
  const parent = scheduler.add(async (task) => {
    add('fills it');
    add('first');
    const awaited = add('awaited', ['first']);
    const last = add('last');
    const waits = task.waitFor(awaited);
    const states = [awaited.state, last.state, scheduler.waiting];
    await waits;
    order.push('parent');
    return states;
  });
  expect(await parent).toEqual(['waiting', 'waiting', 1]);
  await scheduler.onIdle();
  expect(order).toEqual(['fills it', 'first', 'awaited', 'parent', 'last']);
  await scheduler.close();
});

test('C12.1 what is waited for must be a handle of the same scheduler', async () => {
  const [scheduler, other] = [new Scheduler(), new Scheduler()];
  const foreign = other.add(() => 1);
  const parent = scheduler.add((task) => failure(task.waitFor(foreign)));
  expect(await parent).toBeInstanceOf(InvalidTaskError);
  await Promise.all([scheduler.close(), other.close()]);
});

test('B1.3 C12.1 an attempt that waits has started: it is not listed as pending, as it does not count for the size', async () => {
  const scheduler = new Scheduler({ concurrency: 1 });
  const seen: string[][] = [];
  await scheduler.add(
    async (task) => {
      const child = task.add(() => seen.push(scheduler.pending().map(({ id }) => id)), { id: 'child' });
      scheduler.add(() => undefined, { id: 'other', priority: 'low' });
      await task.waitFor(child);
    },
    { id: 'parent' },
  );
  expect(seen).toEqual([['other']]);
  await scheduler.close();
});

test('C12.1 a handler that waits is told when its claim is given back, or its worker closes', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 0 });
  const never = scheduler.add(() => 0, { id: 'never' });
  const ends: unknown[] = [];
  const waits = async (task: TaskContext): Promise<void> => {
    const { signal } = task;
    await task.waitFor(never).catch((error: unknown) => ends.push([(error as SchedulerError).code, signal.aborted]));
  };
  const worker = scheduler.worker({ slots: 1 });
  for (const giveBack of [(claim: Claim) => claim.release(), () => worker.close()]) {
    scheduler.add(waits, { priority: 'critical' });
    const claim = (await worker.claim()) as Claim;
    const run = claim.run();
    await clock.settle();
    await giveBack(claim);
    await run;
    scheduler.cancel(claim.task.id);
  }
  expect(ends).toEqual([
    ['STALE_LEASE', true],
    ['STALE_LEASE', true],
  ]);
  await scheduler.close();
});
