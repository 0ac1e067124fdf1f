import { expect, test } from 'vitest';
import {
  CancelledError,
  ClosedError,
  DependencyFailedError,
  DroppedError,
  ExpiredError,
  Scheduler,
  SchedulerError,
  type Handle,
  type SchedulerOptions,
} from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

function make(options: SchedulerOptions = {}): { clock: VirtualClock; scheduler: Scheduler } {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ clock, concurrency: 1, ...options }) };
}

/** Runs until it is told to stop. */
function endless(scheduler: Scheduler, id: string): Handle<never> {
  return scheduler.add(
    (task) =>
      new Promise<never>((_, reject) => {
        task.signal.addEventListener('abort', () => {
          reject(task.signal.reason as Error);
        });
      }),
    { id },
  );
}

/** One that runs, one that is ready, one that waits and one that is delayed. */
async function oneOfEach(scheduler: Scheduler, clock: VirtualClock): Promise<Handle<unknown>[]> {
  const running = endless(scheduler, 'running');
  const ready = scheduler.add(() => 1, { id: 'ready' });
  const waiting = scheduler.add(() => 1, { id: 'waiting', after: ['ready'], onDependencyFailure: 'run' });
  const delayed = scheduler.add(() => 1, { id: 'delayed', delay: '1h' });
  await clock.advance(0);
  const all = [running, ready, waiting, delayed];
  expect(all.map((each) => each.state)).toEqual(all.map(({ id }) => id));
  return all;
}

async function closeNow(scheduler: Scheduler, clock: VirtualClock): Promise<void> {
  const closed = scheduler.close({ drain: 0 });
  await clock.advance(0);
  await closed;
}

/** What the handle rejects with, which is one of the scheduler's own errors and says whom it is about. */
async function errorOf(handle: Handle<unknown>): Promise<SchedulerError> {
  const error: unknown = await handle.result.then(
    (value) => value,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SchedulerError);
  expect(error).toMatchObject({ taskId: handle.id });
  return error as SchedulerError;
}

async function endsOf(handles: readonly Handle<unknown>[]): Promise<unknown[]> {
  const errors = await Promise.all(handles.map(errorOf));
  return errors.map((error, at) => [error.code, handles[at]?.state]);
}

test('F2 whatever is cancelled settles with CANCELLED and the reason, in whichever state it was', async () => {
  const { clock, scheduler } = make();
  const handles = await oneOfEach(scheduler, clock);
  expect(scheduler.cancel(() => true, { reason: 'enough' })).toBe(4);
  expect(await endsOf(handles)).toEqual(new Array(4).fill(['CANCELLED', 'cancelled']));
  for (const handle of handles) {
    expect(await errorOf(handle)).toBeInstanceOf(CancelledError);
    expect(await errorOf(handle)).toMatchObject({ reason: 'enough' });
  }
  await scheduler.close();
});

test('F2 with its parent, or in a cascade, a task settles with CANCELLED too, and the reason says with whom', async () => {
  const { clock, scheduler } = make();
  const children: Handle<unknown>[] = [];
  const parent = scheduler.add((task) => {
    children.push(task.add(() => 1, { id: 'child' }));
    return new Promise<never>((_, reject) => {
      task.signal.addEventListener('abort', () => {
        reject(task.signal.reason as Error);
      });
    });
  });
  const dependant = scheduler.add(() => 1, { id: 'dependant', after: [parent] });
  await clock.advance(0);
  scheduler.cancel(parent, { cascade: true });
  const [child] = children as [Handle<unknown>];
  expect(await endsOf([parent, child, dependant])).toEqual(new Array(3).fill(['CANCELLED', 'cancelled']));
  expect((await errorOf(child)).message).toMatch(/its parent "?task-1"? was cancelled/);
  expect((await errorOf(dependant)).message).toMatch(/"?task-1"?, which it waits for, was cancelled/);
  await closeNow(scheduler, clock);
});

test('F2 what is cleared settles with CANCELLED as cleared, also in the line before a full scheduler; what runs goes on', async () => {
  const { clock, scheduler } = make({ maxPending: 3, whenFull: 'wait' });
  const [running, ...pending] = await oneOfEach(scheduler, clock);
  const outside = scheduler.add(() => 1, { id: 'outside' });
  expect(scheduler.clear()).toBe(4);
  for (const handle of [...pending, outside]) {
    expect(await errorOf(handle)).toBeInstanceOf(CancelledError);
    expect(await errorOf(handle)).toMatchObject({ code: 'CANCELLED', reason: 'cleared' });
    expect(handle.state).toBe('cancelled');
  }
  expect(running?.state).toBe('running');
  await closeNow(scheduler, clock);
});

test('F2 what is replaced settles with CANCELLED as replaced, in whichever state it was', async () => {
  const { clock, scheduler } = make();
  const handles = await oneOfEach(scheduler, clock);
  for (const { id } of handles) scheduler.add(() => 1, { id, ifExists: 'replace' });
  for (const handle of handles) {
    expect(await errorOf(handle)).toMatchObject({ code: 'CANCELLED', reason: 'replaced' });
    expect(handle.state).toBe('cancelled');
  }
  await scheduler.close();
});

test.each(['drop-oldest', 'drop-lowest'] as const)('F2 what is dropped settles with DROPPED (%s)', async (whenFull) => {
  const { scheduler } = make({ maxPending: 2, whenFull });
  scheduler.pause();
  const dropped = scheduler.add(() => 1, { id: 'a', priority: 'idle' });
  scheduler.add(() => 1, { id: 'b' });
  scheduler.add(() => 1, { id: 'c' });
  expect(await endsOf([dropped])).toEqual([['DROPPED', 'cancelled']]);
  expect(await errorOf(dropped)).toBeInstanceOf(DroppedError);
  expect(await errorOf(dropped)).toMatchObject({ policy: whenFull });
  await scheduler.close();
});

test('F2 what expires settles with EXPIRED and the moment, be it ready, waiting or delayed; what runs goes on', async () => {
  const { clock, scheduler } = make();
  const expires = clock.now().wall + 1_000;
  const running = endless(scheduler, 'running');
  await clock.advance(0);
  const late = [
    scheduler.add(() => 1, { expires }),
    scheduler.add(() => 1, { expires, after: ['running'] }),
    scheduler.add(() => 1, { expires, delay: '1h' }),
  ];
  await clock.advance(999);
  expect(late.map((each) => each.state)).toEqual(['ready', 'waiting', 'delayed']);
  await clock.advance(1);
  expect(await endsOf(late)).toEqual(new Array(3).fill(['EXPIRED', 'cancelled']));
  for (const handle of late) {
    expect(await errorOf(handle)).toBeInstanceOf(ExpiredError);
    expect(await errorOf(handle)).toMatchObject({ expires });
  }
  expect(running.state).toBe('running');
  await closeNow(scheduler, clock);
});

test('F2 what a dependency takes with it settles with DEPENDENCY_FAILED, whether it fails or is skipped', async () => {
  const { scheduler } = make();
  const failing = scheduler.add(() => Promise.reject(new Error('no')), { id: 'failing' });
  const failed = scheduler.add(() => 1, { id: 'failed', after: [failing] });
  const skipped = scheduler.add(() => 1, { after: [failing], onDependencyFailure: 'skip' });
  const below = scheduler.add(() => 1, { after: [skipped] });
  await scheduler.onIdle();
  const onArrival = scheduler.add(() => 1, { after: [failed], onDependencyFailure: 'skip' });
  expect(await endsOf([failed, skipped, below, onArrival])).toEqual([
    ['DEPENDENCY_FAILED', 'failed'],
    ['DEPENDENCY_FAILED', 'skipped'],
    ['DEPENDENCY_FAILED', 'failed'],
    ['DEPENDENCY_FAILED', 'skipped'],
  ]);
  expect(await errorOf(skipped)).toBeInstanceOf(DependencyFailedError);
  expect(await errorOf(skipped)).toMatchObject({ dependencyId: 'failing', state: 'failed' });
  expect(await errorOf(below)).toMatchObject({ dependencyId: skipped.id, state: 'skipped' });
  expect(await errorOf(onArrival)).toMatchObject({ dependencyId: 'failed', state: 'failed' });
  await scheduler.close();
});

test('F2 what a close takes back settles with CLOSED, also in the line and what ran beyond the drain', async () => {
  const { clock, scheduler } = make({ maxPending: 3, whenFull: 'wait' });
  const handles = await oneOfEach(scheduler, clock);
  const outside = scheduler.add(() => 1, { id: 'outside' });
  const closed = closeNow(scheduler, clock);
  for (const handle of [...handles, outside]) {
    expect(await errorOf(handle)).toBeInstanceOf(ClosedError);
    expect(await errorOf(handle)).toMatchObject({ code: 'CLOSED' });
  }
  await closed;
  // Who stood in the line was never taken in, and so not taken back.
  expect([...handles, outside].map(({ state }) => state)).toEqual([
    ...new Array<string>(4).fill('cancelled'),
    'failed',
  ]);
});
