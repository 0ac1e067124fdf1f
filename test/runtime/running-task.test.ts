import { expect, test } from 'vitest';
import {
  CancelledError,
  InvalidTaskError,
  PayloadError,
  Scheduler,
  StaleLeaseError,
  TimeoutError,
  type SchedulerOptions,
  type TaskContext,
} from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

function virtual(options: SchedulerOptions = {}): { readonly clock: VirtualClock; readonly scheduler: Scheduler } {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ clock, ...options }) };
}

/** A promise, and what resolves it. */
function deferred(): { readonly promise: Promise<undefined>; readonly resolve: (value: undefined) => void } {
  let resolve: (value: undefined) => void = () => undefined;
  const promise = new Promise<undefined>((settle) => (resolve = settle));
  return { promise, resolve };
}

/** Rejects with the reason once the signal aborts. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });

test('F3.1 when the timeout passes the signal aborts with the TimeoutError that the task fails with', async () => {
  const { clock, scheduler } = virtual();
  const reasons: unknown[] = [];
  const slow = scheduler.add(
    async (task) => {
      await aborted(task.signal).catch((reason: unknown) => reasons.push(reason));
    },
    { timeout: '1s' },
  );
  const failure = slow.result.catch((error: unknown) => error);
  await clock.advance(999);
  expect(reasons).toEqual([]);
  await clock.advance(1);
  expect(reasons[0]).toBeInstanceOf(TimeoutError);
  expect(reasons[0]).toMatchObject({ code: 'TIMEOUT', taskId: 'task-1', attempt: 1, timeoutMs: 1_000 });
  expect(await failure).toBe(reasons[0]);
  await scheduler.close();
});

test('F1.1 cancelling aborts the signal with the CancelledError and its reason', async () => {
  const { clock, scheduler } = virtual();
  const reasons: unknown[] = [];
  const task = scheduler.add(async ({ signal }) => {
    await aborted(signal).catch((reason: unknown) => reasons.push(reason));
  });
  await clock.settle();
  task.cancel('not needed');
  await expect(task.result).rejects.toBeInstanceOf(CancelledError);
  expect(reasons[0]).toBeInstanceOf(CancelledError);
  expect(reasons[0]).toMatchObject({ taskId: 'task-1', reason: 'not needed' });
  await scheduler.close();
});

test('a signal that is asked for after the abort is aborted already, with the same reason', async () => {
  const { clock, scheduler } = virtual();
  const { promise: held, resolve: letGo } = deferred();
  let late: TaskContext | undefined;
  scheduler.add(
    async (task) => {
      late = task;
      await held;
    },
    { timeout: '1s' },
  );
  await clock.advance('2s');
  expect(late?.signal.aborted).toBe(true);
  expect(late?.signal.reason).toBeInstanceOf(TimeoutError);
  letGo(undefined);
  await scheduler.close();
});

test('a signal that is asked for between the cancellation and its telling aborts nevertheless', async () => {
  const { scheduler } = virtual();
  const seen: unknown[] = [];
  const task = scheduler.add((context) => {
    scheduler.cancel(context.id, { reason: 'by itself' });
    const { signal } = context;
    seen.push(signal.aborted);
    return aborted(signal);
  });
  await expect(task.result).rejects.toMatchObject({ reason: 'by itself' });
  expect(seen).toEqual([false]);
  await scheduler.close();
});

test('a signal that is asked for after the attempt has ended says so', async () => {
  const { scheduler } = virtual();
  let kept: TaskContext | undefined;
  await scheduler.add((task) => {
    kept = task;
  });
  expect(kept?.signal.reason).toBeInstanceOf(StaleLeaseError);
  expect(kept?.signal.reason).toMatchObject({ reason: 'it has ended' });
  await scheduler.close();
});

test('F1.4 a handler knows its id, attempt, token and channel', async () => {
  const { scheduler } = virtual();
  const known = await scheduler.add(({ id, attempt, token, channel }) => ({ id, attempt, token, channel }), {
    id: 'a',
    channel: 'acme',
  });
  expect(known).toEqual({ id: 'a', attempt: 1, token: { epoch: 1, attempt: 1, sequence: 1 }, channel: 'acme' });
  await scheduler.close();
});

test('F1.4 a retry goes on from the last checkpoint, and a handler that changes what it finds changes only its own copy', async () => {
  const { clock, scheduler } = virtual();
  const found: unknown[] = [];
  const task = scheduler.add(
    (context) => {
      found.push(structuredClone(context.resumed));
      const pages = (context.resumed as string[] | undefined) ?? [];
      pages.push(`page ${String(context.attempt)}`);
      if (context.attempt === 2) throw new Error('kept nothing');
      context.checkpoint(pages);
      pages.push('never kept');
      if (context.attempt < 3) throw new Error('again');
      return context.resumed;
    },
    { retry: 3 },
  );
  expect(await task).toEqual(['page 1', 'page 3']);
  expect(found).toEqual([undefined, ['page 1'], ['page 1']]);
  await clock.settle();
  await scheduler.close();
});

test('F1.4 a checkpoint outlives a released claim and a lost one', async () => {
  const { clock, scheduler } = virtual({ concurrency: 0 });
  scheduler.add(() => undefined);
  const worker = scheduler.worker({ lease: '1s' });
  const first = await worker.next();
  first.task.checkpoint({ done: 1 });
  await first.release();
  const second = await worker.next();
  expect(second.task.resumed).toEqual({ done: 1 });
  second.task.checkpoint({ done: 2 });
  await clock.advance('1s');
  const third = await worker.next();
  expect(third.task.resumed).toEqual({ done: 2 });
  // The lost one must not overwrite what its successor goes on from.
  expect(() => {
    second.task.checkpoint({ done: 0 });
  }).toThrow(StaleLeaseError);
  expect(third.task.resumed).toEqual({ done: 2 });
  await third.complete();
  await scheduler.close();
});

test('a checkpoint that cannot be copied is refused, and the one before is kept', async () => {
  const { scheduler } = virtual();
  const resumed = await scheduler.add((task) => {
    task.checkpoint(1);
    expect(() => {
      task.checkpoint(() => 'live');
    }).toThrow(PayloadError);
    return task.resumed;
  });
  expect(resumed).toBe(1);
  await scheduler.close();
});

test('F1.4 a heartbeat keeps a lease alive, and one that comes too late is refused', async () => {
  const { clock, scheduler } = virtual({ concurrency: 0 });
  scheduler.add(() => undefined);
  const claim = await scheduler.worker({ lease: '10s', retries: 0 }).next();
  await clock.advance('9s');
  claim.task.heartbeat();
  await clock.advance('9s');
  expect(scheduler.running).toBe(1);
  await clock.advance('1s');
  expect(scheduler.running).toBe(0);
  expect(() => {
    claim.task.heartbeat();
  }).toThrow(StaleLeaseError);
  await scheduler.close();
});

test('a heartbeat without a lease does nothing', async () => {
  const { scheduler } = virtual();
  const result = await scheduler.add((task) => {
    task.heartbeat();
    return 'fine';
  });
  expect(result).toBe('fine');
  await scheduler.close();
});

class Told extends Scheduler {
  readonly told: unknown[] = [];

  constructor(options: SchedulerOptions) {
    super(options);
    this.engine.attempts.onProgress = ({ id }, progress) => this.told.push([id, progress]);
  }
}

test('F1.4 progress is told as it comes; beyond 0 to 1 it is refused, and of an attempt that no longer counts it is not told', async () => {
  const clock = new VirtualClock();
  const scheduler = new Told({ clock });
  const { promise: held, resolve: letGo } = deferred();
  let ended = false;
  scheduler.add(
    async (task) => {
      task.progress(0.5);
      task.progress({ page: 3 });
      for (const wrong of [-0.1, 1.1, NaN]) {
        expect(() => {
          task.progress(wrong);
        }).toThrow(InvalidTaskError);
      }
      await held;
      task.progress(1);
      ended = true;
    },
    { id: 'a', timeout: '1s' },
  );
  await clock.advance('1s');
  letGo(undefined);
  await clock.settle();
  expect([ended, scheduler.told]).toEqual([
    true,
    [
      ['a#1', 0.5],
      ['a#1', { page: 3 }],
    ],
  ]);
  await scheduler.close();
});

test('progress that nobody is told of costs nothing and does no harm', async () => {
  const { scheduler } = virtual();
  expect(
    await scheduler.add((task) => {
      task.progress(1);
      return 'done';
    }),
  ).toBe('done');
  await scheduler.close();
});

test('F1.4 D10.3 what a handler logs states whose it is, whatever it says itself; without a logger it is silent', async () => {
  const written: unknown[] = [];
  const write =
    (level: string) =>
    (record: object, message: string): void => {
      if (!('event' in record)) written.push([level, record, message]);
    };
  const logger = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const chatty = (task: TaskContext): void => {
    task.logger.info({ page: 3, taskId: 'somebody else' }, 'page read');
    for (const level of ['debug', 'warn', 'error'] as const) task.logger[level]({}, level);
  };
  const { scheduler } = virtual({ logger });
  await scheduler.add(chatty, { id: 'a', channel: 'acme', priority: 'high' });
  const about = { taskId: 'a', attempt: 1, channel: 'acme', priority: 1, workerId: 'local' };
  expect(written).toEqual([
    ['info', { page: 3, ...about }, 'page read'],
    ...['debug', 'warn', 'error'].map((level) => [level, about, level]),
  ]);
  await scheduler.close();
  const silent = virtual().scheduler;
  await silent.add(chatty);
  await silent.close();
  expect(written).toHaveLength(4);
});

test('F1.1 what a handler may do it may also do by functions that it has taken apart', async () => {
  const { clock, scheduler } = virtual({ resources: { tokens: { rate: 10, per: '1s' } } });
  const progress: unknown[] = [];
  scheduler.on('progress', (event) => progress.push(event.progress));
  const parent = scheduler.add(
    async ({ progress, checkpoint, heartbeat, report, add, waitFor }) => {
      progress(0.5);
      checkpoint({ page: 1 });
      heartbeat();
      report('tokens', { cost: 2 });
      return waitFor(add(() => 'from a child'));
    },
    { needs: { tokens: 1 } },
  );
  await clock.advance('1s');
  expect(await parent).toBe('from a child');
  expect(progress).toEqual([0.5]);
  await scheduler.close();
});
