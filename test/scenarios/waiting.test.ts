import { expect, test } from 'vitest';
import { Scheduler, type Claim, type PlaceTraits } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

/** Whether a promise has settled by now, and how. */
function watch<Value>(promise: Promise<Value>): { state: string; value: Value | undefined; error: unknown } {
  const seen: { state: string; value: Value | undefined; error: unknown } = {
    state: 'pending',
    value: undefined,
    error: undefined,
  };
  promise.then(
    (value) => Object.assign(seen, { state: 'resolved', value }),
    (error: unknown) => Object.assign(seen, { state: 'rejected', error }),
  );
  return seen;
}

function pulled(): { readonly clock: VirtualClock; readonly scheduler: Scheduler } {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ concurrency: 0, clock, resources: { gpu: 1 } }) };
}

const nothing = (): unknown => undefined;

test('B2 idle, empty and fewer than n resolve when they come true, and not before', async () => {
  const { clock, scheduler } = pulled();
  const worker = scheduler.worker();
  for (let i = 0; i < 3; i += 1) scheduler.add(nothing);
  const idle = watch(scheduler.onIdle());
  const empty = watch(scheduler.onEmpty());
  const fewer = watch(scheduler.onSizeLessThan(2));
  const states = async (): Promise<string[]> => {
    await clock.settle();
    return [fewer.state, empty.state, idle.state];
  };
  const [first] = await worker.claimBatch(1);
  expect(await states()).toEqual(['pending', 'pending', 'pending']);
  const [second] = await worker.claimBatch(1);
  expect(await states()).toEqual(['resolved', 'pending', 'pending']);
  const [third] = await worker.claimBatch(1);
  expect(await states()).toEqual(['resolved', 'resolved', 'pending']);
  await first?.complete();
  await second?.complete();
  expect(await states()).toEqual(['resolved', 'resolved', 'pending']);
  await third?.complete();
  expect(await states()).toEqual(['resolved', 'resolved', 'resolved']);
  await scheduler.close();
});

test('B2 what is delayed, in backoff or cancelled counts until it has ended', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  const later = scheduler.add(nothing, { delay: '1h' });
  scheduler.add((task) => (task.attempt === 1 ? Promise.reject(new Error('again')) : 'done'), {
    retry: { attempts: 2, backoff: 'fixed', base: '10m' },
  });
  const idle = watch(scheduler.onIdle());
  const empty = watch(scheduler.onEmpty());
  await clock.advance('30m');
  expect([idle.state, empty.state]).toEqual(['pending', 'pending']);
  later.cancel();
  await clock.settle();
  expect([idle.state, empty.state]).toEqual(['resolved', 'resolved']);
  await scheduler.close();
});

test('B2 each wait resolves at once if it holds already', async () => {
  const { scheduler } = pulled();
  await scheduler.onIdle();
  await scheduler.onEmpty();
  scheduler.add(nothing);
  await scheduler.onSizeLessThan(2);
  await scheduler.close();
});

test('B2 each wait can be aborted, before and while it waits, and then rejects with the reason', async () => {
  const { clock, scheduler } = pulled();
  scheduler.add(nothing);
  const worker = scheduler.worker({ capabilities: {}, filter: () => false });
  const reason = new Error('enough');
  const waits = (signal: AbortSignal): ReturnType<typeof watch>[] => [
    watch(scheduler.onIdle({ signal })),
    watch(scheduler.onEmpty({ signal })),
    watch(scheduler.onSizeLessThan(1, { signal })),
    watch(worker.next({ signal })),
  ];
  const aborting = new AbortController();
  const during = waits(aborting.signal);
  await clock.settle();
  expect(during.map(({ state }) => state)).toEqual(Array(4).fill('pending'));
  aborting.abort(reason);
  const before = waits(aborting.signal);
  await clock.settle();
  for (const wait of [...during, ...before]) expect(wait).toMatchObject({ state: 'rejected', error: reason });
  await scheduler.close();
});

test('B2 bad input: a size that can never be reached and a signal that is none are refused', async () => {
  const { scheduler } = pulled();
  for (const limit of [0, -1, 1.5, Number.NaN, '3' as unknown as number]) {
    await expect(scheduler.onSizeLessThan(limit)).rejects.toMatchObject({ code: 'INVALID_CONFIG', field: 'limit' });
  }
  const signal = 'now' as unknown as AbortSignal;
  await expect(scheduler.onIdle({ signal })).rejects.toMatchObject({ code: 'INVALID_CONFIG', field: 'signal' });
  await expect(scheduler.onIdle(7 as never)).rejects.toMatchObject({ field: 'options' });
  await scheduler.close();
});

test('A3.5 a waiting claim resolves with the task that becomes available', async () => {
  const { clock, scheduler } = pulled();
  const worker = scheduler.worker({ id: 'w' });
  const waiting = watch(worker.next());
  await clock.settle();
  expect(waiting.state).toBe('pending');
  const handle = scheduler.add(nothing, { id: 'task' });
  await clock.settle();
  expect(waiting.value?.task).toMatchObject({ id: 'task', attempt: 1, channel: 'default', input: undefined });
  await waiting.value?.complete('result');
  expect(await handle).toBe('result');
  await scheduler.close();
});

test('A3.5 a claim that waits takes at once what is there already', async () => {
  const { scheduler } = pulled();
  scheduler.add(nothing, { id: 'task' });
  const claim = await scheduler.worker().next();
  expect(claim.task.id).toBe('task');
  await claim.complete();
  await scheduler.close();
});

/** What makes a task eligible for the worker that waits, by the change that does it. */
const CHANGES: readonly [string, (given: { scheduler: Scheduler; clock: VirtualClock }) => Promise<() => unknown>][] = [
  [
    'its time has come',
    ({ scheduler, clock }) => {
      scheduler.add(nothing, { delay: '10s' });
      return Promise.resolve(() => clock.advance('10s'));
    },
  ],
  [
    'what it depends on has ended',
    async ({ scheduler }) => {
      const first = scheduler.add(nothing);
      scheduler.add(nothing, { after: [first] });
      const claim = await scheduler.worker().claim();
      return () => claim?.complete();
    },
  ],
  [
    'a resource is given back by a task that failed',
    async ({ scheduler }) => {
      scheduler.add(nothing, { needs: { gpu: 1 }, retry: { attempts: 2, backoff: 'fixed', base: '1h' } });
      scheduler.add(nothing, { needs: { gpu: 1 } });
      const claim = await scheduler.worker().claim();
      return () => claim?.fail(new Error('no'));
    },
  ],
  [
    'a capacity is raised',
    async ({ scheduler }) => {
      for (let i = 0; i < 2; i += 1) scheduler.add(nothing, { needs: { gpu: 1 } });
      await scheduler.worker().claim();
      return () => {
        scheduler.setCapacity('gpu', 2);
      };
    },
  ],
  [
    'a channel is resumed',
    ({ scheduler }) => {
      scheduler.pauseChannel('c');
      scheduler.add(nothing, { channel: 'c' });
      return Promise.resolve(() => {
        scheduler.resumeChannel('c');
      });
    },
  ],
  [
    'another worker is closed',
    async ({ scheduler }) => {
      scheduler.add(nothing);
      const other = scheduler.worker();
      await other.claim();
      return () => other.close();
    },
  ],
  [
    'the lease of another worker ends',
    async ({ scheduler, clock }) => {
      scheduler.add(nothing);
      await scheduler.worker({ lease: '10s' }).claim();
      return () => clock.advance('10s');
    },
  ],
  [
    'a claim is given back',
    async ({ scheduler }) => {
      scheduler.add(nothing);
      const claim = await scheduler.worker().claim();
      return () => claim?.release();
    },
  ],
];

test.each(CHANGES)('A3.5 a waiting claim resolves as soon as %s', async (_, prepare) => {
  const { clock, scheduler } = pulled();
  const change = await prepare({ scheduler, clock });
  const waiting = watch(scheduler.worker({ id: 'waits' }).next());
  await clock.settle();
  expect(waiting.state).toBe('pending');
  await change();
  await clock.settle();
  expect(waiting.state).toBe('resolved');
  await waiting.value?.complete();
});

test('A3.5 a slot of this process that ends lets a waiting worker go on, also when it takes the next task itself', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ concurrency: 1, clock, resources: { gpu: 1 } });
  let open: () => void = nothing;
  const held = new Promise<void>((resolve) => (open = resolve));
  scheduler.add(() => held, { needs: { gpu: 1 } });
  await clock.settle();
  scheduler.add(() => new Promise(nothing));
  scheduler.add(nothing, { id: 'remote', needs: { gpu: 1 }, capabilities: { remote: true } });
  const filter = ({ capabilities }: PlaceTraits): boolean => capabilities.length > 0;
  const waiting = watch(scheduler.worker({ capabilities: { remote: true }, filter }).next());
  await clock.settle();
  expect(waiting.state).toBe('pending');
  open();
  await clock.settle();
  expect(waiting.value?.task.id).toBe('remote');
});

test('A3.5 a claim whose signal aborts has taken no task: the next one gets it', async () => {
  const { clock, scheduler } = pulled();
  const [impatient, patient] = [scheduler.worker(), scheduler.worker()];
  const aborting = new AbortController();
  const first = watch(impatient.next({ signal: aborting.signal }));
  const second = watch(patient.next());
  aborting.abort();
  scheduler.add(nothing, { id: 'only' });
  await clock.settle();
  expect(first).toMatchObject({ state: 'rejected', error: { name: 'AbortError' } });
  expect(second.value?.task.id).toBe('only');
  expect(scheduler.running).toBe(1);
  await second.value?.complete();
  await scheduler.close();
});

test('A3.5 B2 those who wait are served in the order in which they began to, and nobody overtakes them', async () => {
  const { clock, scheduler } = pulled();
  const names = ['c', 'a', 'b'];
  const order: string[] = [];
  const claims: Claim[] = [];
  for (const id of names) {
    void scheduler
      .worker({ id })
      .next()
      .then((claim) => {
        order.push(id);
        claims.push(claim);
      });
  }
  await clock.settle();
  scheduler.add(nothing, { id: '1' });
  // Whoever asks now, without waiting, does not get ahead of those who have waited.
  const [late] = await Promise.all([scheduler.worker({ id: 'late' }).claim(), clock.settle()]);
  expect(late).toBeUndefined();
  for (const id of ['2', '3']) scheduler.add(nothing, { id });
  await clock.settle();
  expect(order).toEqual(names);
  expect(claims.map((claim) => claim.task.id)).toEqual(['1', '2', '3']);
  for (const claim of claims) await claim.complete();
  await scheduler.close();
});

test('A3.5 one who waits for what only others could take holds nobody up', async () => {
  const { clock, scheduler } = pulled();
  const picky = watch(scheduler.worker({ filter: ({ channel }) => channel === 'gold' }).next());
  const other = watch(scheduler.worker().next());
  scheduler.add(nothing, { channel: 'silver' });
  await clock.settle();
  expect([picky.state, other.state]).toEqual(['pending', 'resolved']);
  await other.value?.complete();
});
