import fc from 'fast-check';
import {
  parseSeries,
  type Command,
  type Core,
  type CoreOptions,
  type Strategy,
  type StrategyChoice,
  type WeightedRandom,
  type WorkerSpec,
} from '../../src/core/index.js';
import {
  SchedulerError,
  isFinal,
  parseTaskOptions,
  type Attempt,
  type Fact,
  type FailurePolicy,
  type Moment,
  type Outcome,
  type Task,
  type TaskOptions,
  type TaskSpec,
} from '../../src/model/index.js';

/** A command without its time. */
type Request = Command extends infer Each ? (Each extends Command ? Omit<Each, 'now'> : never) : never;

/** Numbers that become a command once it is known which tasks and attempts there are to choose from. */
export interface Step {
  readonly kind: Command['kind'];
  readonly a: number;
  readonly b: number;
  readonly c: number;
  /** How much later than the step before. */
  readonly ms: number;
  /** How far the wall clock jumps besides. */
  readonly jump: number;
}

/** What came of a command: facts, or the refusal. */
export type Reply = { readonly facts: readonly Fact[] } | { readonly refused: string };

/** When every run begins. */
const START: Moment = { wall: Date.parse('2030-01-01T00:00:00Z'), mono: 5_000 };

/** Picks at random among the heads, so that their order and every draw count. */
const pickOne: Strategy = {
  name: 'pick-one',
  rank: (task) => -task.level,
  choose: (heads, context) =>
    heads[Math.floor(context.random() * heads.length)] ?? (heads[0] as (typeof heads)[number]),
  describe: () => 'any',
};
const longestName: Strategy = { name: 'longest-name', rank: (task) => -task.id.length, describe: () => 'id → FIFO' };
const steep: WeightedRandom = { name: 'weighted-random', weight: (level) => 4 ** -level };

/** The strategies of one's own that the steps use. */
export const OWN_STRATEGIES = [pickOne, longestName, steep] as const;

const STRATEGIES: readonly StrategyChoice[] = [
  'priority',
  'fair',
  'weighted-random',
  'critical-path',
  'fair',
  'deadline',
  'fifo',
  'lifo',
  ...OWN_STRATEGIES,
];
const CHANNELS = ['A', 'B', 'C'];
const TYPES = ['', 'x', 'y'];
const POLICIES: readonly FailurePolicy[] = ['fail', 'skip', 'run'];
const NEEDS = [
  ...[{ cpu: 1 }, { cpu: 0.1 }, { cpu: 0.7, gpu: 1 }, { gpu: 2 }],
  ...[{ cpu: 2 }, { cpu: 1, gpu: 1 }, { cpu: 0.3, gpu: 2 }, { gpu: 0.5 }],
];
const PACES = [{}, { debounce: 150 }, { throttle: 400 }];
const WORKERS = ['w0', 'w1', 'w2'];

function pick<T>(from: readonly T[], n: number): T {
  return from[n % from.length] as T;
}

/** Bit n of a number says whether something rare is so. */
function has(n: number, bit: number): boolean {
  return (n >> bit) % 2 === 1;
}

function optionsOf({ a, b, c }: Step, now: Moment): TaskOptions {
  return {
    ...(has(a, 0) ? { id: `t${String(a % 30)}` } : {}),
    priority: b % 3,
    channel: pick(CHANNELS, a),
    ...(has(a, 3) ? { needs: pick(NEEDS, b) } : {}),
    ...(has(a, 3) && b % 4 === 2 && has(c, 6) ? { yieldable: has(c, 7) ? ['gpu'] : ['cpu', 'gpu'] } : {}),
    ...(has(a, 4) && has(b, 2) ? { delay: c % 400 } : {}),
    ...(has(b, 3) ? { deadline: now.wall + (c % 3_000) } : {}),
    ...(has(b, 4) && has(c, 1) ? { expires: now.wall + (c % 2_000) } : {}),
    ...(has(c, 2) ? { retry: pick([1, { attempts: 3, base: 40, jitter: true }, { attempts: 2, base: 90 }], b) } : {}),
    ...(has(c, 3) && has(a, 5) ? { timeout: 100 + (c % 500) } : {}),
    ...(has(c, 4) && has(a, 6) ? { lease: 50 + (b % 900) } : {}),
    ...(has(b, 5) ? { estimate: c % 50 } : {}),
    ...(has(b, 6) && has(c, 5) ? { capabilities: { os: pick(['linux', 'mac'], c) } } : {}),
    ...(has(a, 8) ? { preemptible: true } : {}),
    ...(has(a, 0) && has(a, 7) ? { ifExists: has(b, 1) ? 'keep' : 'replace' } : {}),
    ...(!has(a, 0) && has(a, 7) && has(a, 9) ? { key: `k${String(b % 3)}`, ...pick(PACES, c) } : {}),
    onDependencyFailure: pick(POLICIES, c),
  };
}

function specOf(step: Step, now: Moment): TaskSpec {
  return parseTaskOptions(optionsOf(step, now), pick(TYPES, step.c));
}

/** Mostly tasks that are there, sometimes an id that may mean anything. */
function someTask(tasks: readonly Task[], n: number): string {
  return n % 16 === 15 || tasks.length === 0 ? `t${String(n % 30)}` : pick(tasks, n >> 1).id;
}

function dependenciesOf({ b, c }: Step, tasks: readonly Task[]) {
  if (!has(b, 1)) return [];
  const first = someTask(tasks, c);
  return has(c, 0) ? [first] : [first, { task: someTask(tasks, c * 7 + b), onFailure: pick(POLICIES, b) }];
}

function workerOf({ a, b, c }: Step): WorkerSpec {
  return {
    id: pick(WORKERS, a),
    slots: pick([1, 3, Infinity], b),
    capabilities: new Map(has(c, 0) ? [['os', ['linux', 'mac']]] : []),
    strategy: has(c, 1) ? pick(STRATEGIES, b) : undefined,
    filter: undefined,
    leaseMs: pick([300, 1_000, Infinity], c),
    retries: b % 3,
  };
}

interface Situation {
  readonly now: Moment;
  readonly tasks: readonly Task[];
  readonly attempts: readonly Attempt[];
  readonly series: readonly string[];
  /** Ids of a task and of one it depends on. */
  readonly edges: readonly (readonly [task: string, dependency: string])[];
}

/** An attempt that counts, one that was abandoned, or now and then one that never was. */
function tokenOf({ attempts }: Situation, { a, b }: Step) {
  const attempt = a % 16 === 15 ? undefined : attempts[a % attempts.length];
  if (attempt === undefined) return { task: `t${String(a % 30)}`, token: { epoch: 1, attempt: b % 3 } };
  return { task: attempt.task.id, token: b % 32 === 31 ? { epoch: 9, attempt: 9 } : attempt.token };
}

function outcomeOf({ b, c }: Step): Outcome {
  const error = { name: 'Error', message: `failed ${String(b % 5)}` };
  const outcomes: readonly Outcome[] = [
    { kind: 'succeeded', value: b },
    { kind: 'failed', error, retryable: true },
    { kind: 'succeeded', value: undefined },
    { kind: 'failed', error, retryable: false },
    { kind: 'aborted' },
    { kind: 'lost' },
  ];
  return pick(outcomes, c);
}

const series = (n: number): string => `s${String(n % 3)}`;

const REQUESTS: Readonly<Record<Command['kind'], (step: Step, situation: Situation) => Request>> = {
  submit: (step, { now, tasks, attempts }) => {
    const payload = has(step.a, 7) ? { from: step.a } : undefined;
    const origin = step.a % 9 === 0 ? 'child' : 'outside';
    const parent = has(step.c, 8)
      ? (attempts[step.b % attempts.length]?.task.id ?? someTask(tasks, step.b))
      : undefined;
    const request = { kind: 'submit', spec: specOf(step, now), payload, after: dependenciesOf(step, tasks) } as const;
    return parent === undefined ? { ...request, origin } : { ...request, parent };
  },
  submitAll: (step, { now, tasks }) => {
    const batch = [0, 1, 2].map((i) => {
      const each = { ...step, a: step.a + i * 5, b: step.b + i, c: step.c + i * 3 };
      const inside = i === 0 && step.a % 11 > 0 ? [] : [(i + 2) % 3];
      return { spec: specOf(each, now), payload: i, after: has(each.c, 2) ? inside : dependenciesOf(each, tasks) };
    });
    return { kind: 'submitAll', tasks: batch };
  },
  claim: ({ a, b }) => ({ kind: 'claim', worker: pick(WORKERS, a), count: 1 + (b % 3) }),
  plan: ({ a, b, c }) => ({
    kind: 'plan',
    count: 1 + (b % 4),
    balance: pick(['least-loaded', 'round-robin'] as const, a),
    ...(has(c, 0) ? { workers: WORKERS.slice(0, 1 + (c % 3)) } : {}),
  }),
  settle: (step, situation) => {
    // Where nothing runs yet, something had better start.
    if (situation.attempts.length === 0) return REQUESTS.claim(step, situation);
    // What waits for another task had better go on waiting, mostly: its wait is over once it is settled.
    const busy = situation.attempts.filter(({ wait }) => wait === undefined || step.b % 8 === 0);
    return { kind: 'settle', ...tokenOf({ ...situation, attempts: busy }, step), outcome: outcomeOf(step) };
  },
  extend: (step, situation) => ({ kind: 'extend', ...tokenOf(situation, step), leaseMs: 10 + (step.c % 900) }),
  checkpoint: (step, situation) => ({
    kind: 'checkpoint',
    ...tokenOf(situation, step),
    checkpoint: pick([{ done: step.c }, step.c, undefined], step.c),
  }),
  release: (step, situation) => ({ kind: 'release', ...tokenOf(situation, step) }),
  waitFor: (step, situation) => ({
    kind: 'waitFor',
    ...tokenOf(situation, step),
    awaited: someTask(
      situation.tasks.filter(({ state }) => step.b % 8 === 0 || !isFinal(state)),
      step.c,
    ),
  }),
  report: (step, situation) => {
    const resource = pick(['cpu', 'gpu', 'tpu'], step.c % 13 === 0 ? 2 : step.b);
    const feedback = has(step.c, 1) ? { cost: (step.b % 8) / 2 } : { retryAfterMs: step.b };
    return { kind: 'report', ...tokenOf(situation, step), resource, ...feedback };
  },
  cancel: ({ a, b }, { tasks }) => ({
    kind: 'cancel',
    task: someTask(tasks, a),
    reason: 'told to',
    ...(b % 4 === 0 ? { cascade: true } : {}),
  }),
  cancelAll: ({ a, b, c }, { tasks }) => ({
    kind: 'cancelAll',
    tasks: [someTask(tasks, a), someTask(tasks, b), someTask(tasks, c)],
    ...(has(a, 2) ? { cascade: true } : {}),
    ...(has(b, 2) ? { closing: true } : {}),
  }),
  setPriority: ({ a, b }, { tasks }) => ({ kind: 'setPriority', task: someTask(tasks, a), level: (b % 5) - 1 }),
  addDependency: ({ a, b, c }, { tasks }) => {
    const dependency = someTask(tasks, b);
    return { kind: 'addDependency', task: someTask(tasks, a), dependency, onFailure: pick(POLICIES, c) };
  },
  removeDependency: ({ a, b }, { tasks, edges }) => {
    const [task, dependency] = edges[a % edges.length] ?? [someTask(tasks, a), someTask(tasks, b)];
    return { kind: 'removeDependency', task, dependency };
  },
  retry: ({ a }, { tasks }) => {
    const failed = tasks.filter((task) => task.state === 'failed');
    return { kind: 'retry', task: someTask(failed, a) };
  },
  preempt: () => ({ kind: 'preempt' }),
  yield: (step, situation) => {
    const running = situation.attempts.filter(({ wait }) => wait === undefined || step.b % 8 === 0);
    return { kind: 'yield', ...tokenOf({ ...situation, attempts: running }, step) };
  },
  tick: () => ({ kind: 'tick' }),
  recover: () => ({ kind: 'recover' }),
  pauseChannel: ({ a }) => ({ kind: 'pauseChannel', channel: pick(CHANNELS, a) }),
  resumeChannel: ({ a }) => ({ kind: 'resumeChannel', channel: pick(CHANNELS, a) }),
  setChannels: ({ a }) => ({ kind: 'setChannels', only: pick([undefined, undefined, CHANNELS, ['A', 'C']], a) }),
  closeChannel: ({ a }) => ({ kind: 'closeChannel', channel: pick(CHANNELS, a) }),
  openChannel: ({ a }) => ({ kind: 'openChannel', channel: pick(CHANNELS, a) }),
  setStrategy: ({ a }) => ({ kind: 'setStrategy', strategy: pick(STRATEGIES, a) }),
  setAging: ({ a, b }) => {
    const settings = [{}, { maxBoost: b % 3 }, { maxWaitMs: 200 + b }, { maxBoost: 1, maxWaitMs: 500 }] as const;
    return { kind: 'setAging', aging: a % 7 === 0 ? false : { everyMs: pick([100, 300], b), ...pick(settings, a) } };
  },
  setCapacity: ({ a, b }) => ({
    kind: 'setCapacity',
    resource: pick(['cpu', 'gpu'], a),
    units: (b % 5) - (b % 9 ? 0 : 1),
  }),
  setLimit: ({ a, b, c }) => {
    const limit = pick([0, 1, 2, 4, Infinity, Infinity], c);
    const scope = pick(['global', 'type', 'channel'] as const, a);
    const key = scope === 'global' ? '' : pick(scope === 'type' ? ['x', '*'] : ['A', 'B', '*'], b);
    return { kind: 'setLimit', scope, key, limit: scope === 'global' ? limit + 1 : limit };
  },
  setRate: ({ a, b, c }) => {
    const scope = pick(['resource', 'type'] as const, a);
    const key = scope === 'resource' ? pick(['cpu', 'gpu'], b) : pick(['x', 'y', '*'], b);
    const limit = { rate: pick([1, 3, 10], b), perMs: pick([100, 300], c), burst: pick([0.5, 1, 2.5, 4], c) };
    return { kind: 'setRate', scope, key, rate: c % 3 === 0 ? undefined : limit };
  },
  setWeight: ({ a, b }) => ({
    kind: 'setWeight',
    channel: pick(['A', 'B', '*'], a),
    weight: pick([1, 2, 3, 0.1, 0], b),
  }),
  setPressure: ({ a, b, c }) => ({
    kind: 'setPressure',
    pressure: {
      maxPending: pick([3, 6, 6, 12, Infinity, 0], a),
      whenFull: pick(['reject', 'drop-oldest', 'drop-lowest', 'drop-lowest', 'wait'] as const, b),
      ...(has(c, 0) ? { lowWater: c % 5 } : {}),
    },
  }),
  setCharge: ({ a }) => ({ kind: 'setCharge', charge: pick(['turns', 'time'] as const, a) }),
  attachWorker: (step) => ({ kind: 'attachWorker', worker: workerOf(step) }),
  detachWorker: ({ a }) => ({ kind: 'detachWorker', worker: pick(WORKERS, a) }),
  repeat: (step, { now }) => {
    const { a, b, c } = step;
    const rules = {
      overlap: pick(['skip', 'queue', 'allow'] as const, b),
      catchUp: pick(['once', 'all', 'none'] as const, c),
      ...(has(b, 3) ? { count: 1 + (b % 4) } : {}),
      ...(has(c, 3) ? { eta: now.wall + 100 } : {}),
      keepAlive: has(c, 4),
    };
    const every = { every: 100 + (c % 5) * 100, from: pick(['end', 'start', 'grid'] as const, a) };
    const recurrence = parseSeries({ ...rules, ...(b % 7 === 0 ? { cron: '* * * * * *' } : every) });
    return { kind: 'repeat', series: series(a), spec: specOf({ ...step, a: 2 * a }, now), recurrence, payload: b };
  },
  cancelSeries: ({ a }, { series: known }) => ({ kind: 'cancelSeries', series: known[a % known.length] ?? series(a) }),
  pauseSeries: ({ a }, { series: known }) => ({ kind: 'pauseSeries', series: known[a % known.length] ?? series(a) }),
  resumeSeries: ({ a }, { series: known }) => ({ kind: 'resumeSeries', series: known[a % known.length] ?? series(a) }),
};

/** How often each kind comes up; the others twice. */
const WEIGHTS: Partial<Record<Step['kind'], number>> = {
  submit: 26,
  submitAll: 6,
  claim: 34,
  plan: 6,
  settle: 30,
  extend: 4,
  waitFor: 16,
  cancel: 4,
  setPriority: 6,
  addDependency: 6,
  removeDependency: 3,
  retry: 4,
  preempt: 20,
  yield: 20,
  tick: 10,
  recover: 1,
  openChannel: 4,
  setStrategy: 5,
  setPressure: 3,
  resumeChannel: 4,
  setCapacity: 3,
  repeat: 4,
  pauseSeries: 3,
  resumeSeries: 5,
};

const KINDS = (Object.keys(REQUESTS) as Step['kind'][]).map((kind) => ({
  arbitrary: fc.constant(kind),
  weight: WEIGHTS[kind] ?? 2,
}));

const someStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(...KINDS),
  a: fc.nat(1_023),
  b: fc.nat(1_023),
  c: fc.nat(1_023),
  ms: fc.oneof(
    { arbitrary: fc.constant(0), weight: 3 },
    { arbitrary: fc.nat(60), weight: 4 },
    { arbitrary: fc.nat(900), weight: 2 },
  ),
  jump: fc.oneof(
    { arbitrary: fc.constant(0), weight: 30 },
    { arbitrary: fc.integer({ min: -800, max: 800 }), weight: 1 },
  ),
});

/** Steps of a run, 60 at the least. */
export const someSteps = fc.array(someStep, { minLength: 60, maxLength: 110 });

/** What a core of a run starts with. */
export const someOptions: fc.Arbitrary<Partial<CoreOptions> & Pick<CoreOptions, 'origin'>> = fc.record({
  origin: fc.constant(START),
  seed: fc.nat(),
  strategy: fc.constantFrom(...STRATEGIES),
  strategies: fc.constant(OWN_STRATEGIES),
  aging: fc.constantFrom(
    { everyMs: 200, maxBoost: Infinity, maxWaitMs: Infinity },
    { everyMs: 150, maxBoost: 2, maxWaitMs: 700 },
    { everyMs: Infinity, maxBoost: Infinity, maxWaitMs: Infinity },
  ),
  charge: fc.constantFrom('turns' as const, 'time' as const),
  serviceMs: fc.constantFrom(Infinity, 5, 40),
  sliceMs: fc.constantFrom(0, 30),
  maxBypasses: fc.constantFrom(64, 1, 3),
  preemption: fc.constantFrom(
    { graceMs: 300, minRunMs: 0, maxPerTask: 3 },
    { graceMs: 40, minRunMs: 60, maxPerTask: 1 },
  ),
  retain: fc.constantFrom({ count: 4, ageMs: 2_000 }, { count: 0, ageMs: 0 }, { count: 100, ageMs: 400 }),
});

const PRELUDE: readonly Request[] = [
  { kind: 'setCapacity', resource: 'cpu', units: 3 },
  { kind: 'setCapacity', resource: 'gpu', units: 2 },
  { kind: 'attachWorker', worker: workerOf({ kind: 'attachWorker', a: 0, b: 1, c: 0, ms: 0, jump: 0 }) },
  { kind: 'attachWorker', worker: workerOf({ kind: 'attachWorker', a: 1, b: 2, c: 1, ms: 0, jump: 0 }) },
  { kind: 'attachWorker', worker: workerOf({ kind: 'attachWorker', a: 2, b: 4, c: 2, ms: 0, jump: 0 }) },
];

/** Makes commands of the steps by handling them one after another, and returns both sides of the conversation. */
export function converse(
  core: Core,
  steps: readonly Step[],
  answer: (core: Core, command: Command) => Reply = reply,
): { commands: Command[]; replies: Reply[] } {
  const commands: Command[] = [];
  const replies: Reply[] = [];
  let now = START;
  const say = (request: Request): void => {
    const command = { ...request, now } as Command;
    commands.push(command);
    replies.push(answer(core, command));
  };
  for (const request of PRELUDE) say(request);
  for (const step of steps) {
    now = { wall: now.wall + step.ms + step.jump, mono: now.mono + step.ms };
    const tasks = [...core.state.table.all()];
    const edges = tasks.flatMap((task) =>
      core.state.dependencies.of(task).map((each) => [task.id, each.task.id] as const),
    );
    const running = tasks.flatMap((task) => (task.attempt === undefined ? [] : [task.attempt]));
    say(
      REQUESTS[step.kind](step, {
        now,
        tasks,
        attempts: [...running, ...core.state.abandoned],
        series: [...core.state.series.keys()],
        edges,
      }),
    );
  }
  return { commands, replies };
}

/** What comes of one command; anything but a typed refusal is a mistake and goes on. */
export function reply(core: Core, command: Command): Reply {
  return unlessRefused(() => core.handle(command));
}

/** The facts, or the refusal if it is a typed one. */
export function unlessRefused(send: () => readonly Fact[]): Reply {
  try {
    return { facts: send() };
  } catch (error) {
    if (!(error instanceof SchedulerError)) throw error;
    return { refused: `${error.code} ${error.message}` };
  }
}

/** All facts of a conversation, in order. */
export function factsIn(replies: readonly Reply[]): Fact[] {
  return replies.flatMap((each) => ('facts' in each ? each.facts : []));
}

/** What is left of a value after it has been written and read again. */
export function throughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
