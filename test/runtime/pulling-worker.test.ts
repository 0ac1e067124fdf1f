import { expect, test } from 'vitest';
import {
  Scheduler,
  StaleLeaseError,
  type Claim,
  type PlaceTraits,
  type PullingWorker,
  type SchedulerOptions,
  type TaskContext,
} from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

const nothing = (): unknown => undefined;

function pulled(options: SchedulerOptions = {}): { readonly clock: VirtualClock; readonly scheduler: Scheduler } {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ concurrency: 0, clock, ...options }) };
}

async function claimed(worker: PullingWorker): Promise<Claim> {
  const claim = await worker.claim();
  if (claim === undefined) throw new Error('nothing was claimed');
  return claim;
}

test('concurrency 0: only claims hand work out', async () => {
  const { clock, scheduler } = pulled();
  const handle = scheduler.add(() => 'ran here');
  await clock.advance('1h');
  expect(handle.state).toBe('ready');
  const claim = await claimed(scheduler.worker());
  await claim.complete('done elsewhere');
  expect(await handle).toBe('done elsewhere');
  await scheduler.close();
});

test('A3.3 where nothing is eligible a claim answers at once with nothing', async () => {
  const { scheduler } = pulled();
  const worker = scheduler.worker();
  expect(await worker.claim()).toBeUndefined();
  expect(await worker.claimBatch(3)).toEqual([]);
  await scheduler.close();
});

test('A3.1 A3.2 a batch is claimed in one step, in order, and never beyond the slots', async () => {
  const { scheduler } = pulled();
  for (const priority of [3, 1, 2, 0]) scheduler.add(nothing, { id: `p${String(priority)}`, priority });
  const worker = scheduler.worker({ slots: 3 });
  const claims = await worker.claimBatch(Infinity);
  expect(claims.map(({ task }) => task.id)).toEqual(['p0', 'p1', 'p2']);
  expect(await worker.claim()).toBeUndefined();
  await claims[0]?.complete();
  expect((await worker.claim())?.task.id).toBe('p3');
});

test('a claim runs the function of its task, and settles with what comes of it', async () => {
  const { scheduler } = pulled();
  const worker = scheduler.worker({ retries: 0 });
  const first = scheduler.add(() => 20);
  const sum = scheduler.add((task) => task.dependencies[0] + task.attempt, { after: [first] });
  const broken = new Error('broken');
  const fails = scheduler.add(() => Promise.reject(broken));
  const results = Promise.allSettled([first.result, sum.result, fails.result]);
  for (let i = 0; i < 3; i += 1) await (await claimed(worker)).run();
  expect(await results).toEqual([
    { status: 'fulfilled', value: 20 },
    { status: 'fulfilled', value: 21 },
    { status: 'rejected', reason: broken },
  ]);
  await scheduler.close();
});

test('B3.4 a failed claim is tried again as the worker’s retries say, a released one costs nothing', async () => {
  const { scheduler } = pulled();
  const handle = scheduler.add(nothing);
  const worker = scheduler.worker({ retries: 1 });
  await (await claimed(worker)).release();
  await (await claimed(worker)).fail(new Error('first'));
  const last = await claimed(worker);
  expect([last.task.attempt, last.token]).toEqual([3, { epoch: 1, attempt: 3, sequence: 1 }]);
  await last.fail(new Error('second'));
  await expect(handle.result).rejects.toThrow('second');
  await scheduler.close();
});

test('A3.4 a lease that is not extended ends: the signal aborts, the task is claimable, the old claim is stale', async () => {
  const { clock, scheduler } = pulled();
  const handle = scheduler.add(nothing);
  const worker = scheduler.worker({ lease: '10s' });
  const claim = await claimed(worker);
  const { signal } = claim.task;
  await clock.advance('9s');
  await claim.extend();
  await clock.advance('9s');
  await claim.extend('20s');
  await clock.advance('19s');
  expect(signal.aborted).toBe(false);
  await clock.advance('1s');
  expect(signal.aborted).toBe(true);
  const again = await claimed(worker);
  for (const stale of [claim.complete(1), claim.fail(1), claim.extend(), claim.release()]) {
    await expect(stale).rejects.toBeInstanceOf(StaleLeaseError);
  }
  expect(handle.state).toBe('running');
  // Asked for only now, it still says that there is nothing to work for.
  await again.complete('second');
  expect(again.task.signal.aborted).toBe(true);
  expect(await handle).toBe('second');
  await scheduler.close();
});

test('a lease of Infinity never ends', async () => {
  const { clock, scheduler } = pulled();
  const handle = scheduler.add(nothing);
  const claim = await claimed(scheduler.worker({ lease: Infinity }));
  await clock.advance('100d');
  await claim.complete('late');
  expect(await handle).toBe('late');
  await scheduler.close();
});

test('a claim whose task is cancelled is told by its signal, and gives back what it held when it settles', async () => {
  const { scheduler } = pulled({ resources: { gpu: 1 } });
  const handle = scheduler.add(nothing, { needs: { gpu: 1 } });
  scheduler.add(nothing, { id: 'next', needs: { gpu: 1 } });
  const worker = scheduler.worker();
  const claim = await claimed(worker);
  const { signal } = claim.task;
  handle.cancel('no longer wanted');
  await expect(handle.result).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(signal.aborted).toBe(true);
  expect(await worker.claim()).toBeUndefined();
  await expect(claim.complete(1)).rejects.toMatchObject({ code: 'STALE_LEASE' });
  expect((await worker.claim())?.task.id).toBe('next');
});

test('A2.1 a worker claims by its own strategy, and by another one from the next claim on', async () => {
  const { scheduler } = pulled({ strategy: 'fifo' });
  for (const id of ['1', '2', '3', '4', '5']) scheduler.add(nothing, { id });
  const worker = scheduler.worker({ strategy: 'lifo' });
  expect((await claimed(worker)).task.id).toBe('5');
  worker.setStrategy('fifo');
  expect((await claimed(worker)).task.id).toBe('1');
  worker.setStrategy({ name: 'longest', rank: (task) => -task.id.length, describe: () => 'longest' });
  scheduler.add(nothing, { id: 'long' });
  expect((await claimed(worker)).task.id).toBe('long');
  expect(() => {
    worker.setStrategy('newest' as 'fifo');
  }).toThrow(/lifo/);
});

test('A4 a worker takes what it offers the capabilities for, and what its filter accepts', async () => {
  const { scheduler } = pulled();
  scheduler.add(nothing, { id: 'mac', capabilities: { os: 'mac' } });
  scheduler.add(nothing, { id: 'linux', capabilities: { os: 'linux' } });
  scheduler.add(nothing, { id: 'gold', channel: 'gold' });
  const linux = scheduler.worker({
    capabilities: { os: ['linux', 'bsd'] },
    filter: ({ channel }) => channel !== 'gold',
  });
  expect((await linux.claimBatch(9)).map(({ task }) => task.id)).toEqual(['linux']);
  const golden = scheduler.worker({ filter: ({ channel }) => channel === 'gold' });
  expect((await golden.claimBatch(9)).map(({ task }) => task.id)).toEqual(['gold']);
});

test('A4 a filter is shown what all tasks of a place have in common, and nothing else', async () => {
  const scheduler = new Scheduler({ concurrency: 0, resources: { gpu: 2 } });
  const shown: unknown[] = [];
  const filter = (place: PlaceTraits): boolean => shown.push(place) > 0;
  const worker = scheduler.worker({ capabilities: { os: 'linux' }, filter });
  const render = scheduler.define('render', () => 'done', { needs: { gpu: 1 }, capabilities: { os: 'linux' } });
  for (const id of ['a', 'b']) scheduler.add(render, undefined, { id, channel: 'gold' }).catch(() => undefined);
  expect((await worker.claim())?.task.id).toBe('a');
  expect(shown).toEqual([{ channel: 'gold', type: 'render', needs: ['gpu'], capabilities: [['os', 'linux']] }]);
});

test('G4 a second result is refused with a reason that says what may have happened', async () => {
  const scheduler = new Scheduler({ concurrency: 0 });
  scheduler.add(() => 1, { id: 'a' }).catch(() => undefined);
  const claim = await scheduler.worker().claim();
  await claim?.complete();
  await expect(claim?.complete()).rejects.toMatchObject({
    ...{ code: 'STALE_LEASE', taskId: 'a', attempt: 1 },
    reason: 'it has ended, or was taken back, timed out or lost its lease',
  });
});

test('F1.1 claims are an async iterator that ends when the worker is closed', async () => {
  const { clock, scheduler } = pulled();
  const worker = scheduler.worker({ slots: 1 });
  const seen: string[] = [];
  const loop = (async () => {
    for await (const claim of worker) {
      seen.push(claim.task.id);
      await claim.run();
    }
    return 'ended';
  })();
  const handles = ['a', 'b', 'c'].map((id) => scheduler.add(() => id, { id }));
  expect(await Promise.all(handles.map(({ result }) => result))).toEqual(['a', 'b', 'c']);
  await clock.settle();
  await worker.close();
  expect(await loop).toBe('ended');
  expect(seen).toEqual(['a', 'b', 'c']);
  await scheduler.close();
});

test('a closed worker gives back unharmed what it holds, waits for nothing, and claims nothing', async () => {
  const { scheduler } = pulled();
  scheduler.add(nothing, { id: 'kept', retry: 1 });
  const worker = scheduler.worker({ id: 'w', slots: 1 });
  const claim = await claimed(worker);
  const waiting = worker.next();
  await worker.close();
  await worker.close();
  await expect(waiting).rejects.toMatchObject({ code: 'CLOSED', workerId: 'w' });
  await expect(worker.claim()).rejects.toMatchObject({ code: 'CLOSED' });
  await expect(worker.claimBatch(1)).rejects.toMatchObject({ code: 'CLOSED' });
  await expect(worker.next()).rejects.toMatchObject({ code: 'CLOSED' });
  expect(() => {
    worker.setStrategy('fifo');
  }).toThrow(/closed/);
  await expect(claim.complete()).rejects.toMatchObject({ code: 'STALE_LEASE' });
  // The id is free again, and what the old worker is told concerns the new one in no way.
  await using successor = scheduler.worker({ id: 'w' });
  await worker.close();
  const again = await claimed(successor);
  expect([again.task.id, again.task.attempt]).toEqual(['kept', 2]);
  await again.complete();
});

test('closing the scheduler ends the waits, lets claims settle, and cancels what comes back', async () => {
  const { clock, scheduler } = pulled();
  const worker = scheduler.worker({ lease: '10s' });
  const settled = scheduler.add(nothing, { priority: 0 });
  const lost = scheduler.add(nothing, { priority: 1 });
  const released = scheduler.add(nothing, { priority: 2 });
  const untouched = scheduler.add(nothing, { priority: 3 });
  const [one, , three] = await worker.claimBatch(3);
  const waiting = scheduler.worker({ filter: () => false }).next();
  let isClosed = false;
  const closed = scheduler.close().then(() => (isClosed = true));
  await expect(waiting).rejects.toMatchObject({ code: 'CLOSED' });
  await expect(worker.claim()).rejects.toMatchObject({ code: 'CLOSED' });
  await expect(untouched.result).rejects.toMatchObject({ code: 'CLOSED' });
  await one?.complete('in time');
  await three?.release();
  expect(await settled).toBe('in time');
  await expect(released.result).rejects.toMatchObject({ code: 'CLOSED' });
  await clock.advance('9s');
  expect([isClosed, lost.state]).toEqual([false, 'running']);
  await clock.advance('1s');
  await expect(lost.result).rejects.toMatchObject({ code: 'CLOSED' });
  await closed;
  expect(() => scheduler.worker()).toThrow(/closed/);
});

test.each([
  [{ id: '' }, 'id'],
  [{ id: 'local' }, 'id'],
  [{ id: 'taken' }, 'id'],
  [{ slots: 0 }, 'slots'],
  [{ slots: '2' }, 'slots'],
  [{ lease: 0 }, 'lease'],
  [{ lease: 'soon' }, 'lease'],
  [{ retries: -1 }, 'retries'],
  [{ retries: 0.5 }, 'retries'],
  [{ strategy: 'newest' }, 'strategy'],
  [{ filter: 'gold' }, 'filter'],
  [{ capabilities: ['gpu'] }, 'capabilities'],
  [{ capabilities: { gpu: {} } }, 'capabilities.gpu'],
  [{ capabilities: { gpu: [Number.NaN] } }, 'capabilities.gpu'],
  [{ slot: 1 }, 'slot'],
  [7, 'options'],
])('bad input: a worker with %j is refused', async (options, field) => {
  const { scheduler } = pulled();
  scheduler.worker({ id: 'taken' });
  expect(() => scheduler.worker(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field }));
  await scheduler.close();
});

test('bad input: a batch of no size and a lease of no length are refused', async () => {
  const { scheduler } = pulled();
  scheduler.add(nothing);
  const worker = scheduler.worker();
  for (const count of [0, -1, 1.5, '2' as unknown as number]) {
    await expect(worker.claimBatch(count)).rejects.toMatchObject({ code: 'INVALID_CONFIG', field: 'count' });
  }
  const claim = await claimed(worker);
  await expect(claim.extend(0)).rejects.toMatchObject({ code: 'INVALID_CONFIG', field: 'duration' });
  await expect(claim.extend('soon')).rejects.toMatchObject({ field: 'duration' });
  await claim.complete();
  await scheduler.close();
});

test('workers that are given no id get one that is free', async () => {
  const { scheduler } = pulled();
  scheduler.worker({ id: 'worker-2' });
  expect([scheduler.worker().id, scheduler.worker().id]).toEqual(['worker-1', 'worker-3']);
  await scheduler.close();
});

test('B8 C14 a batch is distributed over the workers by free slots, as foreseen, and completions come back', async () => {
  const { scheduler } = pulled();
  const large = scheduler.worker({ id: 'large', slots: 2 });
  scheduler.worker({ id: 'small', slots: 1 });
  scheduler.worker({ id: 'picky', slots: 9, filter: () => true });
  const handles = ['a', 'b', 'c', 'd'].map((id) => scheduler.add(() => id, { id }));
  const foreseen = scheduler.foresee(3).map(({ task, worker }) => `${task} > ${worker}`);
  expect(foreseen).toEqual(['a > large', 'b > small', 'c > large']);
  expect(handles.map(({ state }) => state)).toEqual(['ready', 'ready', 'ready', 'ready']);
  const claims = await scheduler.assign(3);
  expect(claims.map(({ task, workerId }) => `${task.id} > ${workerId}`)).toEqual(foreseen);
  expect(await scheduler.assign(3, { balance: 'round-robin' })).toEqual([]);
  for (const claim of claims) await claim.run();
  expect(await Promise.all(handles.slice(0, 3))).toEqual(['a', 'b', 'c']);
  expect((await large.claim())?.task.id).toBe('d');
  await expect(scheduler.assign(0)).rejects.toThrow(expect.objectContaining({ field: 'count' }));
});

test('A3.4 running a claim that was taken away runs nothing; running one twice, or one that was settled, is refused', async () => {
  const { clock, scheduler } = pulled();
  const ran: string[] = [];
  const worker = scheduler.worker({ lease: '1s' });
  const add = (id: string): unknown => scheduler.add((task) => ran.push(`${task.id}#${task.attempt}`), { id }).result;
  void add('lost');
  const lost = await claimed(worker);
  await clock.advance('1s');
  await lost.run();
  expect(ran).toEqual([]);
  await (await claimed(worker)).run();
  void add('settled');
  const settled = await claimed(worker);
  await settled.complete();
  await expect(settled.run()).rejects.toBeInstanceOf(StaleLeaseError);
  void add('twice');
  const twice = await claimed(worker);
  const [first, second] = await Promise.allSettled([twice.run(), twice.run()]);
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
  const cancelled = scheduler.add(() => ran.push('cancelled'), { id: 'cancelled' });
  const given = await claimed(worker);
  cancelled.cancel();
  await given.run();
  expect(ran).toEqual(['lost#2', 'twice#1']);
  // It gave back what it held all the same.
  expect(scheduler.running).toBe(0);
  await scheduler.close();
});

test('A3.4 F6.1 a loop that runs its claims goes on when one times out, is cancelled or fails, and ends when all is closed', async () => {
  const { clock, scheduler } = pulled();
  const worker = scheduler.worker({ slots: 1 });
  let rounds = 0;
  const loop = (async () => {
    for await (const claim of worker) {
      rounds += 1;
      await claim.run();
    }
    return 'ended';
  })();
  const untilAborted = ({ signal }: TaskContext): Promise<never> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  const once = { retry: 1 };
  const late = scheduler.add(untilAborted, { ...once, timeout: '1s' });
  const unwanted = scheduler.add(untilAborted, once);
  const failing = scheduler.add(() => Promise.reject(new RangeError('no')), once);
  const last = scheduler.add(() => 'done');
  await clock.advance('1s');
  unwanted.cancel();
  await expect(late.result).rejects.toMatchObject({ code: 'TIMEOUT' });
  await expect(unwanted.result).rejects.toMatchObject({ code: 'CANCELLED' });
  await expect(failing.result).rejects.toThrow(RangeError);
  expect(await last).toBe('done');
  expect(rounds).toBe(4);
  const aborted = scheduler.add(untilAborted, once);
  await clock.settle();
  const closed = scheduler.close({ drain: '1s' });
  await clock.advance('1s');
  await closed;
  await expect(aborted.result).rejects.toMatchObject({ code: 'CLOSED' });
  expect(await loop).toBe('ended');
});

test('A3.4 what comes too late and is awaited by nobody does not end the process', async () => {
  const { clock, scheduler } = pulled();
  const worker = scheduler.worker({ lease: '1s' });
  const handle = scheduler.add(nothing);
  const late = await claimed(worker);
  await clock.advance('1s');
  void late.complete();
  void late.fail(new Error('no'));
  void late.release();
  void late.extend();
  // The process would be told a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  expect(handle.state).toBe('ready');
  await scheduler.close();
});

test('A3.4 bad input: a claim is not completed with a promise, and still counts then', async () => {
  const { scheduler } = pulled();
  const handle = scheduler.add(nothing);
  const claim = await claimed(scheduler.worker());
  for (const promise of [Promise.reject(new Error('no')), handle, Object.assign(nothing, { then: nothing })]) {
    void Promise.resolve(promise === handle ? undefined : promise).catch(nothing);
    await expect(claim.complete(promise)).rejects.toMatchObject({ code: 'PAYLOAD', taskId: 'task-1', part: 'result' });
  }
  expect(handle.state).toBe('running');
  await claim.complete('a value');
  expect(await handle).toBe('a value');
  await scheduler.close();
});
