import { Handle, Scheduler, type Claim, type PullingWorker, type TaskContext } from '../../src/index.js';
import { SIM_START, VirtualClock } from '../../src/testing/index.js';

/** A scheduler in the middle of its work. */
export interface World {
  readonly scheduler: Scheduler;
  readonly worker: PullingWorker;
  readonly claim: Claim;
  /** What the handler that runs was given, and the handle of its task. */
  readonly context: TaskContext;
  readonly running: Handle<unknown>;
  readonly clock: VirtualClock;
}

/** One of each: done, failed, running, claimed, ready, delayed, waiting for another, and a series. */
export async function worldOf(): Promise<World> {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 1, resources: { gpu: 2 }, seed: 1 });
  scheduler.define('work', (input: unknown) => input);
  const worker = scheduler.worker({ id: 'puller', slots: 2, capabilities: { os: 'linux' } });
  void scheduler.add(() => 1, { id: 'done' });
  await clock.settle();
  void scheduler.add(() => Promise.reject(new Error('no')), { id: 'broken' }).result.catch(() => undefined);
  await clock.settle();
  let context: TaskContext | undefined;
  const runs = (task: TaskContext): Promise<never> => {
    context = task;
    return new Promise(() => undefined);
  };
  const running = scheduler.add(runs, { id: 'running', needs: { gpu: 1 } });
  await clock.settle();
  void scheduler.add('work', 1, { id: 'claimed', capabilities: { os: 'linux' } });
  const claim = await worker.claim();
  if (claim === undefined || context === undefined) throw new Error('The world is not as it should be.');
  for (const id of ['a', 'b', 'c']) void scheduler.add(() => id, { id, priority: 'low', channel: id });
  void scheduler.add(() => 1, { id: 'delayed', delay: '1h' });
  void scheduler.add(() => 1, { id: 'after', after: ['running'] });
  void scheduler.repeat(() => 1, { id: 'series', every: '1h', eta: SIM_START + 3_600_000 });
  await clock.settle();
  return { scheduler, worker, claim, context, running, clock };
}

const TASK = {
  id: 'new',
  priority: 'high',
  deadline: SIM_START + 1_000,
  expires: '2031-01-01T00:00:00Z',
  channel: 'a',
  needs: { gpu: 1 },
  yieldable: ['gpu'],
  capabilities: { os: 'linux' },
  eta: SIM_START + 10,
  delay: '1s',
  retry: { attempts: 3, backoff: 'exponential', base: '1s', factor: 2, max: '1m', jitter: true },
  timeout: '5s',
  lease: 1_000,
  estimate: 5,
  preemptible: true,
  onDependencyFailure: 'run',
  metadata: { tenant: 'x', deep: { list: [1, 'a', null] } },
  durable: true,
};
const ADD = { ...TASK, after: ['running', { task: 'a', onFailure: 'skip' }], detached: false };
const { eta: _eta, delay: _delay, ...REPEATED } = TASK;
const REPEAT = { ...REPEATED, every: '1h', from: 'grid', overlap: 'queue', catchUp: 'all', count: 3, keepAlive: false };
const CRON = { id: 'cron', cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin', until: SIM_START + 1e9 };
const LIMITS = {
  global: 5,
  perType: { work: { concurrency: 2, rate: 5, per: '1m', burst: 5 }, '': 9 },
  perChannel: { a: 1, '*': 9 },
};
const RATE = { rate: 10, per: '1s', burst: 10 };
const SCHEDULER = {
  concurrency: 2,
  balance: 'round-robin',
  strategy: 'fair',
  aging: { every: '10s', maxBoost: 5, maxWait: '1h' },
  resources: { gpu: 2, api: RATE },
  limits: LIMITS,
  channels: { weights: { a: 2 }, charge: 'time', only: ['a', 'b'] },
  starvation: { service: '1s' },
  workersMayCome: true,
  maxPending: 100,
  whenFull: 'reject',
  maxWaiting: 10,
  lowWater: 5,
  admitEvery: 100,
  preemption: { grace: '1s', minRun: '1s', maxPerTask: 3 },
  slice: 50,
  retain: { count: 10, age: '1h' },
  context: true,
  seed: 7,
  timeline: { limit: 100 },
};
const WORKER = {
  id: 'other',
  capabilities: { os: ['linux', 'mac'], cores: 4 },
  strategy: 'fifo',
  lease: '1m',
  slots: 2,
  retries: 1,
};

/** Something a program may call with anything: its arguments as they should be, and the call. */
export interface Call {
  readonly args: readonly unknown[];
  readonly act: (world: World, args: readonly unknown[]) => unknown;
}

const run = (): number => 1;

/** A method of something in the world. */
function on<Whom extends Exclude<keyof World, 'clock'>>(
  whom: Whom,
  name: keyof World[Whom],
  ...args: readonly unknown[]
): Call {
  return {
    args,
    act: (world, given) => {
      const it = world[whom];
      return (it[name] as (...args: readonly unknown[]) => unknown).apply(it, [...given]);
    },
  };
}

function method(name: keyof Scheduler, ...args: readonly unknown[]): Call {
  return on('scheduler', name, ...args);
}

/** Whatever takes something from outside. */
export const CALLS: Readonly<Record<string, Call>> = {
  'new Scheduler': { args: [SCHEDULER], act: (_world, [options]) => new Scheduler(options as never) },
  'add a function': method('add', run, ADD),
  'add by name': method('add', 'work', { any: 'input' }, ADD),
  'add with a key': method('add', run, { key: 'k', debounce: '1s', channel: 'a' }),
  submit: method('submit', run, ADD),
  'addAll a list': method('addAll', [
    { run, id: 'x' },
    { name: 'work', input: 1, after: ['x'] },
  ]),
  'addAll a record': method('addAll', { x: { run, after: ['y'] }, y: { name: 'work' } }),
  batch: method('batch', (batch: Scheduler) => batch.add(run)),
  map: method('map', [1, 2], run, { priority: 1, ahead: 2 }),
  define: method('define', 'other', run, { retry: 3, timeout: '1s', channel: 'a' }),
  repeat: method('repeat', run, REPEAT),
  'repeat by cron': method('repeat', 'work', 1, CRON),
  'repeat again': method('repeat', run, { ...REPEAT, id: 'series' }),
  worker: method('worker', WORKER),
  setLimit: method('setLimit', LIMITS),
  setCapacity: method('setCapacity', 'gpu', RATE),
  'setCapacity in units': method('setCapacity', 'gpu', 3),
  setWeight: method('setWeight', 'a', 2),
  setPriority: method('setPriority', 'a', 0),
  addDependency: method('addDependency', 'a', 'b', { onFailure: 'skip' }),
  removeDependency: method('removeDependency', 'after', 'running'),
  cancel: method('cancel', 'a', { reason: 'no', cascade: true }),
  retry: method('retry', 'broken'),
  setStrategy: method('setStrategy', 'lifo'),
  setConcurrency: method('setConcurrency', 3),
  pauseChannel: method('pauseChannel', 'a'),
  resumeChannel: method('resumeChannel', 'a'),
  closeChannel: method('closeChannel', 'a'),
  openChannel: method('openChannel', 'a'),
  assign: method('assign', 1, { balance: 'round-robin' }),
  foresee: method('foresee', 1, { balance: 'round-robin' }),
  explain: method('explain', 'a'),
  get: method('get', 'a'),
  handle: method('handle', 'a'),
  describeOrder: method('describeOrder', 'puller'),
  onSizeLessThan: method('onSizeLessThan', 100, {}),
  on: method('on', 'completed', run),
  close: method('close', { drain: 0, grace: 0 }),
  'worker.claimBatch': on('worker', 'claimBatch', 2),
  'worker.setStrategy': on('worker', 'setStrategy', 'lifo'),
  'handle.setPriority': on('running', 'setPriority', 1),
  'handle.cancel': on('running', 'cancel', 'why'),
  'task.add': on('context', 'add', run, ADD),
  'task.report': on('context', 'report', 'gpu', { retryAfter: '1s' }),
  'task.checkpoint': on('context', 'checkpoint', { at: 1 }),
  'task.waitFor': {
    args: ['a'],
    act: ({ context, scheduler }, [task]) => context.waitFor(task === 'a' ? scheduler.handle('a')! : (task as never)),
  },
  'claim.extend': on('claim', 'extend', '1m'),
};

/** The first refusal in what a call has given: its promise, or those of the handles in it. */
export async function refusalIn(given: unknown, { clock }: World): Promise<unknown> {
  const waits = promisesIn(given).map((promise) =>
    promise.then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  for (const result of resultsIn(given)) result.catch(() => undefined);
  const unsettled = clock.settle().then(() => undefined);
  const refusals = await Promise.all(waits.map((wait) => Promise.race([wait, unsettled])));
  return refusals.find((refusal) => refusal !== undefined);
}

function handlesIn(given: unknown): Handle<unknown>[] {
  if (given instanceof Handle) return [given];
  if (typeof given !== 'object' || given === null) return [];
  return Object.values(given).filter((each) => each instanceof Handle) as Handle<unknown>[];
}

function resultsIn(given: unknown): Promise<unknown>[] {
  return handlesIn(given).map((handle) => handle.result);
}

function promisesIn(given: unknown): Promise<unknown>[] {
  return given instanceof Promise ? [given] : handlesIn(given).map((handle) => handle.accepted);
}
