import { expect, test } from 'vitest';
import {
  CancelledError,
  ClosedError,
  DroppedError,
  SaturatedError,
  Scheduler,
  describeExplanation,
  type Handle,
  type SchedulerOptions,
  type TaskView,
} from '../../src/index.js';
import type { Task } from '../../src/model/index.js';
import { Entrance } from '../../src/runtime/entrance.js';
import { VirtualClock, sim } from '../../src/testing/index.js';

/** Nothing runs before a worker claims it. */
function full(options: SchedulerOptions): { readonly scheduler: Scheduler; readonly clock: VirtualClock } {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ concurrency: 0, maxPending: 2, maxWaiting: 10, clock, ...options }) };
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  return (await Promise.race([promise.catch(() => undefined), Promise.resolve(open)])) !== open;
}

function add(scheduler: Scheduler, ...ids: string[]): Handle<string>[] {
  return ids.map((id) => scheduler.add(() => id, { id }));
}

test('C8.1 wait: whoever comes above the bound is let in as room appears, in order, and accepted tells when', async () => {
  const { scheduler } = full({ whenFull: 'wait' });
  const handles = add(scheduler, 'a', 'b', 'c', 'd', 'e');
  const [a, , c, d, e] = handles as [Handle<string>, Handle<string>, Handle<string>, Handle<string>, Handle<string>];
  await a.accepted;
  expect([scheduler.size, scheduler.waiting, scheduler.saturated]).toEqual([2, 3, true]);
  expect([c.id, c.state, await isSettled(c.accepted)]).toEqual(['c', 'waiting', false]);
  const worker = scheduler.worker();
  expect((await worker.claim())?.task.id).toBe('a');
  await c.accepted;
  expect([c.state, await isSettled(d.accepted), scheduler.size]).toEqual(['ready', false, 2]);
  for (let claim = await worker.claim(); claim !== undefined; claim = await worker.claim()) await claim.run();
  await Promise.all([d.accepted, e.accepted]);
  expect(await Promise.all([d.result, e.result])).toEqual(['d', 'e']);
  expect([scheduler.size, scheduler.waiting, scheduler.saturated]).toEqual([0, 0, false]);
});

test('C8.1 wait: with slots of its own a scheduler works off any number that wait, and is idle only after the last', async () => {
  const scheduler = new Scheduler({ concurrency: 2, maxPending: 3, maxWaiting: Infinity });
  const order: number[] = [];
  let most = 0;
  const handles = Array.from({ length: 200 }, (_, i) =>
    scheduler.add(() => {
      most = Math.max(most, scheduler.size);
      order.push(i);
      return i;
    }),
  );
  expect(scheduler.waiting).toBe(197);
  await scheduler.onIdle();
  expect(order).toEqual(Array.from({ length: 200 }, (_, i) => i));
  expect(most).toBeLessThanOrEqual(3);
  expect(await handles[199]).toBe(199);
  expect(new Set(handles.map(({ id }) => id)).size).toBe(200);
  await scheduler.close();
});

test('C8.2 nobody overtakes those who wait, not even into room that has just appeared', async () => {
  const { scheduler, clock } = full({});
  const [a] = add(scheduler, 'a', 'b', 'waited');
  a?.cancel();
  const [late] = add(scheduler, 'late');
  await clock.advance(0);
  expect([scheduler.explain('waited').kind, late?.state]).toEqual(['ready', 'waiting']);
  expect(scheduler.explain('late').kind).toBe('outside');
});

test('C8.2 those who wait are bounded too: beyond that accepted and the result reject with SaturatedError', async () => {
  const { scheduler } = full({ maxWaiting: 1 });
  const [, , c, d] = add(scheduler, 'a', 'b', 'c', 'd');
  await expect(d?.accepted).rejects.toThrow(SaturatedError);
  await expect(d?.result).rejects.toThrow(expect.objectContaining({ pending: 2, maxPending: 2, waiting: 1 }));
  expect([c?.state, d?.state]).toEqual(['waiting', 'failed']);
  expect(d?.cancel()).toBe(false);
});

test('C8.1 reject: add returns its handle at once and throws nothing; accepted and the result reject', async () => {
  const { scheduler } = full({ whenFull: 'reject' });
  const [, , c] = add(scheduler, 'a', 'b', 'c');
  await expect(c?.accepted).rejects.toThrow(SaturatedError);
  await expect(c?.result).rejects.toThrow(SaturatedError);
  scheduler.cancel('a');
  const twin = scheduler.add(() => 1, { id: 'b' });
  await expect(twin.accepted).rejects.toThrow(expect.objectContaining({ code: 'DUPLICATE_TASK' }));
  const anonymous = scheduler.add(() => 1, { after: ['nobody'] });
  await expect(anonymous.result).rejects.toThrow(expect.objectContaining({ code: 'UNKNOWN_DEPENDENCY' }));
  expect([twin.id, twin.state, anonymous.state, typeof anonymous.id]).toEqual(['b', 'failed', 'failed', 'string']);
  expect(scheduler.size).toBe(1);
});

test.each([
  ['drop-oldest', 'a'],
  ['drop-lowest', 'b'],
] as const)('C8.1 %s: the result of what is dropped rejects with DroppedError', async (whenFull, dropped) => {
  const { scheduler, clock } = full({ whenFull });
  const handles = new Map(add(scheduler, 'a', 'b').map((handle) => [handle.id, handle]));
  const late = scheduler.add(() => 'late', { id: 'late', priority: 'high' });
  await late.accepted;
  await clock.advance(0);
  await expect(handles.get(dropped)?.result).rejects.toThrow(DroppedError);
  await expect(handles.get(dropped)?.result).rejects.toThrow(expect.objectContaining({ policy: whenFull }));
  expect(scheduler.size).toBe(2);
});

test('C8.2 a refusal that nobody listens to does not end the process', async () => {
  const { scheduler, clock } = full({ whenFull: 'reject' });
  const [, , c] = add(scheduler, 'a', 'b', 'c');
  void c?.accepted;
  void c?.result;
  void scheduler.submit(() => 1);
  // The process would be told a turn later.
  await clock.advance(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(c?.state).toBe('failed');
});

test('C8.1 what waits to be let in can be taken back, explained, waited for, and is refused when the scheduler closes', async () => {
  const { scheduler } = full({});
  const [a, , c, d, e] = add(scheduler, 'a', 'b', 'c', 'd', 'e');
  const after = scheduler.add((task) => task.dependencies, { after: [e as Handle<string>] });
  expect(scheduler.explain('d')).toMatchObject({ kind: 'outside', position: 2, of: 4, pending: 2, maxPending: 2 });
  expect(describeExplanation(scheduler.explain('d'))).toBe(
    'Task "d" is number 2 of 4 that wait to be added: 2 of 2 are pending.',
  );
  c?.cancel('no need');
  scheduler.cancel('d');
  await expect(c?.accepted).rejects.toThrow(CancelledError);
  await expect(d?.result).rejects.toThrow(CancelledError);
  expect(c?.state).toBe('cancelled');
  a?.cancel();
  scheduler.cancel('b');
  await Promise.all([e?.accepted, after.accepted]);
  expect(after.state).toBe('waiting');
  const [late] = add(scheduler, 'late');
  const closed = scheduler.close();
  await expect(late?.accepted).rejects.toThrow(ClosedError);
  await closed;
});

test('C8.1 cancel by a function reaches those that wait to be let in, and looking at them does not name them', async () => {
  const { scheduler } = full({});
  const metadata = { tenant: 'acme' };
  const tenants = ['acme', 'acme', 'acme', 'other'].map((channel) =>
    scheduler.add(() => channel, { channel, metadata: { tenant: channel }, deadline: 2e12 }),
  );
  const seen: TaskView[] = [];
  const isMeant = (task: TaskView): boolean => {
    seen.push(task);
    return task.channel === 'acme';
  };
  expect(scheduler.cancel(isMeant, { reason: 'gone' })).toBe(3);
  expect(seen[2]).toMatchObject({ state: 'waiting', channel: 'acme', priority: 2, deadline: 2e12, metadata });
  await expect(tenants[2]?.result).rejects.toMatchObject({ code: 'CANCELLED', reason: 'gone' });
  await tenants[3]?.accepted;
  expect([scheduler.size, scheduler.waiting, tenants[3]?.id]).toEqual([1, 0, 'task-3']);
});

test('C5.1 C8.1 one that waits to be let in comes in as urgent as it was made meanwhile', async () => {
  const { scheduler } = full({});
  const [a, b, c, d] = add(scheduler, 'a', 'b', 'c', 'd') as [
    Handle<string>,
    Handle<string>,
    Handle<string>,
    Handle<string>,
  ];
  c.setPriority('high');
  scheduler.setPriority('d', 'critical');
  expect(() => {
    d.setPriority('urgent' as never);
  }).toThrow(expect.objectContaining({ code: 'INVALID_TASK' }));
  a.cancel();
  b.cancel();
  await Promise.all([c.accepted, d.accepted]);
  expect(scheduler.pending().map(({ id, priority }) => [id, priority])).toEqual([
    ['d', 0],
    ['c', 1],
  ]);
});

test.each([
  [{ maxPending: 0 }, 'maxPending'],
  [{ maxPending: 5, whenFull: 'later' }, 'whenFull'],
  [{ maxPending: 5, lowWater: -1 }, 'lowWater'],
  [{ maxPending: 5, maxWaiting: -1 }, 'maxWaiting'],
])('C8.1 bad input: %j is refused', (options, field) => {
  expect(() => new Scheduler(options as SchedulerOptions)).toThrow(expect.objectContaining({ field }));
});

test('C8.1 one that waits to be let in is looked at by its id, and what it cannot do yet is refused as that', async () => {
  const { scheduler } = full({});
  const [a, , c] = add(scheduler, 'a', 'b', 'c');
  c?.setPriority('high');
  expect(scheduler.get('c')).toMatchObject({ id: 'c', state: 'waiting', priority: 1 });
  expect([scheduler.handle('c') === c, scheduler.get('nobody')]).toEqual([true, undefined]);
  const refused = expect.objectContaining({ code: 'UNKNOWN_TASK', taskId: 'c', isOutside: true }) as Error;
  const asked = [
    () => {
      scheduler.retry('c');
    },
    () => {
      scheduler.addDependency('c', 'a');
    },
    () => {
      scheduler.addDependency('a', 'c');
    },
    () => {
      scheduler.removeDependency('c', 'a');
    },
  ];
  for (const ask of asked) expect(ask).toThrow(refused);
  expect(() => {
    scheduler.retry('nobody');
  }).toThrow(expect.objectContaining({ code: 'UNKNOWN_TASK', isOutside: false }));
  a?.cancel();
  await c?.accepted;
  expect(scheduler.get('c')).toMatchObject({ state: 'ready', priority: 1 });
});

test('C8.2 when a batch is taken back that there was no room for, whoever stood behind it comes in', async () => {
  const { scheduler, clock } = full({});
  add(scheduler, 'a');
  const [first] = scheduler.addAll([{ run: () => 1 }, { run: () => 2 }]);
  const [behind] = add(scheduler, 'behind');
  await clock.settle();
  expect([scheduler.waiting, behind?.state]).toEqual([3, 'waiting']);
  first.cancel();
  await clock.settle();
  expect([scheduler.waiting, behind?.state]).toEqual([0, 'ready']);
});

test.each([1_000, 4_000])('taking back %i that wait, one by one, costs each the same, wherever it stands', (count) => {
  const { scheduler } = full({ maxPending: Infinity });
  let looks = 0;
  let turnedAway = 0;
  const entrance = new Entrance(
    {
      core: sim().core,
      keeping: { letsIn: false, begun: () => undefined },
      letIn: () => undefined,
      turnAway: () => (turnedAway += 1),
    },
    Infinity,
  );
  const handles = Array.from({ length: count }, () => scheduler.add(() => 1));
  for (const handle of handles) {
    const { spec } = handle.task as Task;
    const application = {
      // Whoever goes through those that wait has to look at this.
      get handle() {
        looks += 1;
        return handle;
      },
      spec,
      after: [],
    };
    entrance.apply([application]);
  }
  looks = 0;
  // From the end, and from everywhere in between.
  const order = [...handles.keys()].sort((a, b) => (a % 7) - (b % 7) || b - a);
  for (const at of order) expect(entrance.cancel(handles[at] as Handle<unknown>, 'enough')).toBe(true);
  expect([entrance.size, turnedAway]).toEqual([0, count]);
  expect(looks).toBeLessThan(10 * count);
});
