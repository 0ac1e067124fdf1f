import { afterEach, expect, test } from 'vitest';
import { ExecutorLostError, PayloadError, Scheduler, UnknownHandlerError, type Work } from '../../src/index.js';
import { WorkerThreads, type WorkerThreadsOptions } from '../../src/worker-threads.js';

const module = new URL('./thread-handlers.mjs', import.meta.url);
const open: WorkerThreads[] = [];

function threads(options: Partial<WorkerThreadsOptions> = {}): WorkerThreads {
  const made = new WorkerThreads({ module, threads: 1, ...options });
  open.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

/** An attempt as a scheduler would hand it over. */
function work(name: string, input: unknown, more: Partial<Work> = {}): Work {
  return {
    taskId: `${name} task`,
    attempt: 1,
    token: { epoch: 1, attempt: 1 },
    name,
    channel: 'default',
    input,
    dependencies: [],
    resumed: undefined,
    metadata: undefined,
    run: () => Promise.reject(new Error('not here')),
    checkpoint: () => undefined,
    progress: () => undefined,
    ...more,
  };
}

const { signal: calm } = new AbortController();

test('C14.1 a handler in a thread gets its input and what is known of its task, and gives back a copy', async () => {
  const given = {
    attempt: 2,
    channel: 'acme',
    dependencies: [[1], 'two'],
    resumed: { page: 3 },
    metadata: { of: 'acme' },
  };
  const outcome = await threads().execute(work('echo', { date: new Date(0) }, given), calm);
  expect(outcome).toEqual({
    kind: 'succeeded',
    value: { input: { date: new Date(0) }, task: { id: 'echo task', ...given } },
  });
});

test('row 18 whatever a handler throws is a failure with what can be told of it', async () => {
  const pool = threads();
  expect(await pool.execute(work('fail', 'no such luck'), calm)).toMatchObject({
    kind: 'failed',
    error: { name: 'TypeError', message: 'no such luck', code: 'E_ON_PURPOSE' },
  });
  expect(await pool.execute(work('throwNothing', 0), calm)).toMatchObject({
    error: { name: 'NonError', message: 'undefined was thrown' },
  });
  expect(await pool.execute(work('throwUnreadable', 0), calm)).toMatchObject({
    error: { name: 'NonError', message: 'something that cannot be read was thrown' },
  });
});

test('row 20 a result or an input that cannot be copied is a PayloadError, and trying again is of no use', async () => {
  const pool = threads();
  const result = await pool.execute(work('unclonable', 0), calm);
  expect(result).toMatchObject({ kind: 'failed', retryable: false, error: { part: 'result' } });
  const input = await pool.execute(
    work('echo', () => 'live'),
    calm,
  );
  expect(input).toMatchObject({ kind: 'failed', retryable: false, error: { part: 'input' } });
  for (const { error } of [result, input] as { error?: unknown }[]) expect(error).toBeInstanceOf(PayloadError);
  // The thread has survived both.
  expect(await pool.execute(work('echo', 1), calm)).toMatchObject({ kind: 'succeeded' });
});

test('a name that the module does not export is an UnknownHandlerError', async () => {
  const outcome = await threads().execute(work('constructor', 0), calm);
  expect(outcome).toMatchObject({ kind: 'failed', retryable: false });
  expect((outcome as { error?: unknown }).error).toBeInstanceOf(UnknownHandlerError);
});

/** Runs an attempt and aborts it once its handler has said that it runs. */
async function abortOnceRunning(pool: WorkerThreads, name: string): Promise<{ outcome: unknown; told: unknown[] }> {
  const controller = new AbortController();
  const told: unknown[] = [];
  const progress = (said: unknown): void => {
    told.push(said);
    controller.abort(Object.assign(new Error('enough'), { name: 'CancelledError', code: 'CANCELLED' }));
  };
  return { outcome: await pool.execute(work(name, 0, { progress }), controller.signal), told };
}

test('a handler that listens is aborted with the reason, and ends by itself within the grace', async () => {
  const pool = threads({ grace: '1h' });
  expect(await abortOnceRunning(pool, 'listen')).toEqual({
    outcome: { kind: 'succeeded', value: 'stopped' },
    told: ['listening', ['CancelledError', 'CANCELLED']],
  });
});

test('C14.1 a thread that does not listen is ended after the grace, and replaced', async () => {
  const pool = threads({ grace: 0 });
  expect(await abortOnceRunning(pool, 'spin')).toEqual({ outcome: { kind: 'aborted' }, told: ['spinning'] });
  expect(await pool.execute(work('echo', 'again'), calm)).toMatchObject({ kind: 'succeeded' });
});

test.each([
  ['exits', 'exit', 3, /exited with code: 3/],
  ['throws where nobody catches it', 'throwLater', 0, /nobody catches this/],
  ['runs out of memory', 'eatMemory', 0, /memory/],
])('row 23 a thread that %s is an outcome, and is replaced', async (_, name, input, reason) => {
  const pool = threads({ resourceLimits: { maxOldGenerationSizeMb: 24 } });
  const outcome = (await pool.execute(work(name, input), calm)) as { kind: string; error?: unknown };
  expect(outcome.kind).toBe('lost');
  expect(outcome.error).toBeInstanceOf(ExecutorLostError);
  expect((outcome.error as Error).message).toMatch(reason);
  expect(await pool.execute(work('echo', 'again'), calm)).toMatchObject({ kind: 'succeeded' });
});

test('row 23 a thread that dies between two attempts is replaced, and nobody is harmed', async () => {
  const pool = threads();
  const first = (await pool.execute(work('dieAfter', 0), calm)) as { value?: unknown };
  expect(first).toMatchObject({ kind: 'succeeded' });
  let next: { kind: string; value?: unknown };
  // An attempt that comes before the end is lost with the thread, as any other.
  do next = await pool.execute(work('thread', 0), calm);
  while (next.kind === 'lost' || next.value === first.value);
  expect(next.kind).toBe('succeeded');
});

test('C14.1 rows 22 and 23 through a scheduler: resources come back, others go on, and the budget of losses is spent once', async () => {
  const scheduler = new Scheduler({ executors: [threads()], resources: { gpu: 1 } });
  const options = { capabilities: { thread: true }, needs: { gpu: 1 } };
  const deadly = scheduler.define('exit', (code: number) => `exit ${code}`, options);
  const deaths = scheduler.add(deadly, 7).result.catch((error: unknown) => error);
  const lucky = scheduler.add(deadly, 0);
  expect(await deaths).toBeInstanceOf(ExecutorLostError);
  expect(await deaths).toMatchObject({ attempt: 3, executorId: 'threads' });
  // Its first thread has died as well.
  expect(await lucky).toBe('survived');
  expect(await scheduler.add(() => 'here', { needs: { gpu: 1 } })).toBe('here');
  await scheduler.close();
});

test('F1.4 a checkpoint made in a thread is where the next attempt goes on', async () => {
  const scheduler = new Scheduler({ executors: [threads()] });
  const count = scheduler.define('count', (until: number) => until, {
    capabilities: { thread: true },
    retry: 2,
  });
  expect(await scheduler.add(count, 5)).toBe(5);
  await scheduler.close();
});

test('a closed pool takes nothing, and an attempt that was aborted before does not begin', async () => {
  const pool = threads();
  expect(await pool.execute(work('echo', 0), AbortSignal.abort())).toEqual({ kind: 'aborted' });
  expect(pool.isAlive()).toBe(true);
  await pool.close();
  expect([pool.isAlive(), await pool.execute(work('echo', 0), calm)]).toEqual([false, { kind: 'aborted' }]);
});

test('what is no module is refused', () => {
  expect(() => new WorkerThreads({ module: 7 as unknown as string })).toThrow(/module/);
});
