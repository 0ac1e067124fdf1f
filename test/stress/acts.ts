import {
  describeExplanation,
  type AddAllEntry,
  type AddOptions,
  type Claim,
  type Handle,
  type PullingWorker,
  type RepeatOptions,
  type StrategyName,
} from '../../src/index.js';
import type { Chance } from '../../src/testing/simulation/chance.js';
import { handler } from './handlers.js';
import { HANDLERS, type Told } from './observed.js';
import type { World } from './world.js';

type Act = (world: World, chance: Chance) => void;

const CHANNELS = ['default', 'a', 'b'] as const;
const STRATEGIES: readonly [StrategyName, ...StrategyName[]] = [
  ...(['priority', 'fair', 'fifo', 'lifo', 'deadline', 'critical-path', 'weighted-random'] as const),
];
const POLICIES = ['fail', 'skip', 'run'] as const;

/** The input of the definition `render`, whose type is limited: each brings its own work. */
export interface Render {
  readonly told: Told;
  readonly seed: number;
}

interface Drawn {
  readonly options: AddOptions;
  readonly told: Told;
}

/** Options of all kinds, and what of them can be seen from inside the handler. */
function draw(world: World, chance: Chance, known: readonly Handle<unknown>[] = world.handles): Drawn {
  const { wall } = world.clock.now();
  const channel = chance.pick(CHANNELS);
  const gpu = chance.oneIn(4) ? 1 + chance.roll(2) : 0;
  const tokens = chance.oneIn(5) ? 1 + chance.roll(2) : 0;
  const onDependencyFailure = chance.pick(POLICIES);
  const after = chance.oneIn(3) ? [chance.pick(known), chance.pick(known)].filter((each) => each !== undefined) : [];
  const needs = {
    ...(gpu > 0 ? { gpu } : {}),
    ...(tokens > 0 ? { rated: tokens } : {}),
    ...(chance.oneIn(6) ? { api: 1 } : {}),
  };
  const options: AddOptions = {
    channel,
    priority: chance.roll(5),
    needs,
    after: chance.oneIn(4) ? after.map(({ id }) => id) : after,
    onDependencyFailure,
    // Whatever hangs is given up some time.
    ...(chance.oneIn(2) ? { timeout: 20 + chance.roll(200) } : {}),
    ...chance.some(5, {
      id: `t${String(chance.roll(30))}`,
      deadline: wall + chance.roll(200),
      expires: wall + 1 + chance.roll(150),
      delay: chance.roll(100),
      eta: wall - 20 + chance.roll(100),
      retry: { attempts: 1 + chance.roll(3), base: chance.roll(40), jitter: chance.oneIn(2) },
      preemptible: true,
      lease: 30 + chance.roll(50),
      estimate: chance.roll(100),
      yieldable: gpu > 0 ? ['gpu'] : [],
      capabilities: chance.oneIn(2) ? { exec: true } : { disk: 'ssd' },
      metadata: { step: world.steps },
      detached: true,
      signal: signalOf(world, chance),
    }),
  };
  const must = new Set(onDependencyFailure === 'run' ? [] : after);
  return { options, told: { channel, type: '', gpu, tokens, after: must } };
}

function signalOf(world: World, chance: Chance): AbortSignal {
  const known = chance.oneIn(2) ? chance.pick(world.controllers) : undefined;
  const controller = known ?? new AbortController();
  if (known === undefined) world.controllers.push(controller);
  return controller.signal;
}

function add(world: World, chance: Chance): void {
  if (world.isFull) return;
  const { options, told } = draw(world, chance);
  world.keep(world.scheduler.add(handler(world, told, chance.roll(1e6)), options), 'added', told);
}

function addDefined(world: World, chance: Chance): void {
  if (world.isFull) return;
  const { options, told } = draw(world, chance);
  const render = { ...told, type: 'render' };
  if (chance.oneIn(8)) world.keep(world.scheduler.add('never defined', 1, options), 'of an unknown name');
  const input: Render = { told: render, seed: chance.roll(1e6) };
  world.keep(world.scheduler.add('render', input, options), 'defined', render);
}

function addAll(world: World, chance: Chance): void {
  if (world.isFull) return;
  const entries = [0, 1, 2].map((at): AddAllEntry => {
    const { options, told } = draw(world, chance, []);
    return { ...options, run: handler(world, told, chance.roll(1e6)), id: `all-${String(world.steps)}-${String(at)}` };
  });
  const linked = entries.map((entry, at): AddAllEntry => {
    const before = entries[chance.oneIn(12) ? (at + 1) % 3 : at - 1];
    return before?.id === undefined ? entry : { ...entry, after: [before.id], onDependencyFailure: 'run' };
  });
  if (chance.oneIn(2)) for (const each of world.scheduler.addAll(linked)) world.keep(each, 'one of all');
  else
    for (const each of Object.values(world.scheduler.addAll(Object.fromEntries(linked.entries()))))
      world.keep(each, 'one of a record');
}

function batch(world: World, chance: Chance): void {
  if (world.isFull) return;
  const made: Handle<unknown>[] = [];
  const tolds: Told[] = [];
  try {
    world.scheduler.batch((adder) => {
      for (let i = 0; i < 3; i += 1) {
        const { options, told } = draw(world, chance, chance.oneIn(2) && made.length > 0 ? made : world.handles);
        tolds.push(told);
        made.push(adder.add(handler(world, told, chance.roll(1e6)), { ...options, id: undefined }));
      }
      if (chance.oneIn(6)) throw new Error('the batch is given up');
    });
  } catch (error) {
    if (!(error instanceof Error && error.message === 'the batch is given up')) throw error;
  }
  made.forEach((each, at) => {
    world.keep(each, 'in a batch', tolds[at]);
  });
}

function map(world: World, chance: Chance): void {
  if (world.isFull) return;
  const count = chance.roll(6);
  async function* slowly(): AsyncGenerator<number> {
    for (let i = 0; i < count; i += 1) {
      await world.sleep(chance.roll(10));
      yield i;
    }
    if (chance.oneIn(4)) throw new Error('the source fails');
  }
  const told: Told = { channel: 'a', type: '', gpu: 0, tokens: 0, after: new Set() };
  const source = chance.oneIn(2) ? slowly() : Array.from({ length: count }, (_, i) => i);
  const run = (item: number, task: Parameters<ReturnType<typeof handler>>[0]): unknown =>
    handler(world, told, chance.seed + item)(task);
  const results = world.scheduler.map(source, run, { channel: 'a', timeout: 100, ahead: 2 });
  const stopAt = chance.oneIn(3) ? 1 : Infinity;
  const read = async (): Promise<void> => {
    let taken = 0;
    for await (const _ of results) {
      taken += 1;
      if (taken === stopAt) break;
      await world.sleep(chance.roll(10));
    }
  };
  world.observed.track('the reader of a map', read());
}

function repeat(world: World, chance: Chance): void {
  const { wall } = world.clock.now();
  if (world.series.length >= 6) return;
  const told: Told = { channel: 'b', type: '', gpu: 0, tokens: 0, after: new Set() };
  const when: RepeatOptions = chance.oneIn(4)
    ? { cron: '* * * * *' }
    : { every: 20 + chance.roll(200), from: chance.pick(['end', 'start', 'grid']) };
  const options: RepeatOptions = {
    ...when,
    channel: 'b',
    timeout: 100,
    overlap: chance.pick(['skip', 'queue', 'allow']),
    catchUp: chance.pick(['once', 'all', 'none']),
    ...chance.some(3, { id: `s${String(chance.roll(3))}`, count: 1 + chance.roll(4), until: wall + 500, retry: 2 }),
  };
  const series = world.scheduler.repeat(handler(world, told, chance.roll(1e6)), options);
  if (!world.series.includes(series)) world.series.push(series);
  if (chance.oneIn(2)) return;
  const read = async (): Promise<void> => {
    for await (const { result } of series.occurrences) world.observed.track('the result of an occurrence', result);
  };
  world.observed.track(`occurrences of ${series.id}`, read());
}

function steerSeries(world: World, chance: Chance): void {
  const series = chance.pick(world.series);
  const how = chance.pick(['pause', 'resume', 'cancel'] as const);
  series?.[how]();
}

function cancel(world: World, chance: Chance): void {
  const handle = chance.pick(world.handles);
  if (handle === undefined) return;
  switch (chance.roll(5)) {
    case 0:
      handle.cancel('no longer wanted');
      return;
    case 1:
      world.scheduler.cancel(handle.id, { cascade: true, reason: 'all of it' });
      return;
    case 2:
      world.scheduler.cancel(({ channel, priority }) => channel === 'a' && priority > 2);
      return;
    case 3:
      world.scheduler.cancel(handle);
      return;
    default:
      if (chance.oneIn(3)) world.scheduler.clear();
  }
}

function steer(world: World, chance: Chance): void {
  const { scheduler } = world;
  const handle = chance.pick(world.handles);
  const channel = chance.pick(CHANNELS);
  switch (chance.roll(10)) {
    case 0:
      scheduler.setStrategy(chance.pick(STRATEGIES));
      return;
    case 1:
      scheduler.setWeight(channel, 1 + chance.roll(3));
      return;
    case 2:
      handle?.setPriority(chance.roll(5));
      return;
    case 3:
      if (handle !== undefined) scheduler.setPriority(handle, 'critical');
      return;
    case 4:
      scheduler.pauseChannel(channel);
      return;
    case 5:
      scheduler.resumeChannel(channel);
      return;
    case 6:
      if (chance.oneIn(3)) scheduler.pause();
      return;
    case 7:
      scheduler.resume();
      return;
    case 8:
      if (chance.oneIn(2)) scheduler.closeChannel('b');
      else scheduler.openChannel('b');
      return;
    default:
      link(world, chance);
  }
}

function link(world: World, chance: Chance): void {
  const [one, other] = [chance.pick(world.handles), chance.pick(world.handles)];
  if (one === undefined || other === undefined) return;
  // With another policy, or without the edge, it may start whatever becomes of the other.
  world.tolds.get(one)?.after.delete(other);
  if (chance.oneIn(2)) {
    world.scheduler.addDependency(one, other, { onFailure: 'run' });
    return;
  }
  world.scheduler.removeDependency(one, other);
}

/** Between steps only: then everybody knows what the limits are, from the first start under them on. */
function limit(world: World, chance: Chance): void {
  const { scheduler, observed } = world;
  const { limits } = observed;
  observed.loweredAt = world.clock.now().mono;
  switch (chance.roll(5)) {
    case 0:
      limits.global = 1 + chance.roll(6);
      scheduler.setLimit({ global: limits.global });
      return;
    case 1:
      limits.perType = 1 + chance.roll(2);
      scheduler.setLimit({ perType: { render: limits.perType } });
      return;
    case 2:
      limits.perChannel = 1 + chance.roll(3);
      scheduler.setLimit({ perChannel: { '*': limits.perChannel } });
      return;
    case 3:
      // What needs two is refused, or waits, while there is but one.
      limits.gpu = 1 + chance.roll(3);
      scheduler.setCapacity('gpu', limits.gpu);
      return;
    default:
      scheduler.setConcurrency(chance.roll(5));
  }
}

function retry(world: World, chance: Chance): void {
  const failed = world.handles.filter(({ state }) => state === 'failed');
  const handle = chance.pick(failed) ?? chance.pick(world.handles);
  if (handle === undefined) return;
  world.scheduler.retry(handle);
  // Run by hand, it waits for nobody any more.
  world.tolds.get(handle)?.after.clear();
  world.observed.track(`${handle.id} again`, handle.result);
}

function attach(world: World, chance: Chance): void {
  if (world.workers.length >= 4) return;
  const worker = world.scheduler.worker({
    lease: 40,
    ...chance.some(2, {
      slots: 1 + chance.roll(2),
      capabilities: { exec: true, disk: ['ssd', 'hdd'] },
      strategy: chance.pick(STRATEGIES),
      retries: chance.roll(2),
    }),
  });
  world.workers.push(worker);
  if (chance.oneIn(2)) world.observed.track(`${HANDLERS}the loop of ${worker.id}`, pull(world, worker));
}

async function pull(world: World, worker: PullingWorker): Promise<void> {
  for await (const claim of worker) {
    world.hold(claim);
    const run = claim.run();
    world.observed.track(`${HANDLERS}a claim that runs`, run);
    await run.catch(() => undefined);
  }
}

function claim(world: World, chance: Chance): void {
  const worker = chance.pick(world.workers);
  if (worker === undefined) return;
  const got = (claims: readonly (Claim | undefined)[]): void => {
    for (const each of claims) if (each !== undefined) world.hold(each);
  };
  const ask = async (): Promise<void> => {
    switch (chance.roll(5)) {
      case 0:
        got(await worker.claimBatch(1 + chance.roll(3)));
        return;
      case 1: {
        const controller = new AbortController();
        world.controllers.push(controller);
        got([await worker.next({ signal: controller.signal })]);
        return;
      }
      case 2:
        got(await world.scheduler.assign(1 + chance.roll(2)));
        return;
      default:
        got([await worker.claim()]);
    }
  };
  world.observed.track('a worker that asks', aborted(ask()));
}

/** Somebody's own signal may end it, with whatever reason. */
async function aborted(promise: Promise<unknown>): Promise<void> {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
  }
}

function settle(world: World, chance: Chance): void {
  const each = chance.pick(world.claims);
  if (each === undefined) return;
  const how = chance.roll(7);
  if (how !== 3) world.observed.end(each.task);
  const ways = [
    () => each.complete('done'),
    () => each.fail(new Error('failed')),
    () => each.release(),
    () => each.extend(50),
    () => each.run(),
  ];
  const done = ways[how]?.();
  if (done !== undefined) world.observed.track(how === 4 ? `${HANDLERS}a claim` : 'a claim that is settled', done);
}

function leave(world: World, chance: Chance): void {
  const worker = chance.pick(world.workers);
  if (worker === undefined) return;
  if (chance.oneIn(2)) worker.setStrategy(chance.pick(STRATEGIES));
  else world.observed.track('a worker that leaves', worker.close());
}

function abort(world: World, chance: Chance): void {
  const controller = chance.pick(world.controllers);
  if (chance.oneIn(2)) controller?.abort();
  else controller?.abort(Object.assign(new Error('for a reason'), { name: 'AbortError' }));
}

function wait(world: World, chance: Chance): void {
  const { scheduler } = world;
  const controller = new AbortController();
  world.controllers.push(controller);
  const options = { signal: controller.signal };
  const ways = [
    () => scheduler.onIdle(options),
    () => scheduler.onEmpty(options),
    () => scheduler.onSizeLessThan(1 + chance.roll(3), options),
  ];
  const waits = ways[chance.roll(3)]?.();
  if (waits !== undefined) world.observed.track('somebody who waits', aborted(waits));
}

function look(world: World, chance: Chance): void {
  const { scheduler } = world;
  scheduler.stats();
  scheduler.load();
  scheduler.timeline();
  scheduler.describeOrder();
  scheduler.toDot();
  scheduler.toMermaid();
  scheduler.topologicalOrder();
  scheduler.foresee(2);
  const { length } = scheduler.pending();
  if (length !== scheduler.size) world.observed.problem(`${length} are listed as pending of ${scheduler.size}`);
  const handle = chance.pick(world.handles);
  if (handle === undefined) return;
  scheduler.get(handle.id);
  describeExplanation(handle.explain());
}

function err(world: World, chance: Chance): void {
  const { scheduler, engine } = world;
  const before = engine.core.state.table.next;
  const bad: readonly (() => unknown)[] = [
    () => scheduler.add(undefined as never),
    () => scheduler.add(() => 1, { priority: NaN }),
    () => scheduler.add(() => 1, { after: ['no such task', 7 as never] }),
    () => scheduler.addAll([{ run: () => 1 }, { run: () => 1, timeout: -1 }]),
    () => scheduler.repeat(() => 1, { every: 0 }),
    () => {
      scheduler.setCapacity('gpu', -1);
    },
    () => {
      scheduler.setStrategy('no such' as never);
    },
    () => scheduler.worker({ slots: 0 }),
  ];
  try {
    bad[chance.roll(bad.length)]?.();
    world.observed.problem('what is malformed is taken');
  } finally {
    if (engine.core.state.table.next !== before) world.observed.problem('what is malformed leaves something behind');
  }
}

function time(world: World, chance: Chance): void {
  if (chance.oneIn(3)) world.clock.jump((chance.roll(3) - 1) * 3_600_000);
  else world.clock.block(chance.roll(100));
  // Whoever sets the clock lets it be looked at.
  world.scheduler.pending();
}

/** What somebody may do, by name. */
export const ACTS = {
  add,
  addMore: add,
  addDefined,
  addAll,
  batch,
  map,
  repeat,
  steerSeries,
  cancel,
  steer,
  link,
  limit,
  retry,
  attach,
  claim,
  claimMore: claim,
  settle,
  settleMore: settle,
  leave,
  abort,
  wait,
  look,
  err,
  time,
} as const satisfies Record<string, Act>;

export type ActName = keyof typeof ACTS;
