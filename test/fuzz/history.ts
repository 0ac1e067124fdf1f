import { Core } from '../../src/core/index.js';
import { Scheduler, type Loaded, type SnapshotToSave, type Store, type TaskContext } from '../../src/index.js';
import { Payloads } from '../../src/runtime/kept.js';
import { Recovery } from '../../src/runtime/recovery.js';
import { Revival, type RevivalHost } from '../../src/runtime/revival.js';
import { VirtualClock } from '../../src/testing/index.js';
import { textOf } from './claims.js';

/** What a scheduler has left behind: every record there ever was, and the snapshots that were taken on the way. */
export interface Left {
  readonly bodies: string[];
  readonly snapshots: { readonly sequence: number; readonly parts: readonly string[] }[];
}

/** The same store, which notes beside what it is given. */
export function noting<Kept extends Store>(store: Kept, left: Left): Kept {
  const append = store.append.bind(store);
  const save = store.saveSnapshot.bind(store);
  store.append = async (expected, epoch, body) => {
    await append(expected, epoch, body);
    left.bodies.length = expected;
    left.bodies.push(body);
  };
  store.saveSnapshot = async ({ sequence, parts }: SnapshotToSave, epoch) => {
    const noted: string[] = [];
    await save({ sequence, parts: passedOn(parts, noted) }, epoch);
    left.snapshots.push({ sequence, parts: noted });
  };
  return store;
}

async function* passedOn(parts: AsyncIterable<string>, noted: string[]): AsyncIterable<string> {
  for await (const part of parts) {
    noted.push(part);
    yield part;
  }
}

/** Does a little of everything on a store, and leaves in the middle of it, as a process that is killed. */
export async function work(store: Store, rounds: number): Promise<void> {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({
    ...{ store, clock, concurrency: 3, strategy: 'fair', seed: 3 },
    ...{ resources: { gpu: 2, api: { rate: 5, per: '1s', burst: 5 } }, retain: { count: 5 } },
    ...{ limits: { perType: { slow: 2 }, perChannel: { b: 1 } }, channels: { weights: { a: 2 } } },
    snapshotEvery: { facts: 60 },
  });
  define(scheduler, clock);
  await scheduler.start();
  scheduler.repeat('quick', { of: 'series' }, { id: 'series', every: '1s', count: 30 });
  const worker = scheduler.worker({ id: 'puller', slots: 1, capabilities: { os: ['linux'] }, lease: '5s' });
  for (let round = 0; round < rounds; round += 1) {
    addSome(scheduler, round);
    await clock.advance(700);
    const claim = await clock.until(worker.claim());
    if (round % 3 === 0) await claim?.complete({ round });
    else if (round % 3 === 1) await claim?.release();
    if (round === 2) scheduler.pauseChannel('c');
    await clock.advance(700);
  }
}

function define(scheduler: Scheduler, clock: VirtualClock): void {
  scheduler.define('quick', (input: unknown) => ({ given: input }));
  scheduler.define('slow', async (_input: unknown, task) => {
    task.checkpoint({ half: new Date(0) });
    await clock.sleep('2s');
    return 1n;
  });
  scheduler.define('breaks', () => Promise.reject(new Error('as it should')), { retry: { attempts: 2, base: '1s' } });
  scheduler.define('parent', async (_input: unknown, task: TaskContext) => {
    const child = task.add('slow', 'child', { channel: 'a' });
    return task.waitFor(child);
  });
}

function addSome(scheduler: Scheduler, round: number): void {
  const id = (name: string): string => `${name}-${round}`;
  void scheduler.add('slow', { round }, { id: id('slow'), channel: 'a', needs: { gpu: 1 } });
  void scheduler.add('quick', round, { id: id('after'), after: [id('slow')], channel: 'b', metadata: { round } });
  void scheduler.add('quick', round, { channel: 'c', needs: { api: 2 }, priority: 'high', preemptible: true });
  void scheduler.add('breaks', round, { id: id('breaks') }).result.catch(() => undefined);
  void scheduler.add('quick', round, { id: id('later'), delay: '3s', expires: '2040-01-01T00:00:00Z' });
  void scheduler.add('quick', round, { id: id('pulled'), capabilities: { os: 'linux' }, estimate: 5 });
  void scheduler.add('quick', round, { key: 'same', debounce: '1s' }).result.catch(() => undefined);
  if (round % 2 === 0)
    void scheduler.add('parent', round, { id: id('parent'), channel: 'b' }).result.catch(() => undefined);
  else scheduler.cancel(id('later'), { reason: 'not any more' });
}

/** The core that a store leads to. */
export async function recovered(store: Pick<Store, 'name' | 'load'>): Promise<Core> {
  const core = new Core({ origin: { wall: 0, mono: 0 } });
  const host = { core, definitions: new Map(), seriesHost: {}, payloads: new Payloads(undefined, undefined) };
  const revival = new Revival({ ...host, strategies: [] } as unknown as RevivalHost);
  await new Recovery(store as Store, core, revival, {}).run();
  return core;
}

/** A store that hands over just this. */
export function handing(...loaded: readonly Loaded[]): Pick<Store, 'name' | 'load'> {
  return {
    name: 'texts',
    // eslint-disable-next-line @typescript-eslint/require-await -- a store answers asynchronously
    load: async function* () {
      yield* loaded;
    },
  };
}

/** The state after each number of records, from none on. */
export async function statesOf({ bodies }: Left): Promise<string[]> {
  const states: string[] = [];
  for (let count = 1; count <= bodies.length; count += 1) {
    states.push(
      textOf((await recovered(handing({ kind: 'records', first: 1, bodies: bodies.slice(0, count) }))).snapshot()),
    );
  }
  return states;
}
