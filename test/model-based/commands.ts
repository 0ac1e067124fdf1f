import fc from 'fast-check';
import { expect } from 'vitest';
import { Core, type Command, type DependencyInput, type StrategyChoice } from '../../src/core/index.js';
import {
  SchedulerError,
  SeededRandom,
  parseTaskOptions,
  recordError,
  type FailurePolicy,
  type Moment,
  type RateLimit,
  type Task,
  type TaskOptions,
} from '../../src/model/index.js';
import { agree } from './agree.js';
import type { Naive, NaiveAttempt, NaiveTask, NaiveWorker, Ref } from './naive.js';
import { Refused } from './naive-task.js';
import type { NaiveAging, NaiveStrategy } from './naive-order.js';
import type { NaiveBound } from './naive-pressure.js';

/** The core under test, with what the commands remember about it. */
export class Real {
  readonly core: Core;
  /** Looks at every worker's next task after each command, which must not change what follows. */
  readonly peeks: boolean;
  private names = 0;

  constructor(model: Naive, seed: number, peeks: 'peeks' | 'blind') {
    const { wall: _, ...options } = model.options;
    this.core = new Core({ origin: { wall: model.wall, mono: model.mono }, seed, ...options });
    this.peeks = peeks === 'peeks';
  }

  /** A user's id that was never used before. */
  name(): string {
    this.names += 1;
    return `named-${this.names}`;
  }

  task(id: string): Task {
    return this.core.state.table.byId(id) as Task;
  }

  readonly shapeKey = (task: NaiveTask): string => this.core.state.places.at(this.task(task.id).place).shape.key;
}

type Body = Command extends infer Each ? (Each extends Command ? Omit<Each, 'now'> : never) : never;

/** Sends the command to both, who must both carry it out or both refuse it, and agree afterwards. */
function send(model: Naive, real: Real, body: Body, inModel: () => void): void {
  const now: Moment = { wall: model.wall, mono: model.mono };
  const asked = refused(() => real.core.handle({ ...body, now }), SchedulerError);
  const expected = refused(inModel, Refused);
  expect(`${body.kind} ${asked ? 'refused' : 'done'}`).toBe(`${body.kind} ${expected ? 'refused' : 'done'}`);
  model.forget();
  agree(model, real);
}

function refused(act: () => void, kind: abstract new (...args: never[]) => Error): boolean {
  try {
    act();
    return false;
  } catch (error) {
    if (error instanceof kind) return true;
    throw error;
  }
}

type Step = fc.Command<Naive, Real>;

function step(
  label: string,
  run: (model: Naive, real: Real) => void,
  check: (model: Readonly<Naive>) => boolean = () => true,
): Step {
  return { check, run, toString: () => label };
}

const nth = fc.nat({ max: 1_000 });
const at = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length];

// Few different values, so that ties, blocked heads and shared lanes are common. Fractions are such that sums are exact.
const level = fc.constantFrom(-1.5, -1, 0, 0.5, 1, 2, 2, 2, 2.25, 3, 4, 10);
const channel = fc.constantFrom('a', 'b', 'c', 'B');
const type = fc.constantFrom('', '', 'x', 'y');
const resource = fc.constantFrom('cpu', 'gpu');
const strategy = fc.constantFrom<NaiveStrategy>(
  'fifo',
  'lifo',
  'priority',
  'deadline',
  'fair',
  'fair',
  'weighted-random',
  'critical-path',
);
const policy = fc.constantFrom<FailurePolicy>('fail', 'skip', 'run');
const stepMs = fc.constantFrom(1, 7, 250, 999, 1_000, 2_500, 5_000, 10_000, 30_000);
/** Such that the tokens of any whole number of milliseconds are exact. */
const rate: fc.Arbitrary<RateLimit> = fc.record({
  rate: fc.constantFrom(1, 2, 4),
  perMs: fc.constantFrom(256, 1_024, 8_192),
  burst: fc.constantFrom(1, 2, 5, 8),
});
const maybe = <T>(arbitrary: fc.Arbitrary<T>, freq: number): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq });

export const agingChoice: fc.Arbitrary<NaiveAging> = fc.record({
  everyMs: fc.constantFrom(1_000, 4_000, 10_000, Infinity),
  maxBoost: fc.constantFrom(0, 1, 2.5, 3, Infinity, Infinity),
  maxWaitMs: fc.constantFrom(3_000, 20_000, Infinity, Infinity, Infinity),
});

export const workerChoice: fc.Arbitrary<NaiveWorker> = fc.record({
  id: fc.constantFrom('w1', 'w2', 'w3'),
  slots: fc.constantFrom(0, 1, 2, 5, Infinity),
  strategy: maybe(strategy, 3),
  offers: fc.constantFrom<ReadonlyMap<string, unknown>>(
    new Map(),
    new Map<string, unknown>([['os', 'linux']]),
    new Map<string, unknown>([
      ['os', ['linux', 'mac']],
      ['gpu', true],
    ]),
  ),
  leaseMs: fc.constantFrom(2_000, 20_000, Infinity),
  retries: fc.constantFrom(0, 1, 3),
});

export const strategyChoice = strategy;

const retry = fc.oneof(
  fc.constantFrom<TaskOptions['retry']>(1, 2, 4),
  fc.record({
    attempts: fc.constantFrom(2, 3, 5),
    backoff: fc.constantFrom('fixed' as const, 'exponential' as const),
    base: fc.constantFrom(0, 1_000, 3_000),
    max: fc.constantFrom(4_000, 60_000),
  }),
);

/** A task's options; moments are relative to the submission. */
const options = fc.record({
  type,
  channel,
  level,
  named: fc.boolean(),
  deadline: maybe(fc.constantFrom(-5_000, 1_000, 2_000, 30_000), 3),
  expires: maybe(fc.constantFrom(0, 2_000, 40_000), 15),
  eta: maybe(fc.constantFrom(-1_000, 1_000, 5_000, 12_000), 6),
  delay: maybe(fc.constantFrom(0, 500, 5_000), 6),
  needs: maybe(fc.dictionary(resource, fc.constantFrom(0, 0.5, 1, 2, 5), { maxKeys: 2 }), 2),
  yields: maybe(fc.constantFrom(['cpu'], ['gpu'], ['cpu', 'gpu']), 3),
  capabilities: maybe(fc.constantFrom({ os: 'linux' }, { os: 'mac' }, { gpu: true, os: 'linux' }), 5),
  retry: maybe(retry, 2),
  timeout: maybe(fc.constantFrom(1_500, 6_000), 6),
  lease: maybe(fc.constantFrom(1_000, 8_000), 8),
  estimate: maybe(fc.constantFrom(0, 5, 10, 300), 3),
  preemptible: fc.boolean(),
  onDependencyFailure: policy,
});
type Options = typeof options extends fc.Arbitrary<infer O> ? O : never;

const after = fc.array(fc.record({ index: nth, policy: maybe(policy, 3), inside: fc.boolean() }), { maxLength: 3 });
type After = typeof after extends fc.Arbitrary<infer A> ? A : never;

function specOf(model: Naive, real: Real, options: Options) {
  const { type, level, named, deadline, expires, eta, yields, ...rest } = options;
  const moment = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : model.wall + ms);
  const given = {
    ...rest,
    yieldable: yields?.filter((name) => (rest.needs?.[name] ?? 0) > 0),
    priority: level,
    deadline: moment(deadline),
    expires: moment(expires),
    eta: moment(eta),
    id: named ? real.name() : undefined,
  };
  return parseTaskOptions(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)), type);
}

/** What is waited for: recent tasks mostly, some long gone, now and then one that never was, or a neighbour in the batch. */
function refsOf(model: Naive, wanted: After, batch: number): Ref[] {
  const ids = [...model.tombstones.keys(), ...model.tasks.keys()].slice(-25);
  const refs = wanted.map(({ index, policy: onFailure, inside }): Ref => {
    if (inside && batch > 1) return { ref: index % batch, onFailure };
    return { ref: index === 7 ? 'nobody' : (at(ids, index) ?? 'nobody'), onFailure };
  });
  // The same one twice is fine, but what two policies for one edge would mean is not.
  return refs.map(({ ref }) => refs.find((first) => first.ref === ref) as Ref);
}

function inputOf({ ref, onFailure }: Ref): DependencyInput {
  return onFailure === undefined ? ref : { task: ref, onFailure };
}

const hasRoom = (model: Readonly<Naive>): boolean => model.unfinished().length < 40;

function submit(wanted: Options, waits: After): Step {
  return step(
    `submit(${fc.stringify(wanted)}, ${fc.stringify(waits)})`,
    (model, real) => {
      const spec = specOf(model, real, wanted);
      const refs = refsOf(model, waits, 1);
      send(model, real, { kind: 'submit', spec, after: refs.map(inputOf) }, () => {
        model.submit(spec, refs);
      });
    },
    hasRoom,
  );
}

function submitAll(batch: readonly (readonly [Options, After])[], twice: boolean): Step {
  return step(
    `submitAll(${fc.stringify(batch)}, ${twice})`,
    (model, real) => {
      const tasks = batch.map(([wanted, waits]) => ({
        spec: specOf(model, real, wanted),
        after: refsOf(model, waits, batch.length),
      }));
      const known = [...model.tasks.values()].find((task) => task.spec.id !== undefined);
      if (twice && known !== undefined) tasks.push({ spec: known.spec, after: [] });
      const body = tasks.map(({ spec, after: refs }) => ({ spec, payload: undefined, after: refs.map(inputOf) }));
      send(model, real, { kind: 'submitAll', tasks: body }, () => {
        model.submitAll(tasks);
      });
    },
    hasRoom,
  );
}

function claim(index: number, count: number): Step {
  return step(`claim(${index}, ${count})`, (model, real) => {
    const worker = at([...model.workers.values()], index);
    if (worker === undefined) {
      send(model, real, { kind: 'claim', worker: 'w1', count }, () => {
        throw new Refused('no worker');
      });
      return;
    }
    const { core } = real;
    const random = SeededRandom.restore(core.state.random.state());
    const facts = core.handle({ kind: 'claim', worker: worker.id, count, now: { wall: model.wall, mono: model.mono } });
    const granted = facts.flatMap((fact) =>
      fact.kind === 'attempt.started' || fact.kind === 'attempt.resumed' ? [fact.task] : [],
    );
    if (model.countHolding((each) => each.worker === worker.id) < worker.slots) model.passWall();
    for (let given = 0; given < count; given += 1) {
      const allowed = model.next(worker, () => random.next(), real.shapeKey);
      const task = allowed.find(({ id }) => id === granted[given]);
      if (task === undefined) {
        const strategyInForce = worker.strategy ?? model.strategy;
        expect({ strategyInForce, given, granted: granted.slice(given) }).toEqual({
          strategyInForce,
          given,
          granted: allowed.map(({ id }) => id),
        });
        break;
      }
      model.start(worker, task);
    }
    expect(core.state.random.state()).toEqual(random.state());
    model.forget();
    agree(model, real);
  });
}

function plan(count: number, balance: 'least-loaded' | 'round-robin'): Step {
  return step(`plan(${count}, ${balance})`, (model, real) => {
    const { core } = real;
    const now = { wall: model.wall, mono: model.mono };
    const random = SeededRandom.restore(core.state.random.state());
    const facts = core.handle({ kind: 'plan', count, balance, now });
    const granted = facts.flatMap((fact) =>
      fact.kind === 'attempt.started' || fact.kind === 'attempt.resumed' ? [fact] : [],
    );
    if ([...model.workers.values()].some((worker) => model.freeSlots(worker) > 0)) model.passWall();
    for (let given = 0, started = 0; started < count; given += 1) {
      const asking = [...model.workers.values()].filter((each) => model.freeSlots(each) > 0);
      const first = model.preemption.next(asking);
      const allowed = first === undefined ? model.nextForAny(() => random.next(), real.shapeKey) : [first[0]];
      const task = allowed.find(({ id }) => id === granted[given]?.task);
      if (task === undefined) {
        const planned = granted.slice(given).map((each) => each.task);
        expect({ given, planned }).toEqual({ given, planned: allowed.map(({ id }) => id) });
        break;
      }
      const worker = first?.[1] ?? model.workerFor(task, balance);
      expect({ balance, given, worker: granted[given]?.workerId }).toEqual({ balance, given, worker: worker.id });
      // Who goes on after a wait is not one of those asked for.
      if (model.waiting(task) === undefined) started += 1;
      model.start(worker, task);
    }
    expect(core.state.random.state()).toEqual(random.state());
    model.forget();
    agree(model, real);
  });
}

/** Mostly attempts that count, some that were abandoned, some of long ago. */
function attemptAt(model: Naive, index: number): NaiveAttempt | undefined {
  const holding = model.holding();
  return index % 8 === 0 ? at(model.attempts, index >> 3) : at(holding, index);
}

function about(
  label: string,
  index: number,
  run: (
    model: Naive,
    real: Real,
    attempt: NaiveAttempt,
    body: { task: string; token: { epoch: number; attempt: number } },
  ) => void,
): Step {
  return step(`${label} attempt ${index}`, (model, real) => {
    const attempt = attemptAt(model, index);
    if (attempt !== undefined)
      run(model, real, attempt, { task: attempt.task.id, token: { epoch: 1, attempt: attempt.number } });
  });
}

const error = recordError(new Error('failed on purpose'));

const succeed = (index: number): Step =>
  about('succeed', index, (model, real, attempt, body) => {
    send(model, real, { kind: 'settle', ...body, outcome: { kind: 'succeeded', value: 1 } }, () => {
      model.settle(attempt, 'succeeded');
    });
  });
const fail = (index: number, retryable: boolean): Step =>
  about(retryable ? 'fail' : 'fail for good', index, (model, real, attempt, body) => {
    send(model, real, { kind: 'settle', ...body, outcome: { kind: 'failed', error, retryable } }, () => {
      model.settle(attempt, retryable ? 'failed' : 'failed for good');
    });
  });
const lose = (index: number): Step =>
  about('lose', index, (model, real, attempt, body) => {
    send(model, real, { kind: 'settle', ...body, outcome: { kind: 'lost' } }, () => {
      model.settle(attempt, 'lost');
    });
  });
const release = (index: number): Step =>
  about('release', index, (model, real, attempt, body) => {
    send(model, real, { kind: 'release', ...body }, () => {
      model.settle(attempt, 'released');
    });
  });
const extend = (index: number, leaseMs: number): Step =>
  about(`extend by ${leaseMs}`, index, (model, real, attempt, body) => {
    send(model, real, { kind: 'extend', ...body, leaseMs }, () => {
      model.extend(attempt, leaseMs);
    });
  });

/** Mostly by one that runs, for one that is unfinished and new. */
const waitFor = (index: number, on: number): Step =>
  step(`waitFor(${index}, ${on})`, (model, real) => {
    const running = model.holding().filter(({ life, waitsSince }) => life === 'counts' && waitsSince === undefined);
    const attempt = index % 8 === 0 ? attemptAt(model, index) : at(running, index);
    if (attempt === undefined) return;
    const fresh = model.unfinished().filter(({ state }) => state !== 'running');
    const awaited = on % 4 === 0 ? idAt(model, on) : (at(fresh, on)?.id ?? 'nobody');
    const body = { task: attempt.task.id, token: { epoch: 1, attempt: attempt.number }, awaited };
    send(model, real, { kind: 'waitFor', ...body }, () => {
      model.waitFor(attempt, awaited);
    });
  });

const reportCost = (index: number, name: string, cost: number): Step =>
  about(`report a cost of ${cost} of ${name}`, index, (model, real, attempt, body) => {
    send(model, real, { kind: 'report', ...body, resource: name, cost }, () => {
      model.report(attempt, name, cost);
    });
  });
const askForPause = (index: number, name: string, retryAfterMs: number): Step =>
  about(`close ${name} for ${retryAfterMs}`, index, (model, real, attempt, body) => {
    send(model, real, { kind: 'report', ...body, resource: name, retryAfterMs }, () => {
      model.closeResource(attempt, name, retryAfterMs);
    });
  });

/** Mostly unfinished tasks, some that have ended or are gone. */
function idAt(model: Naive, index: number): string {
  const pool =
    index % 6 === 0 ? [...model.tombstones.keys(), ...model.tasks.keys()] : model.unfinished().map(({ id }) => id);
  return at(pool, Math.floor(index / 6)) ?? 'nobody';
}

const cancel = (index: number): Step =>
  step(`cancel(${index})`, (model, real) => {
    const task = idAt(model, index);
    send(model, real, { kind: 'cancel', task }, () => {
      model.cancel(task);
    });
  });
const atYield = (index: number): Step =>
  step(`yield(${index})`, (model, real) => {
    const running = model.holding().filter(({ life, waitsSince }) => life === 'counts' && waitsSince === undefined);
    const attempt = index % 8 === 0 ? attemptAt(model, index) : at(running, index);
    if (attempt === undefined) return;
    const named = { task: attempt.task.id, token: { epoch: 1, attempt: attempt.number } };
    send(model, real, { kind: 'yield', ...named }, () => {
      model.atYield(attempt);
    });
  });
const preempt = step('preempt', (model, real) => {
  send(model, real, { kind: 'preempt' }, () => {
    model.preemption.preempt();
  });
});
const setPriority = (index: number, to: number): Step =>
  step(`setPriority(${index}, ${to})`, (model, real) => {
    const task = idAt(model, index);
    send(model, real, { kind: 'setPriority', task, level: to }, () => {
      model.setPriority(task, to);
    });
  });
const addDependency = (index: number, on: number, onFailure: FailurePolicy): Step =>
  step(`addDependency(${index}, ${on}, ${onFailure})`, (model, real) => {
    const [task, dependency] = [idAt(model, index), idAt(model, on)];
    send(model, real, { kind: 'addDependency', task, dependency, onFailure }, () => {
      model.addDependency(task, dependency, onFailure);
    });
  });
const removeDependency = (index: number, on: number): Step =>
  step(`removeDependency(${index}, ${on})`, (model, real) => {
    const edges = model.unfinished().flatMap((task) => task.edges.map((edge) => [task.id, edge.on.id] as const));
    const [task, dependency] =
      index % 8 === 0 ? [idAt(model, index), idAt(model, on)] : (at(edges, index) ?? ['nobody', 'nobody']);
    send(model, real, { kind: 'removeDependency', task, dependency }, () => {
      model.removeDependency(task, dependency);
    });
  });
const retryByHand = (index: number): Step =>
  step(`retry(${index})`, (model, real) => {
    const failed = [...model.tasks.values()].filter((task) => task.state === 'failed');
    const task = index % 5 === 0 ? idAt(model, index) : (at(failed, index)?.id ?? 'nobody');
    send(model, real, { kind: 'retry', task }, () => {
      model.retry(task);
    });
  });

const pause = (name: string): Step =>
  step(`pause(${name})`, (model, real) => {
    send(model, real, { kind: 'pauseChannel', channel: name }, () => {
      model.pause(name);
    });
  });
const resume = (name: string): Step =>
  step(`resume(${name})`, (model, real) => {
    send(model, real, { kind: 'resumeChannel', channel: name }, () => {
      model.resume(name);
    });
  });
const setStrategy = (to: NaiveStrategy): Step =>
  step(`setStrategy(${to})`, (model, real) => {
    send(model, real, { kind: 'setStrategy', strategy: to satisfies StrategyChoice }, () => {
      model.setStrategy(to);
    });
  });
const setAging = (to: NaiveAging): Step =>
  step(`setAging(${fc.stringify(to)})`, (model, real) => {
    send(model, real, { kind: 'setAging', aging: to }, () => void (model.aging = to));
  });
export const setCapacity = (name: string, units: number): Step =>
  step(`setCapacity(${name}, ${units})`, (model, real) => {
    send(model, real, { kind: 'setCapacity', resource: name, units }, () => {
      model.setCapacity(name, units);
    });
  });
const setLimit = (scope: 'global' | 'type' | 'channel', key: string, limit: number): Step =>
  step(`setLimit(${scope}, ${key}, ${limit})`, (model, real) => {
    send(model, real, { kind: 'setLimit', scope, key, limit }, () => {
      if (scope === 'global') model.limits.global = limit;
      else model.limits[scope].set(key, limit);
      model.preemption.forgetImpossible();
    });
  });
const setRate = (scope: 'resource' | 'type', key: string, rate: RateLimit | undefined): Step =>
  step(`setRate(${scope}, ${key}, ${fc.stringify(rate)})`, (model, real) => {
    send(model, real, { kind: 'setRate', scope, key, rate }, () => {
      model.setRate(scope, key, rate);
      model.preemption.forgetImpossible();
    });
  });
const setWeight = (name: string, weight: number): Step =>
  step(`setWeight(${name}, ${weight})`, (model, real) => {
    send(model, real, { kind: 'setWeight', channel: name, weight }, () => void model.weights.set(name, weight));
  });
const setPressure = (bound: NaiveBound): Step =>
  step(`setPressure(${fc.stringify(bound)})`, (model, real) => {
    send(model, real, { kind: 'setPressure', pressure: bound }, () => void (model.bound = bound));
  });
export const attach = (worker: NaiveWorker): Step =>
  step(`attach(${fc.stringify(worker)})`, (model, real) => {
    const { offers, ...rest } = worker;
    const capabilities = offers as ReadonlyMap<string, string | boolean>;
    send(model, real, { kind: 'attachWorker', worker: { ...rest, capabilities, filter: undefined } }, () => {
      model.attach(worker);
    });
  });
const detach = (index: number): Step =>
  step(`detach(${index})`, (model, real) => {
    const id = at([...model.workers.keys()], index) ?? 'nobody';
    send(model, real, { kind: 'detachWorker', worker: id }, () => {
      model.detach(id);
    });
  });

/** Time passes as in a real run: a tick at every moment at which something is due. */
const advance = (ms: number): Step =>
  step(`advance(${ms})`, (model, real) => {
    const end = model.mono + ms;
    while (model.mono < end) {
      const wake = model.wake();
      const wait = Math.max(1, Math.min(wake.wall - model.wall, wake.mono - model.mono, end - model.mono));
      model.mono += wait;
      model.wall += wait;
      send(model, real, { kind: 'tick' }, () => {
        model.tick();
      });
    }
  });
/** Nobody ticks for a while: what came due happens late, or not before the next tick. */
const stall = (ms: number, ticks: boolean): Step =>
  step(`stall(${ms}, ${ticks ? 'then tick' : 'no tick'})`, (model, real) => {
    model.mono += ms;
    model.wall += ms;
    if (ticks)
      send(model, real, { kind: 'tick' }, () => {
        model.tick();
      });
  });
/** The wall clock is set; the monotonic one does not notice. */
const jump = (ms: number): Step =>
  step(`jump(${ms})`, (model, real) => {
    model.wall += ms;
    send(model, real, { kind: 'tick' }, () => {
      model.tick();
    });
  });

const limits = fc.constantFrom(0, 1, 2, 3, Infinity, Infinity);
const often = <T>(times: number, arbitrary: T): T[] => Array.from({ length: times }, () => arbitrary);

/** Every kind of command; the frequent ones keep tasks flowing. */
export const steps: fc.Arbitrary<Step>[] = [
  ...often(
    6,
    fc.tuple(options, after).map(([o, a]) => submit(o, a)),
  ),
  ...often(
    2,
    options.map((o) => submit(o, [])),
  ),
  fc
    .tuple(fc.array(fc.tuple(options, after), { minLength: 1, maxLength: 4 }), fc.constantFrom(false, false, true))
    .map(([b, t]) => submitAll(b, t)),
  ...often(
    8,
    fc.tuple(nth, fc.constantFrom(1, 1, 1, 2, 4)).map(([i, c]) => claim(i, c)),
  ),
  ...often(
    2,
    fc
      .tuple(fc.constantFrom(1, 3, 6), fc.constantFrom('least-loaded' as const, 'round-robin' as const))
      .map(([c, b]) => plan(c, b)),
  ),
  ...often(5, nth.map(succeed)),
  ...often(
    2,
    fc.tuple(nth, fc.constantFrom(true, true, true, false)).map(([i, r]) => fail(i, r)),
  ),
  nth.map(lose),
  nth.map(release),
  fc.tuple(nth, fc.constantFrom(500, 3_000, 25_000)).map(([i, ms]) => extend(i, ms)),
  ...often(
    4,
    fc.tuple(nth, nth).map(([i, on]) => waitFor(i, on)),
  ),
  fc.tuple(nth, resource, fc.constantFrom(0, 0.5, 1, 3, 8)).map(([i, r, c]) => reportCost(i, r, c)),
  fc.tuple(nth, resource, fc.constantFrom(0, 400, 2_500)).map(([i, r, ms]) => askForPause(i, r, ms)),
  ...often(6, fc.constant(preempt)),
  ...often(3, nth.map(atYield)),
  nth.map(cancel),
  ...often(
    2,
    fc.tuple(nth, level).map(([i, l]) => setPriority(i, l)),
  ),
  ...often(
    2,
    fc.tuple(nth, nth, policy).map(([i, on, p]) => addDependency(i, on, p)),
  ),
  fc.tuple(nth, nth).map(([i, on]) => removeDependency(i, on)),
  nth.map(retryByHand),
  channel.map(pause),
  ...often(2, channel.map(resume)),
  strategy.map(setStrategy),
  agingChoice.map(setAging),
  fc.tuple(resource, fc.constantFrom(0, 1, 2, 5, 10, Infinity)).map(([r, u]) => setCapacity(r, u)),
  fc
    .tuple(
      fc.constantFrom('global' as const, 'type' as const, 'channel' as const),
      limits,
      fc.tuple(type, channel, fc.boolean()),
    )
    .map(([scope, limit, [t, c, any]]) =>
      setLimit(
        scope,
        scope === 'global' ? '' : scope === 'type' ? t : any ? '*' : c,
        scope === 'global' ? limit + 1 : limit,
      ),
    ),
  ...often(
    2,
    fc.tuple(fc.constantFrom('cpu', 'gpu', 'x', 'y'), maybe(rate, 3)).map(([key, limit]) => {
      return setRate(key.length === 1 ? 'type' : 'resource', key, limit);
    }),
  ),
  fc.tuple(fc.constantFrom('a', 'b', 'c', '*'), fc.constantFrom(0.5, 1, 2, 4)).map(([c, w]) => setWeight(c, w)),
  fc
    .record({
      maxPending: fc.constantFrom(1, 4, 9, 20, Infinity, Infinity),
      whenFull: fc.constantFrom<NaiveBound['whenFull']>('wait', 'reject', 'drop-oldest', 'drop-lowest', 'drop-lowest'),
    })
    .map(setPressure),
  ...often(2, workerChoice.map(attach)),
  nth.map(detach),
  ...often(3, stepMs.map(advance)),
  fc.tuple(stepMs, fc.boolean()).map(([ms, ticks]) => stall(ms, ticks)),
  fc.constantFrom(-3_000, 1_000, 8_000).map(jump),
];

/** One of those that were asked to make way does so, by giving up or by throwing. */
const makeWay = (index: number, how: 'release' | 'throw'): Step =>
  step(`makeWay(${index}, ${how})`, (model, real) => {
    const asked = model.holding().filter(({ life, stopBy }) => life === 'counts' && stopBy !== undefined);
    const attempt = at(asked, index);
    if (attempt === undefined) return;
    const named = { task: attempt.task.id, token: { epoch: 1, attempt: attempt.number } };
    const outcome = { kind: 'failed', error, retryable: true } as const;
    send(model, real, how === 'throw' ? { kind: 'settle', ...named, outcome } : { kind: 'release', ...named }, () => {
      model.settle(attempt, how === 'throw' ? 'failed' : 'released');
    });
  });

const EVERYBODY = [0, 1, 2];
/** Everybody takes what there is; then whoever is still left out may have others make way. */
const fill = step('fill', (model, real) => {
  for (const index of EVERYBODY) claim(index, 20).run(model, real);
  preempt.run(model, real);
});

const plain = fc
  .record({ options, rarely: fc.constantFrom(true, false, false, false) })
  .map(({ options: o, rarely }) => {
    const never = { eta: undefined, delay: undefined, expires: undefined, timeout: undefined, lease: undefined };
    return { ...o, ...never, preemptible: !rarely, capabilities: rarely ? o.capabilities : undefined };
  });

/** There is always too much to do, nearly all that runs may be stopped, and most are when they are asked. */
export const pressingSteps: fc.Arbitrary<Step>[] = [
  ...often(
    6,
    plain.map((o) => submit(o, [])),
  ),
  ...often(5, fc.constant(fill)),
  ...often(5, fc.constant(preempt)),
  ...often(
    4,
    fc.tuple(nth, fc.constantFrom('release' as const, 'throw' as const)).map(([i, how]) => makeWay(i, how)),
  ),
  ...often(2, nth.map(succeed)),
  ...often(3, nth.map(atYield)),
  ...often(
    2,
    fc.tuple(nth, level).map(([i, l]) => setPriority(i, l)),
  ),
  ...often(3, fc.constantFrom(1, 7, 250, 999, 1_000, 2_500).map(advance)),
  fc.tuple(nth, nth).map(([i, on]) => waitFor(i, on)),
  nth.map(cancel),
  fc.tuple(resource, fc.constantFrom(0, 2, 5)).map(([r, u]) => setCapacity(r, u)),
  fc.tuple(channel, limits).map(([c, limit]) => setLimit('channel', c, limit)),
  channel.map(pause),
  ...often(2, channel.map(resume)),
];
