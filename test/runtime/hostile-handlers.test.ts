import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CancelledError, Scheduler, TimeoutError, type ErrorRecord, type TaskContext } from '../../src/index.js';
import { isFinal } from '../../src/model/index.js';
import { VirtualClock } from '../../src/testing/index.js';

const never = (): Promise<never> => new Promise(() => undefined);
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

test('row 16 a handler that never settles times out, is counted, and no limit is passed because of it', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 2, limits: { global: 2 } });
  const stuck = failure(scheduler.add(never, { timeout: '1s' }).result);
  const waiting = [1, 2, 3].map((n) => scheduler.add(() => n));
  await clock.advance('1s');
  expect(await stuck).toBeInstanceOf(TimeoutError);
  expect(await Promise.all(waiting)).toEqual([1, 2, 3]);
  // Its slot is not free, for all that anybody knows.
  expect([scheduler.running, scheduler.size]).toEqual([1, 0]);
});

const circular: Error & { cause?: unknown } = new Error('circular');
circular.cause = circular;
const throwing = {
  get message(): string {
    throw new Error('no message for you');
  },
};
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const frozen = Object.freeze(new Error('frozen'));

const THROWN: readonly (readonly [name: string, thrown: unknown, message: RegExp])[] = [
  ['undefined', undefined, /undefined was thrown/],
  ['null', null, /null was thrown/],
  ['a text', 'just a text', /^just a text$/],
  ['a frozen error', frozen, /^frozen$/],
  ['an object whose message throws', throwing, /was thrown/],
  ['a revoked proxy', revoked.proxy, /was thrown/],
  ['an error that is its own cause', circular, /^circular$/],
];

test.each(THROWN)(
  'rows 17 and 18 %s: thrown at once or rejected with, it is recorded safely',
  async (_, thrown, message) => {
    const clock = new VirtualClock();
    const scheduler = new Scheduler({ clock });
    const records: ErrorRecord[] = [];
    const retry = { attempts: 2, retryIf: (error: ErrorRecord) => records.push(error) > 0 };
    const throws = (): never => {
      throw thrown;
    };
    const rejects = async (): Promise<never> => {
      await Promise.resolve();
      throw thrown;
    };
    const errors = [throws, rejects].map((run) => failure(scheduler.add(run, { retry }).result));
    await clock.advance('1m');
    for (const error of await Promise.all(errors)) {
      // An error is handed on as it is; anything else is wrapped in one.
      expect(error === thrown || error instanceof Error).toBe(true);
    }
    // Each of both was tried again once.
    expect(records.map((record) => message.test(record.message))).toEqual([true, true]);
    expect(scheduler.running).toBe(0);
    await scheduler.close();
  },
);

test('row 17 a promise that was tampered with is waited for as it is, or fails its task, and the slot goes on', async () => {
  const scheduler = new Scheduler({ clock: new VirtualClock(), concurrency: 1 });
  const ownThen = Object.assign(Promise.resolve('kept'), {
    then: (): never => {
      throw new Error('its own then was called');
    },
  });
  const noConstructor = Object.defineProperty(Promise.resolve('lost'), 'constructor', {
    get: () => {
      throw new Error('no constructor for you');
    },
  });
  const first = scheduler.add(() => ownThen).result;
  const second = failure(scheduler.add(() => noConstructor).result);
  expect(await first).toBe('kept');
  expect(await second).toMatchObject({ message: 'no constructor for you' });
  expect(await scheduler.add(() => 'next').result).toBe('next');
  await scheduler.close();
});

test.for([
  ['retryIf', 'throws'],
  ['retryIf', 'is too slow'],
  ['backoff', 'throws'],
  ['backoff', 'is too slow'],
] as const)(
  'rows 34 and 35 a %s that takes its own task back, when that %s: it is cancelled, once, and its slot comes back',
  async ([asked, how]) => {
    const clock = new VirtualClock();
    const scheduler = new Scheduler({ clock, concurrency: 1 });
    const other = scheduler.add(() => 1, { delay: '1h' });
    const steer = (): void => {
      scheduler.cancel('self', { reason: 'given up' });
      scheduler.cancel(other);
      scheduler.pauseChannel('closed for today');
      scheduler.add(() => 'instead', { id: 'instead' });
    };
    const retry =
      asked === 'retryIf'
        ? { attempts: 3, retryIf: () => (steer(), true) }
        : { attempts: 3, backoff: () => (steer(), 5) };
    const run = ({ signal }: TaskContext): Promise<never> =>
      new Promise((_, reject) => {
        if (how === 'throws') reject(new Error('no'));
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    const task = scheduler.add(run, { id: 'self', timeout: '1s', retry });
    const result = failure(task.result);
    await clock.advance('1s');
    expect(await result).toMatchObject({ code: 'CANCELLED', reason: 'given up' });
    expect([task.state, other.state, await scheduler.handle('instead')]).toEqual(['cancelled', 'cancelled', 'instead']);
    expect(scheduler.running).toBe(0);
    await scheduler.close();
  },
);

test('row 19 a handler that ignores its abort and settles late changes nothing, and gives its slot back', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 1 });
  const ends: ((value: string) => void)[] = [];
  const task = scheduler.add(() => new Promise<string>((resolve) => ends.push(resolve)), {
    timeout: '1s',
    retry: { attempts: 2, backoff: 'fixed', base: '1s' },
  });
  await clock.advance('2s');
  // The second attempt cannot start: the first one still has the slot.
  expect([ends.length, task.state]).toEqual([1, 'ready']);
  ends[0]?.('late');
  await clock.settle();
  expect([ends.length, task.state]).toEqual([2, 'running']);
  ends[1]?.('in time');
  expect(await task).toBe('in time');
});

test('row 20 of a thenable that settles twice the first time counts', async () => {
  const scheduler = new Scheduler({ concurrency: 1 });
  const twice: PromiseLike<string> = {
    then: (fulfil, reject) => {
      void fulfil?.('first');
      void reject?.(new Error('second'));
      void fulfil?.('third');
      return never();
    },
  };
  expect(await scheduler.add(() => twice)).toBe('first');
  expect(await scheduler.add(() => 'the slot is free')).toBe('the slot is free');
  await scheduler.close();
});

test('row 20 a claim that is settled twice keeps its first outcome, and the second is refused', async () => {
  const scheduler = new Scheduler({ concurrency: 0 });
  const task = scheduler.add(never);
  const claim = await scheduler.worker().next();
  await claim.complete('first');
  await expect(claim.fail(new Error('second'))).rejects.toMatchObject({ code: 'STALE_LEASE' });
  expect(await task).toBe('first');
  await scheduler.close();
});

type Act = 'cancel' | 'complete' | 'fail' | 'timeout';

test('row 35 G7 cancel, complete, fail, timeout and retry in any order: one final state, and every slot comes back', async () => {
  const acts = fc.array(fc.constantFrom<Act>('cancel', 'complete', 'fail', 'timeout'), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(acts, async (order) => {
      const clock = new VirtualClock();
      const scheduler = new Scheduler({ clock, concurrency: 1, resources: { gpu: 1 } });
      const open: { resolve: (value: string) => void; reject: (error: Error) => void }[] = [];
      let told = 0;
      const task = scheduler.add(() => new Promise<string>((resolve, reject) => open.push({ resolve, reject })), {
        retry: 3,
        timeout: '1s',
        needs: { gpu: 1 },
      });
      const result = failure(task.result).finally(() => (told += 1));
      await clock.settle();
      for (const act of order) {
        if (act === 'timeout') await clock.advance('1s');
        else if (act === 'complete') open.shift()?.resolve('done');
        else if (act === 'fail') open.shift()?.reject(new Error('failed'));
        else if (!isFinal(task.state)) task.cancel();
        if (act !== 'cancel') await clock.settle();
      }
      while (open.length > 0 || told === 0) {
        open.shift()?.resolve('at last');
        await clock.settle();
      }
      await result;
      expect(told).toBe(1);
      expect(['completed', 'failed', 'cancelled']).toContain(task.state);
      if (task.state === 'cancelled') expect(await result).toBeInstanceOf(CancelledError);
      // All that it held is there again.
      expect(await scheduler.add(() => 'next', { needs: { gpu: 1 } })).toBe('next');
      expect(scheduler.running).toBe(0);
      await scheduler.close();
    }),
    { numRuns: 60 },
  );
});
