import { expect, test } from 'vitest';
import { ClosedError, DeposedError, Scheduler, StoreError, type SchedulerOptions } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { ControlledStore, factsOf } from './controlled-store.js';

interface Bench {
  readonly store: ControlledStore;
  readonly clock: VirtualClock;
  readonly scheduler: Scheduler;
  /** What was seen from outside, in order. */
  readonly seen: string[];
}

async function bench(options: SchedulerOptions = {}): Promise<Bench> {
  const store = new ControlledStore();
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ store, clock, concurrency: 2, ...options });
  const seen: string[] = [];
  scheduler.define('work', (input: string, task) => {
    seen.push(`runs ${task.id}`);
    return `${input}!`;
  });
  scheduler.define('hang', (_: undefined, task) => {
    seen.push(`runs ${task.id}`);
    return new Promise((_resolve, reject) => {
      task.signal.addEventListener('abort', () => {
        const { reason } = task.signal as { reason: Error };
        seen.push(`aborts ${task.id} ${reason.name}`);
        reject(reason);
      });
    });
  });
  await scheduler.start();
  return { store, clock, scheduler, seen };
}

/** Lets one record after the other be kept, and says what was seen by then. */
async function step({ store, clock, seen }: Bench): Promise<string[]> {
  store.letGo();
  await clock.settle();
  return seen.splice(0);
}

test('B6.1 G1 nothing is accepted, started, told or settled before what caused it is kept', async () => {
  const b = await bench();
  const { store, clock, scheduler, seen } = b;
  for (const name of ['added', 'started', 'completed', 'idle'] as const) {
    scheduler.on(name, (event) => seen.push(`${name} ${'taskId' in event ? event.taskId : ''}`.trim()));
  }
  store.holds = true;
  const handle = scheduler.add('work', 'a', { id: 'a' });
  void handle.accepted.then(() => seen.push('accepted'));
  void handle.then((result) => seen.push(`result ${String(result)}`));
  void scheduler.onIdle().then(() => seen.push('onIdle'));
  await clock.settle();
  expect(seen).toEqual([]);
  expect(store.held.map(({ body }) => factsOf(body).map(({ kind }) => kind))).toEqual([
    ['task.submitted', 'task.ready', 'attempt.started'],
  ]);
  expect(await step(b)).toEqual(['runs a', 'added a', 'started a', 'accepted']);
  // The end is held: who asks for it only now is not told either.
  expect(handle.state).toBe('completed');
  let isTold = false;
  void scheduler.handle('a')?.result.then(() => (isTold = true));
  await clock.settle();
  expect(isTold).toBe(false);
  expect(await step(b)).toEqual(['completed a', 'result a!', 'onIdle', 'idle']);
  expect(isTold).toBe(true);
  store.holds = false;
  await scheduler.close();
});

test('B6.1 what comes of a record without waiting for anything else shares the next one: an end, and a task that is added', async () => {
  const b = await bench();
  const { store, clock, scheduler } = b;
  store.holds = true;
  const addNext = async (): Promise<void> => {
    await scheduler.add('work', 'a', { id: 'a' }).accepted;
    // As far from the record as the writer's own functions take it.
    await (async () => (async () => Promise.resolve())())();
    scheduler.add('work', 'b', { id: 'b' });
  };
  const added = addNext();
  await clock.settle();
  await step(b);
  expect(store.held.map(({ body }) => factsOf(body).map(({ kind, task }) => `${kind} ${task}`))).toEqual([
    ['attempt.ended a', 'task.completed a', ...['task.submitted b', 'task.ready b', 'attempt.started b']],
  ]);
  await added;
  store.holds = false;
  store.letGo();
  await scheduler.close();
});

test('B6.1 an abort is sent, and a claim handed out and settled, when that is kept', async () => {
  const b = await bench();
  const { store, clock, scheduler, seen } = b;
  scheduler.add('hang', undefined, { id: 'h' });
  await clock.settle();
  expect(seen.splice(0)).toEqual(['runs h']);
  store.holds = true;
  scheduler.cancel('h');
  await clock.settle();
  expect(seen).toEqual([]);
  expect(await step(b)).toEqual(['aborts h CancelledError']);
  store.letGo();
  await clock.settle();
  scheduler.setConcurrency(0);
  scheduler.add('work', 'c', { id: 'c' });
  const worker = scheduler.worker({ lease: '1m' });
  const claimed = worker.next();
  void claimed.then((claim) => seen.push(`claimed ${claim.task.id}`));
  await clock.settle();
  expect(seen).toEqual([]);
  store.letGo();
  await clock.settle();
  store.letGo();
  await clock.settle();
  expect(seen.splice(0)).toEqual(['claimed c']);
  const claim = await claimed;
  void claim.complete('done').then(() => seen.push('settled c'));
  await clock.settle();
  expect(seen).toEqual([]);
  expect(await step(b)).toEqual(['settled c']);
  store.holds = false;
  store.letGo();
  await scheduler.close();
});

test('B6 many adds share one append, and those that come meanwhile the next', async () => {
  const { store, clock, scheduler } = await bench({ concurrency: 0 });
  const before = store.bodies.length;
  store.holds = true;
  for (let i = 0; i < 1_000; i += 1) scheduler.add('work', `${i}`);
  await clock.settle();
  for (let i = 0; i < 500; i += 1) scheduler.add('work', `${i}`);
  await clock.settle();
  expect(store.held).toHaveLength(1);
  store.letGo();
  await clock.settle();
  store.holds = false;
  store.letGo();
  await clock.settle();
  expect(store.bodies.length - before).toBe(2);
  await scheduler.close();
});

test('G13 row 8 an append that fails stops everything: nothing is acknowledged or started, and whoever waits is told', async () => {
  const { store, clock, scheduler, seen } = await bench();
  const told: unknown[] = [];
  scheduler.on('error', ({ error }) => told.push(error));
  const running = scheduler.add('hang', undefined, { id: 'h' });
  const waiting = scheduler.add('work', 'w', { id: 'w', delay: '1h' });
  const idle = scheduler.onIdle();
  await waiting.accepted;
  seen.length = 0;
  const cause = new StoreError({ operation: 'append', cause: new Error('EIO') });
  store.failures = [cause];
  const added = scheduler.add('work', 'x', { id: 'x' });
  for (const promise of [added.accepted, added.result, running.result, waiting.result, idle]) {
    await expect(promise).rejects.toBe(cause);
  }
  await clock.settle();
  expect(seen).toEqual(['aborts h StoreError']);
  expect(told).toEqual([cause]);
  // From then on everything is refused with the cause.
  const late = scheduler.add('work', 'y');
  await expect(late.accepted).rejects.toBe(cause);
  await expect(scheduler.handle('w')?.result).rejects.toBe(cause);
  expect(() => {
    scheduler.pauseChannel('default');
  }).toThrow(cause);
  await expect(scheduler.worker().claim()).rejects.toBe(cause);
  await expect(scheduler.onIdle()).rejects.toBe(cause);
  await clock.advance('2h');
  expect(seen).toEqual(['aborts h StoreError']);
  const kept = store.bodies.length;
  await scheduler.close();
  expect(store.bodies).toHaveLength(kept);
});

test('G5 row 39 a deposed scheduler stops at its first refused append', async () => {
  const { store, scheduler } = await bench();
  await store.open();
  await expect(scheduler.add('work', 'x').accepted).rejects.toThrow(DeposedError);
  await expect(scheduler.add('work', 'y').accepted).rejects.toThrow(DeposedError);
  await scheduler.close();
});

test('row 7 without space the same bytes are tried again, nothing is acknowledged or started meanwhile, and it goes on', async () => {
  const { store, clock, scheduler, seen } = await bench();
  const told: unknown[] = [];
  scheduler.on('error', ({ error }) => told.push(error));
  const full = new StoreError({ operation: 'append', kind: 'full' });
  store.failures = [full, full, full];
  const handle = scheduler.add('work', 'a', { id: 'a' });
  await clock.settle();
  // Who comes meanwhile waits to be let in.
  const later = scheduler.add('work', 'b', { id: 'b' });
  void handle.accepted.then(() => seen.push('accepted a'));
  void later.accepted.then(() => seen.push('accepted b'));
  await clock.advance(100);
  await clock.advance(199);
  expect(seen).toEqual([]);
  expect(scheduler.waiting).toBe(1);
  expect(told).toEqual([full]);
  await clock.advance(1);
  expect(seen).toEqual([]);
  await clock.advance(400);
  expect(seen).toEqual(['runs a', 'accepted a', 'runs b', 'accepted b']);
  const submitted = store.bodies.flatMap(factsOf).filter(({ kind }) => kind === 'task.submitted');
  expect(submitted.map(({ task }) => task)).toEqual(['a', 'b']);
  await scheduler.close();
});

test('row 7 B6.2 without space for a snapshot or for compacting it goes on, and does so after the next ones', async () => {
  const { store, scheduler } = await bench({ snapshotEvery: { facts: 4 } });
  const full = new StoreError({ operation: 'save', kind: 'full' });
  store.snapshotFailures = [full];
  store.compactFailures = [full];
  for (let n = 0; store.compactions === 0; n += 1) {
    expect(n).toBeLessThan(50);
    expect(await scheduler.add('work', `${n}`)).toBe(`${n}!`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(store.snapshots).toBeGreaterThanOrEqual(2);
  store.compactFailures = [full];
  await scheduler.close();
  expect(store.compactFailures).toEqual([]);
  await expect(scheduler.add('work', 'late').accepted).rejects.toThrow(ClosedError);
});

test('B6.1 who asks for an end, or whether all have ended, while that is not kept, is told when it is', async () => {
  const b = await bench();
  const { store, clock, scheduler, seen } = b;
  store.holds = true;
  const handle = scheduler.add('work', 'a', { id: 'a' });
  await clock.settle();
  expect(await step(b)).toEqual(['runs a']);
  // It has ended as the core sees it, and that is being written.
  expect(store.held.flatMap(({ body }) => factsOf(body)).map(({ kind }) => kind)).toContain('task.completed');
  void handle.result.then((result) => seen.push(String(result)));
  void scheduler.onIdle().then(() => seen.push('onIdle'));
  await clock.settle();
  expect(seen).toEqual([]);
  expect(await step(b)).toEqual(['a!', 'onIdle']);
  store.holds = false;
  await scheduler.close();
});

test('when too much is unwritten, adding waits and nothing starts until the store has caught up', async () => {
  const { store, clock, scheduler, seen } = await bench({ concurrency: 30 });
  store.holds = true;
  const large = 'x'.repeat(1_000_000);
  const handles = Array.from({ length: 30 }, (_, n) => scheduler.add('work', large, { id: `t${n}` }));
  await clock.settle();
  const { waiting } = scheduler;
  // 16 MiB are 16.8 of these.
  expect(waiting).toBe(30 - 17);
  expect(seen).toEqual([]);
  store.holds = false;
  store.letGo();
  await Promise.all(handles.map((each) => each.accepted));
  expect(scheduler.waiting).toBe(0);
  await Promise.all(handles.map((each) => each.result));
  expect(seen).toEqual(handles.map(({ id }) => `runs ${id}`));
  await scheduler.close();
});

test('F6 closing comes to its end also when its time is over while the last record is written', async () => {
  const { store, clock, scheduler, seen } = await bench({ concurrency: 0 });
  store.holds = true;
  scheduler.add('work', 'a').result.catch(() => undefined);
  await clock.settle();
  void scheduler.close({ drain: 0 }).then(() => seen.push('closed'));
  await clock.advance(1);
  expect(store.held).toHaveLength(1);
  store.letGo();
  for (let turn = 0; turn < 20; turn += 1) await clock.settle();
  expect(seen).toEqual(['closed']);
});

test('G13 a handler that goes on after the store has failed is refused with the cause, whatever it asks for', async () => {
  const { store, scheduler } = await bench();
  const cause = new StoreError({ operation: 'append', cause: new Error('EIO') });
  let goOn = (): void => undefined;
  const refused: unknown[] = [];
  const asked = new Promise<void>((resolve) => {
    scheduler.define('parent', async (_: undefined, task) => {
      await new Promise<void>((told) => (goOn = told));
      const child = task.add('work', 'late');
      for (const promise of [child.accepted, child.result, task.waitFor(waiting)]) {
        await promise.catch((error: unknown) => refused.push(error));
      }
      resolve();
    });
  });
  const waiting = scheduler.add('work', 'w', { delay: '1h' });
  waiting.result.catch(() => undefined);
  scheduler.add('parent').result.catch(() => undefined);
  await waiting.accepted;
  store.failures = [cause];
  await expect(scheduler.add('work', 'x').accepted).rejects.toBe(cause);
  goOn();
  await asked;
  expect(refused).toEqual([cause, cause, cause]);
  await scheduler.close();
});

test('G13 a signal that aborts after the store has failed takes nothing back, and throws nothing where nobody could catch it', async () => {
  const { store, scheduler } = await bench();
  const cause = new StoreError({ operation: 'append', cause: new Error('EIO') });
  const controller = new AbortController();
  const { signal } = controller;
  const handle = scheduler.add('work', 'w', { delay: '1h', signal });
  await handle.accepted;
  store.failures = [cause];
  await expect(scheduler.add('work', 'x').accepted).rejects.toBe(cause);
  const uncaught: unknown[] = [];
  const note = (error: unknown): unknown => uncaught.push(error);
  process.prependOnceListener('uncaughtException', note);
  controller.abort();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('uncaughtException', note);
  expect(uncaught).toEqual([]);
  await expect(handle.result).rejects.toBe(cause);
  await scheduler.close();
});
