import { expect, test } from 'vitest';
import {
  ClosedError,
  InvalidTaskError,
  PayloadError,
  Scheduler,
  UnknownHandlerError,
  UnsupportedVersionError,
  describeExplanation,
  type SchedulerOptions,
} from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { ControlledStore, factsOf } from '../runtime/controlled-store.js';

const never = (): Promise<never> => new Promise<never>(() => undefined);

/** A world in which one process after the other works on the same store, and time goes on. */
class World {
  readonly clock = new VirtualClock();
  store = new ControlledStore();
  readonly ran: string[] = [];

  begin(options: SchedulerOptions = {}, isStuck = false): Scheduler {
    const scheduler = new Scheduler({ store: this.store, clock: this.clock, concurrency: 1, ...options });
    scheduler.define('work', (input: unknown, task) => {
      this.ran.push(`${task.id}#${task.attempt}`);
      return isStuck ? never() : input;
    });
    return scheduler;
  }

  /** The process is gone from one moment to the next. */
  async crash(): Promise<void> {
    await this.clock.settle();
    this.store = await this.store.crash('lost');
  }

  async restart(options?: SchedulerOptions): Promise<Scheduler> {
    const scheduler = this.begin(options);
    await scheduler.start();
    await this.clock.settle();
    return scheduler;
  }
}

test('B4.1 G1 G2 after a crash pending tasks are back as they were, and what ran runs again', async () => {
  const world = new World();
  const first = world.begin({ aging: false }, true);
  first.add('work', { n: 1 }, { id: 'ran' });
  first.add('work', { n: 2 }, { id: 'low', priority: 'low', channel: 'acme', metadata: { tenant: 'x' } });
  first.add('work', { n: 3 }, { id: 'high', priority: 'high' });
  await first.add('work', { n: 4 }, { id: 'after', after: ['low'], deadline: world.clock.now().wall + 9e6 }).accepted;
  await world.clock.settle();
  const before = first.pending();
  expect(world.ran).toEqual(['high#1']);
  await world.crash();
  await world.clock.advance('5m');

  const second = world.begin({ concurrency: 0, aging: false });
  await second.start();
  expect(second.pending().map(({ id }) => id)).toEqual(['high', ...before.map(({ id }) => id)]);
  expect(second.get('low')).toEqual(before.find(({ id }) => id === 'low'));
  const claim = await second.worker().claim();
  expect(claim?.task).toMatchObject({ id: 'high', attempt: 2, input: { n: 3 } });
  expect(claim?.token.epoch).toBeGreaterThan(1);
  await claim?.release();
  second.setConcurrency(1);
  const inputs = await Promise.all(['high', 'ran', 'low', 'after'].map(async (id) => second.handle(id)));
  expect(inputs).toEqual([{ n: 3 }, { n: 1 }, { n: 2 }, { n: 4 }]);
  expect(world.ran).toEqual(['high#1', 'high#3', 'low#1', 'after#1', 'ran#1']);
  await second.close();
});

test('row 22 a task that takes its process with it every time spends its budget of losses and fails; others go on', async () => {
  const world = new World();
  let scheduler = world.begin({}, true);
  await scheduler.add('work', 1, { id: 'killer', priority: 'high' }).accepted;
  for (let crashes = 0; crashes < 2; crashes += 1) {
    await world.crash();
    scheduler = world.begin({}, true);
    await scheduler.start();
  }
  await world.crash();
  scheduler = world.begin();
  await scheduler.start();
  await expect(scheduler.handle('killer')?.result).rejects.toMatchObject({ code: 'STALE_LEASE' });
  expect(world.ran).toEqual(['killer#1', 'killer#2', 'killer#3']);
  expect(await scheduler.add('work', 'fine')).toBe('fine');
  await scheduler.close();
});

test('B4.2 a function is refused where a store would have to keep it, and one that is not durable is gone after a restart', async () => {
  const world = new World();
  const first = world.begin({ concurrency: 0 });
  expect(() => first.add(() => 1)).toThrow(InvalidTaskError);
  expect(() => first.add(() => 1)).toThrow(/define|durable: false/);
  expect(() => first.repeat(() => 1, { every: '1m' })).toThrow(InvalidTaskError);
  const passing = first.add(() => 1, { id: 'passing', durable: false });
  await passing.accepted;
  const kept = first.add('work', 1, { id: 'kept', after: ['passing'] });
  await expect(kept.accepted).rejects.toThrow(/durable: false too/);
  await first.add('work', 2, { id: 'stays' }).accepted;
  await world.crash();
  const second = await world.restart();
  expect(second.get('passing')).toBeUndefined();
  expect(second.get('stays')?.state).toBe('completed');
  // Its id is free again.
  expect(await second.add(() => 7, { id: 'passing', durable: false })).toBe(7);
  await second.close();
});

test('B4.2 a recovered task whose handler is not defined waits, says so, and goes on once it is', async () => {
  const world = new World();
  const first = world.begin({ concurrency: 0 });
  first.define('render', () => 'old');
  await first.add('render', { page: 1 }, { id: 'r', retry: 2 }).accepted;
  await first.add('work', 1, { id: 'w' }).accepted;
  await world.crash();
  const errors: unknown[] = [];
  const second = world.begin();
  second.on('error', ({ error }) => errors.push(error));
  await second.start();
  expect(await second.handle('w')).toBe(1);
  expect(second.get('r')).toMatchObject({ state: 'ready', attempts: 0 });
  expect(describeExplanation(second.explain('r'))).toMatch(/no handler is defined for "render" yet/);
  expect(errors).toEqual([new UnknownHandlerError({ type: 'render', waiting: 1 })]);
  second.define('render', (input: { page: number }) => `page ${input.page}`);
  expect(await second.handle('r')).toBe('page 1');
  await second.close();
});

test('F6.2 B6.2 closing keeps what is pending: handles say so, a snapshot is the last thing, and the next start goes on', async () => {
  const world = new World();
  const first = world.begin({ concurrency: 2 });
  const seen: string[] = [];
  first.define('slow', (_: undefined, task) => {
    seen.push(`${task.id}#${task.attempt}`);
    if (task.attempt > 1) return 'done';
    return new Promise((_resolve, reject) => {
      task.signal.addEventListener('abort', () => {
        seen.push((task.signal.reason as Error).name);
        reject(task.signal.reason as Error);
      });
    });
  });
  const running = first.add('slow', undefined, { id: 's' });
  const pending = first.add('work', 1, { id: 'p', delay: '1h' });
  await pending.accepted;
  const results = [running.result, pending.result].map((each) => each.catch((error: unknown) => error));
  const closed = first.close({ drain: '10s' });
  await world.clock.advance('10s');
  await world.clock.advance('1s');
  await closed;
  for (const error of await Promise.all(results)) {
    expect(error).toBeInstanceOf(ClosedError);
    expect(error).toMatchObject({ kept: true });
  }
  await expect(first.onIdle()).rejects.toThrow(ClosedError);
  expect(world.store.snapshots).toBe(1);
  const records = world.store.bodies.length;
  const second = new Scheduler({ store: world.store, clock: world.clock });
  second.define('work', (input: number) => input + 1);
  second.define('slow', (_: undefined, task) => {
    seen.push(`${task.id}#${task.attempt}`);
    return 'done';
  });
  await second.start();
  // What was given back has lost nothing: it is the next attempt, without a loss.
  expect(await second.handle('s')).toBe('done');
  expect(seen).toEqual(['s#1', 'ClosedError', 's#2']);
  await world.clock.advance('1h');
  expect(await second.handle('p')).toBe(2);
  expect(
    world.store.bodies
      .slice(records)
      .flatMap(factsOf)
      .map(({ kind }) => kind),
  ).not.toContain('task.submitted');
  await second.close();
});

test('B6.2 snapshots are taken while work goes on, and let the journal before them go', async () => {
  const world = new World();
  const first = world.begin({ concurrency: 4, snapshotEvery: { facts: 50 } });
  for (let round = 0; round < 10; round += 1) {
    const handles = Array.from({ length: 20 }, (_, n) => first.add('work', `${round}-${n}`));
    await Promise.all(handles.map((each) => each.result));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(world.store.snapshots).toBeGreaterThan(1);
  await world.crash();
  let records = 0;
  const loading = await world.store.crash('lost');
  await loading.open();
  for await (const loaded of loading.load()) if (loaded.kind === 'records') records += loaded.bodies.length;
  expect(records).toBeLessThan(world.store.bodies.length);
  world.store = loading;
  const second = await world.restart();
  expect(second.get('task-200')?.result).toBe('9-19');
  await second.close();
});

test('E8 a series goes on after a restart, makes up for what was missed as it says, and is updated by its id', async () => {
  const world = new World();
  const first = world.begin();
  const options = { id: 'report', every: '1m', from: 'grid' } as const;
  first.repeat('work', 'one', options);
  await world.clock.settle();
  await world.clock.advance('1m');
  expect(world.ran).toHaveLength(2);
  await world.crash();
  await world.clock.advance('10m');
  world.ran.length = 0;
  const second = world.begin();
  const series = second.repeat('work', 'two', options);
  await second.start();
  await world.clock.settle();
  expect(world.ran).toHaveLength(1);
  expect(series.runs).toBe(3);
  await world.clock.advance('1m');
  expect(world.ran).toHaveLength(2);
  expect(() => second.repeat('work', 1, { every: '1m' })).toThrow(/id/);
  await second.close();
});

test('E8 a series that was asked for before the start tells how it is, also where other options have changed since', async () => {
  const world = new World();
  const options = { id: 'report', every: '1m', from: 'grid' } as const;
  const first = world.begin({ retain: { count: 5 } });
  first.repeat('work', 'one', options);
  await world.clock.settle();
  await world.crash();
  const second = world.begin({ retain: { count: 7 } });
  const series = second.repeat('work', 'two', options);
  await second.start();
  await world.clock.advance('10m');
  expect([series.runs, series.next]).toEqual([11, world.clock.now().wall + 60_000]);
  series.cancel();
  expect(series.state).toBe('ended');
  await second.close();
});

test('E7 E8 a series that is paused or cancelled before everything is back is so when it is', async () => {
  const world = new World();
  const first = world.begin();
  const paused = first.repeat('work', 1, { id: 'paused', every: '1m', from: 'grid', eta: world.clock.now().wall + 1 });
  const cancelled = first.repeat('work', 1, {
    id: 'cancelled',
    every: '1m',
    from: 'grid',
    eta: world.clock.now().wall + 1,
  });
  paused.pause();
  cancelled.cancel();
  await first.start();
  await world.clock.advance('5m');
  expect([paused.state, cancelled.state, world.ran]).toEqual(['paused', 'ended', []]);
  await world.crash();
  const second = world.begin();
  const again = second.repeat('work', 1, { id: 'paused', every: '1m', from: 'grid' });
  again.resume();
  await second.start();
  await world.clock.settle();
  expect([again.state, world.ran.length]).toEqual(['active', 1]);
  await second.close();
});

test('F5.1 row 25 what was forgotten is known by its end after a restart too, and results are kept as long', async () => {
  const world = new World();
  const first = world.begin({ retain: { count: 1 } });
  await first.add('work', new Map([['a', new Date(5)]]), { id: 'old' });
  await first.add('work', { deep: [1n, undefined, -0, new Set([NaN])] }, { id: 'new' });
  await world.crash();
  const second = await world.restart({ retain: { count: 1 } });
  expect(second.get('old')).toBeUndefined();
  expect(second.explain('old')).toMatchObject({ kind: 'final', state: 'completed' });
  expect(await second.handle('new')).toEqual({ deep: [1n, undefined, -0, new Set([NaN])] });
  expect(await second.add('work', 'x', { after: ['old'] })).toBe('x');
  await second.close();
});

test('the options of the new process count; capacities and limits that they do not name stay as they were set', async () => {
  const world = new World();
  const first = world.begin({ strategy: 'lifo', aging: false, resources: { gpu: 2, cpu: 4 }, retain: { count: 5 } });
  await first.start();
  first.setCapacity('cpu', 8);
  first.worker({ id: 'gone' });
  await first.add('work', 1).accepted;
  await world.crash();
  const second = await world.restart({ strategy: 'fair', resources: { gpu: 3 }, retain: { count: 7 } });
  expect(second.describeOrder()).toMatch(/channel/);
  const { resources } = second.load();
  expect(['gpu', 'cpu'].map((name) => resources.get(name)?.capacity)).toEqual([3, 8]);
  // Workers of the process that is gone are not there any more.
  expect(() => second.worker({ id: 'gone' })).not.toThrow();
  await world.crash();
  const third = await world.restart({ strategy: 'fair', resources: { gpu: 3 }, retain: { count: 7 } });
  expect(third.get('task-1')?.state).toBe('completed');
  await third.close();
});

test('row 10 a journal of a newer version is refused with the version, and left as it is', async () => {
  const world = new World();
  const { epoch, sequence } = await world.store.open();
  await world.store.append(sequence, epoch, '[99,{"kind":"task.dreamt"}]');
  await world.store.close();
  const scheduler = world.begin();
  const added = scheduler.add('work', 1);
  await expect(scheduler.start()).rejects.toThrow(UnsupportedVersionError);
  await expect(scheduler.start()).rejects.toThrow(/99/);
  await expect(added.accepted).rejects.toThrow(UnsupportedVersionError);
  expect(world.store.bodies).toHaveLength(1);
  await scheduler.close();
});

test('row 33 row 20 row 28 payloads: the limit, what cannot be kept, and what pollutes nothing', async () => {
  const world = new World();
  const scheduler = world.begin({ maxPayloadBytes: 100 });
  expect(await scheduler.add('work', 'x'.repeat(98))).toHaveLength(98);
  const appended = world.store.bodies.length;
  expect(() => scheduler.add('work', 'x'.repeat(99), { id: 'big' })).toThrow(/101 bytes, of 100/);
  expect(() => scheduler.add('work', { list: [{ f: () => 1 }] }, { id: 'a' })).toThrow(
    /input of task "a".*list\[0\]\.f/,
  );
  const circle: Record<string, unknown> = {};
  circle['self'] = { circle };
  expect(() => scheduler.add('work', circle)).toThrow(/a task of "work".*self\.circle contains itself/);
  expect(() => scheduler.add('work', { at: new URL('http://x') })).toThrow(/class/);
  expect(world.store.bodies).toHaveLength(appended);
  scheduler.define('gives', (_: undefined) => ({ big: Symbol('x') }), { retry: 3 });
  const failed = scheduler.add('gives', undefined, { id: 'g' });
  await expect(failed.result).rejects.toThrow(PayloadError);
  expect(scheduler.get('g')).toMatchObject({ state: 'failed', attempts: 1 });
  class Place {
    page = 7;
  }
  scheduler.define('stops', (_: undefined, task) => {
    task.checkpoint(new Place());
  });
  await expect(scheduler.add('stops').result).rejects.toThrow(/checkpoint of task .* object of a class/);
  const hostile = JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}},"$":"date"}') as object;
  expect(await scheduler.add('work', hostile, { id: 'h' })).toEqual(hostile);
  await world.crash();
  const second = await world.restart();
  const back = (await second.handle('h')) as object;
  expect(Object.keys(back)).toEqual(['__proto__', 'constructor', '$']);
  expect(({} as { x?: number }).x).toBeUndefined();
  await expect(second.handle('g')?.result).rejects.toMatchObject({ code: 'PAYLOAD' });
  await second.close();
});

test('F4.4 B4.1 after a restart `keep` finds the task that came back, and its result, also when it ends before anybody asks', async () => {
  const world = new World();
  const first = world.begin({}, true);
  await first.add('work', { n: 1 }, { id: 'report' }).accepted;
  await world.crash();

  const second = await world.restart({ concurrency: 0 });
  const kept = second.add('work', { n: 2 }, { id: 'report', ifExists: 'keep' });
  const asked = kept.result;
  await kept.accepted;
  expect([second.size, kept.state]).toEqual([1, 'ready']);
  second.setConcurrency(1);
  expect(await asked).toEqual({ n: 1 });
  expect(await second.add('work', { n: 3 }, { id: 'report', ifExists: 'keep' })).toEqual({ n: 1 });
  await second.close();
});

test('F4.4 B4.1 what took a task’s place is in its place after a restart, for those that come after it too', async () => {
  const world = new World();
  const first = world.begin({ concurrency: 0 });
  first.add('work', { n: 1 }, { id: 'report' });
  first.add('work', { n: 2 }, { id: 'after', after: ['report'] });
  await first.add('work', { n: 3 }, { id: 'report', ifExists: 'replace', delay: '1m' }).accepted;
  await world.crash();

  const second = await world.restart();
  expect(world.ran).toEqual([]);
  await world.clock.advance('1m');
  expect(await second.handle('report')).toEqual({ n: 3 });
  expect(await second.handle('after')).toEqual({ n: 2 });
  await second.close();
});

test('F4.2 B4.1 a burst goes on over a restart: the last call’s input runs, once, after the quiet period', async () => {
  const world = new World();
  const options = { key: 'save', debounce: '10s' } as const;
  const first = world.begin();
  const early = first.add('work', { n: 1 }, options);
  await early.accepted;
  await world.clock.advance('5s');
  await first.add('work', { n: 2 }, options).accepted;
  await world.crash();

  const second = await world.restart();
  const last = second.add('work', { n: 3 }, options);
  await last.accepted;
  expect(last.id).toBe(early.id);
  await world.clock.advance('9s');
  expect(world.ran).toEqual([]);
  await world.clock.advance('1s');
  expect(await last).toEqual({ n: 3 });
  expect(await second.handle(early.id)).toEqual({ n: 3 });
  expect(world.ran).toEqual([`${early.id}#1`]);
  await second.close();
});

test('F4.2 G8 a burst after tasks of which one is forgotten finds their results in the same places over a restart', async () => {
  const world = new World();
  const begin = (): Scheduler => {
    const scheduler = world.begin({ retain: { count: 1 } });
    scheduler.define('join', (_: number, task) => task.dependencies);
    return scheduler;
  };
  const first = begin();
  for (const id of ['x', 'y', 'z']) await first.add('work', id, { id });
  const options = { key: 'k', debounce: '10s' } as const;
  const { id, accepted } = first.add('join', 1, { ...options, after: ['x', 'z'] });
  await accepted;
  await first.add('join', 2, options).accepted;
  await world.crash();
  const second = begin();
  await second.start();
  await world.clock.advance('10s');
  expect(await second.handle(id)).toEqual([undefined, 'z']);
  await second.close();
});

test('G1 F4.4 a call that is to be kept does not share a task that is not, nor the other way round', async () => {
  const world = new World();
  const scheduler = world.begin({ concurrency: 0 });
  const debounced = { key: 'save', debounce: '10s' } as const;
  await scheduler.add('work', 1, { id: 'passing', durable: false }).accepted;
  await scheduler.add('work', 1, debounced).accepted;
  const refused = [
    scheduler.add('work', 2, { id: 'passing', ifExists: 'keep' }),
    scheduler.add('work', 2, { ...debounced, durable: false }),
    ...scheduler.addAll([
      { name: 'work', input: 1, id: 'both', durable: false },
      { name: 'work', input: 2, id: 'both', ifExists: 'keep' },
    ]),
  ];
  for (const { accepted } of refused) await expect(accepted).rejects.toThrow(/durable.*share/s);
  await scheduler.add('work', 3, { id: 'passing', ifExists: 'keep', durable: false }).accepted;
  await scheduler.add('work', 3, debounced).accepted;
  expect(scheduler.size).toBe(2);
  await scheduler.close();
});
