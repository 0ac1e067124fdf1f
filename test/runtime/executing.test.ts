import { expect, test } from 'vitest';
import {
  CancelledError,
  InProcess,
  InvalidConfigError,
  Scheduler,
  StaleLeaseError,
  TimeoutError,
  type ExecutionOutcome,
  type Executor,
  type SchedulerOptions,
  type Work,
} from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

/** An executor whose attempts end when the test says so. */
class Bench implements Executor {
  readonly works: Work[] = [];
  readonly signals: AbortSignal[] = [];
  readonly ends: ((outcome: ExecutionOutcome) => void)[] = [];
  readonly exclusive: boolean | undefined;
  readonly capabilities: Executor['capabilities'];
  readonly lease: number | undefined;
  alive = true;
  closed = 0;

  constructor(
    readonly id: string,
    readonly slots = 1,
    options: Pick<Executor, 'capabilities' | 'exclusive'> & { readonly lease?: number } = {},
  ) {
    this.capabilities = options.capabilities;
    this.exclusive = options.exclusive;
    this.lease = options.lease;
  }

  execute(work: Work, signal: AbortSignal): Promise<ExecutionOutcome> {
    this.works.push(work);
    this.signals.push(signal);
    return new Promise((resolve) => this.ends.push(resolve));
  }

  isAlive(): boolean {
    return this.alive;
  }

  close(): void {
    this.closed += 1;
  }

  get ids(): string[] {
    return this.works.map(({ taskId }) => taskId);
  }

  end(at: number, outcome: ExecutionOutcome = { kind: 'succeeded', value: at }): void {
    this.ends[at]?.(outcome);
  }
}

function virtual(options: SchedulerOptions): { readonly clock: VirtualClock; readonly scheduler: Scheduler } {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ clock, concurrency: 0, ...options }) };
}

const nothing = (): unknown => undefined;
const failure = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

test('C14 attempts go to whichever executor has most slots free, in order of urgency, and never beyond its slots', async () => {
  const [small, large] = [new Bench('small', 2), new Bench('large', 4)];
  const { clock, scheduler } = virtual({ executors: [small, large] });
  for (let i = 1; i <= 8; i += 1) scheduler.add(nothing, { id: `t${i}`, priority: i });
  await clock.settle();
  expect([small.ids, large.ids]).toEqual([
    ['t3', 't5'],
    ['t1', 't2', 't4', 't6'],
  ]);
  small.end(0);
  await clock.settle();
  expect([small.ids, scheduler.size]).toEqual([['t3', 't5', 't7'], 1]);
});

test('C14 executors and the built-in slots share the work, and each takes only what it suits', async () => {
  const gpu = new Bench('gpu', 2, { capabilities: { gpu: ['a100', 'h100'] }, exclusive: true });
  const { clock, scheduler } = virtual({ concurrency: 1, executors: [gpu] });
  const here = await scheduler.add(() => 'here');
  scheduler.add(nothing, { id: 'train', capabilities: { gpu: 'h100' } });
  scheduler.add(nothing, { id: 'never', capabilities: { gpu: 'tpu' } });
  expect(await scheduler.add(() => 'here too')).toBe('here too');
  await clock.settle();
  expect([here, gpu.ids, scheduler.size]).toEqual(['here', ['train'], 1]);
});

test('C14 with round-robin the built-in slots and the executors take turns, from start to start', async () => {
  const [left, right] = [new Bench('left', 3), new Bench('right', 9)];
  const { clock, scheduler } = virtual({ concurrency: 5, executors: [left, right], balance: 'round-robin' });
  const here: string[] = [];
  const ends: (() => void)[] = [];
  const hold = (task: { readonly id: string }): Promise<void> => {
    here.push(task.id);
    return new Promise((resolve) => ends.push(resolve));
  };
  for (let i = 1; i <= 4; i += 1) scheduler.add(hold, { id: `t${i}` });
  await clock.settle();
  scheduler.add(hold, { id: 't5' });
  await clock.settle();
  for (let i = 6; i <= 9; i += 1) scheduler.add(hold, { id: `t${i}` });
  await clock.settle();
  expect([here, left.ids, right.ids]).toEqual([
    ['t1', 't4', 't7'],
    ['t2', 't5', 't8'],
    ['t3', 't6', 't9'],
  ]);
  // Whoever has no slot is passed over, and a slot that becomes free here is not the next for that reason.
  scheduler.add(hold, { id: 't10' });
  scheduler.add(hold, { id: 't11' });
  ends[0]?.();
  await clock.settle();
  expect([here.slice(3), left.ids.slice(3), right.ids.slice(3)]).toEqual([['t10'], [], ['t11']]);
  scheduler.setConcurrency(2);
  scheduler.add(hold, { id: 't12' });
  await clock.settle();
  expect(right.ids.at(-1)).toBe('t12');
});

test('C14 a slot of this process that becomes free is no reason to run here what another has more room for', async () => {
  const bench = new Bench('bench', 5);
  const { clock, scheduler } = virtual({ concurrency: 3, executors: [bench], limits: { global: 3 } });
  let open = (): void => undefined;
  for (const id of ['a', 'b', 'c', 'd']) {
    scheduler.add(() => new Promise<void>((resolve) => (open = resolve)), { id });
  }
  await clock.settle();
  expect([bench.ids, scheduler.get('c')?.state, scheduler.get('d')?.state]).toEqual([['a', 'b'], 'running', 'ready']);
  scheduler.setConcurrency(1);
  open();
  await clock.settle();
  expect(bench.ids).toEqual(['a', 'b', 'd']);
});

test('C14 capabilities decide before turns do', async () => {
  const [gpu, cpu] = [new Bench('gpu', 9, { capabilities: { gpu: true } }), new Bench('cpu', 9)];
  const { clock, scheduler } = virtual({ executors: [gpu, cpu], balance: 'round-robin' });
  for (let i = 1; i <= 3; i += 1)
    scheduler.add(nothing, { id: `g${i}`, capabilities: { gpu: true }, priority: 'high' });
  for (let i = 1; i <= 4; i += 1) scheduler.add(nothing, { id: `t${i}` });
  await clock.settle();
  expect([gpu.ids, cpu.ids]).toEqual([
    ['g1', 'g2', 'g3', 't2', 't4'],
    ['t1', 't3'],
  ]);
});

test('C14 a worker that claims for itself in between does not begin the turns anew', async () => {
  const [left, right] = [new Bench('left', 9), new Bench('right', 9)];
  const { clock, scheduler } = virtual({ executors: [left, right], balance: 'round-robin' });
  const worker = scheduler.worker({ capabilities: { own: true }, slots: 9 });
  for (let i = 1; i <= 4; i += 1) {
    scheduler.add(nothing, { id: `t${i}` });
    await clock.settle();
    scheduler.add(nothing, { capabilities: { own: true } });
    expect(await worker.claim()).toBeDefined();
  }
  expect([left.ids, right.ids]).toEqual([
    ['t1', 't3'],
    ['t2', 't4'],
  ]);
});

test('C14 a batch for pulling workers is distributed as the scheduler says, unless it is told otherwise', async () => {
  const { scheduler } = virtual({ balance: 'round-robin' });
  for (const [id, slots] of [['small', 4] as const, ['large', 9] as const]) scheduler.worker({ id, slots });
  for (let i = 1; i <= 8; i += 1) scheduler.add(nothing, { id: `t${i}` });
  const workers = async (balance?: 'least-loaded'): Promise<string[]> =>
    (await scheduler.assign(2, { balance })).map(({ workerId }) => workerId);
  expect(scheduler.foresee(2).map(({ worker }) => worker)).toEqual(['small', 'large']);
  expect([await workers(), await workers(), await workers('least-loaded')]).toEqual([
    ['small', 'large'],
    ['small', 'large'],
    ['large', 'large'],
  ]);
});

test('C14 bad input: a balance that is none is refused with those there are', () => {
  const given = { balance: 'best' as 'round-robin' };
  expect(() => new Scheduler(given)).toThrow(InvalidConfigError);
  expect(() => new Scheduler(given)).toThrow(/balance.*"best".*"least-loaded", "round-robin"/);
});

test('what an executor is handed: the attempt as data, and the task’s own function', async () => {
  const bench = new Bench('bench');
  const { clock, scheduler } = virtual({ executors: [bench] });
  const first = scheduler.add(nothing, { id: 'first' });
  const second = scheduler.add((task) => `ran #${task.attempt} after ${String(task.dependencies[0])}`, {
    id: 'second',
    channel: 'acme',
    after: [first],
    retry: 2,
    metadata: { of: 'acme' },
  });
  await clock.settle();
  bench.end(0);
  await clock.settle();
  bench.works[1]?.checkpoint({ half: true });
  bench.end(1, { kind: 'failed', error: new Error('again') });
  await clock.settle();
  const work = bench.works[2] as Work;
  expect(work).toMatchObject({
    taskId: 'second',
    attempt: 2,
    token: { attempt: 2 },
    name: '',
    channel: 'acme',
    dependencies: [0],
    resumed: { half: true },
    metadata: { of: 'acme' },
  });
  bench.end(2, { kind: 'succeeded', value: await work.run() });
  expect(await second).toBe('ran #2 after 0');
});

test('outcomes: failed is tried again by the policy, unless of no use; thrown is failed; aborted costs nothing', async () => {
  const bench = new Bench('bench');
  const { clock, scheduler } = virtual({ executors: [bench] });
  const result = failure(scheduler.add(nothing, { retry: 3 }).result);
  await clock.settle();
  bench.end(0, { kind: 'aborted' });
  await clock.settle();
  bench.end(1, { kind: 'failed', error: new Error('first') });
  await clock.settle();
  const last = new TypeError('hopeless');
  bench.end(2, { kind: 'failed', error: last, retryable: false });
  expect(await result).toBe(last);
  expect(bench.works.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);

  const thrower: Executor = {
    id: 'thrower',
    slots: 1,
    execute: () => {
      throw last;
    },
  };
  const other = virtual({ executors: [thrower] });
  expect(await failure(other.scheduler.add(nothing).result)).toBe(last);
});

test('row 22 an attempt whose executor lost it is tried again until the budget is spent, with the reason of the last loss', async () => {
  const bench = new Bench('bench');
  const { clock, scheduler } = virtual({ executors: [bench] });
  const deadly = failure(scheduler.add(nothing, { id: 'deadly' }).result);
  const harmless = scheduler.add(nothing, { id: 'harmless', priority: 'idle' });
  for (const at of [0, 1, 2]) {
    await clock.settle();
    bench.end(at, { kind: 'lost', error: new Error(`crash ${at + 1}`) });
  }
  expect(await deadly).toMatchObject({ message: 'crash 3' });
  expect(scheduler.explain('deadly')).toMatchObject({ kind: 'final', state: 'failed', error: { message: 'crash 3' } });
  await clock.settle();
  bench.end(3);
  expect([bench.ids, await harmless]).toEqual([['deadly', 'deadly', 'deadly', 'harmless'], 3]);
});

test('A3.4 the lease of an executor that lives is renewed; of one that is gone it ends, and the attempt runs elsewhere', async () => {
  const [gone, there] = [new Bench('gone', 1, { lease: 9_000 }), new Bench('there', 1, { lease: 9_000 })];
  const { clock, scheduler } = virtual({ executors: [gone, there] });
  const first = scheduler.add(nothing, { id: 'first' });
  scheduler.add(nothing, { id: 'second' });
  await clock.advance('10m');
  expect([gone.ids, there.ids, scheduler.running]).toEqual([['first'], ['second'], 2]);
  gone.alive = false;
  there.end(0);
  await clock.advance('5s');
  expect(gone.signals[0]?.aborted).toBe(false);
  await clock.advance('4s');
  expect(gone.signals[0]?.reason).toBeInstanceOf(StaleLeaseError);
  expect(there.ids).toEqual(['second', 'first']);
  // What the lost one says now changes nothing.
  gone.end(0, { kind: 'succeeded', value: 'stale' });
  await clock.settle();
  there.end(1, { kind: 'succeeded', value: 'fresh' });
  expect(await first).toBe('fresh');
});

test('an executor that is gone is handed nothing, and is found again when it is back', async () => {
  const bench = new Bench('bench');
  bench.alive = false;
  const { clock, scheduler } = virtual({ executors: [bench] });
  scheduler.add(nothing, { id: 'a' });
  await clock.advance('10s');
  expect([bench.ids, clock.timers.length]).toEqual([[], 1]);
  bench.alive = true;
  await clock.advance('1s');
  expect(bench.ids).toEqual(['a']);
  // While nothing waits for it, nobody asks.
  bench.alive = false;
  bench.end(0);
  await clock.settle();
  expect(clock.timers).toEqual([]);
});

test('row 19 an attempt is aborted with the reason, and keeps its slot until the executor has ended it', async () => {
  const bench = new Bench('bench');
  const { clock, scheduler } = virtual({ executors: [bench] });
  const slow = failure(scheduler.add(nothing, { id: 'slow', timeout: '1s' }).result);
  const unwanted = scheduler.add(nothing, { id: 'unwanted' });
  await clock.advance('1s');
  expect(await slow).toBeInstanceOf(TimeoutError);
  expect(bench.signals[0]?.reason).toBeInstanceOf(TimeoutError);
  expect(bench.ids).toEqual(['slow']);
  bench.end(0);
  await clock.settle();
  expect(bench.ids).toEqual(['slow', 'unwanted']);
  const cancelled = failure(unwanted.result);
  unwanted.cancel();
  expect(await cancelled).toBeInstanceOf(CancelledError);
  expect(bench.signals[1]?.reason).toBeInstanceOf(CancelledError);
});

test('an executor that answers nonsense has failed the attempt, with what it said', async () => {
  const bench = new Bench('bench');
  const { clock, scheduler } = virtual({ executors: [bench] });
  const result = failure(scheduler.add(nothing, { retry: 5 }).result);
  await clock.settle();
  bench.end(0, 'done' as unknown as ExecutionOutcome);
  expect(await result).toBeInstanceOf(InvalidConfigError);
  expect(await result).toMatchObject({ value: 'done' });
});

test.each<[unknown, RegExp]>([
  [{}, /executors.*list/],
  [[{ id: 'a', slots: 1 }], /executors\[0\].*execute/],
  [[new Bench('')], /id/],
  [[new Bench('a', 0)], /slots/],
  [[new Bench('a'), new Bench('a')], /executors\[1\].id/],
  [[new Bench('local')], /executors\[0\].id/],
])('executors that are none are refused: %#', (executors, message) => {
  expect(() => new Scheduler({ executors: executors as Executor[] })).toThrow(message);
});

test('closing waits for what executors run, and closes each of them, whatever the others do', async () => {
  const bench = new Bench('bench');
  const broken: Executor = {
    id: 'broken',
    slots: 1,
    execute: () => Promise.resolve({ kind: 'aborted' }),
    isAlive: () => {
      throw new Error('who knows');
    },
    close: () => Promise.reject(new Error('never')),
  };
  const { clock, scheduler } = virtual({ executors: [broken, bench] });
  const task = scheduler.add(nothing);
  await clock.settle();
  const closed = scheduler.close();
  await clock.settle();
  expect(bench.closed).toBe(0);
  bench.end(0);
  await closed;
  expect([await task, bench.closed]).toEqual([0, 1]);
});

test('C12.1 a parent on an executor with one slot waits for its child there', async () => {
  const one = new InProcess({ id: 'one', slots: 1, capabilities: { one: true } });
  const { scheduler } = virtual({ executors: [one] });
  const capabilities = { one: true };
  const parent = scheduler.add(
    async (task) => (await task.waitFor(scheduler.add(() => 20, { capabilities }))) + task.attempt,
    { capabilities },
  );
  expect(await parent).toBe(21);
  await scheduler.close();
});

test('A3.4 row 21 a claim that runs its handler here keeps its lease for as long as that takes, also after a long block', async () => {
  const { clock, scheduler } = virtual({});
  let finish: (value: string) => void = nothing;
  const task = scheduler.add(() => new Promise<string>((resolve) => (finish = resolve)));
  const claim = await scheduler.worker({ lease: '3s' }).next();
  await clock.advance('2s');
  const ran = claim.run();
  await clock.advance('1h');
  // The event loop stood still for longer than the lease: whoever looks first must not find it lost.
  clock.block('1m');
  scheduler.explain(task.id);
  await clock.settle();
  expect(task.state).toBe('running');
  finish('late, and welcome');
  await ran;
  expect(await task).toBe('late, and welcome');
});
