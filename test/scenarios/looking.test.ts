import { expect, test } from 'vitest';
import type { Request } from '../../src/core/index.js';
import { InvalidConfigError, Scheduler, type SchedulerOptions, type Trace, type TraceEvent } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

const nothing = (): unknown => undefined;
const fail = (): never => {
  throw new Error('no');
};

function virtual(options: SchedulerOptions = {}) {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, ...options });
  const sleep = (ms: number) => (): Promise<void> => new Promise((resolve) => clock.setTimer(resolve, ms));
  return { clock, scheduler, sleep };
}

test('B1.3 pending tasks can be looked at in their order, and none is taken', async () => {
  const { clock, scheduler } = virtual({ concurrency: 0 });
  const deadline = clock.now().wall + 90_000;
  scheduler.add(nothing, { id: 'late', delay: '1m' });
  scheduler.add(nothing, { id: 'low', priority: 'low' });
  scheduler.add(nothing, { id: 'after', after: ['low'], priority: 'high', deadline });
  scheduler.add(nothing, { id: 'critical', priority: 'critical', channel: 'acme' });
  const ids = (): string[] => scheduler.pending().map(({ id }) => id);
  expect(ids()).toEqual(['critical', 'low', 'late', 'after']);
  expect(scheduler.pending()[0]).toEqual({
    ...{ id: 'critical', type: '', state: 'ready', channel: 'acme', priority: 0, attempts: 0, deadline: undefined },
  });
  expect(scheduler.pending()[1]).toMatchObject({ priority: 1, deadline });
  expect(scheduler.size).toBe(4);
  await clock.advance('1m');
  expect(ids()).toEqual(['critical', 'low', 'late', 'after']);
  expect(scheduler.pending().map(({ state }) => state)).toEqual(['ready', 'ready', 'ready', 'waiting']);
  await scheduler.worker().claim();
  expect(ids()).toEqual(['low', 'late', 'after']);
});

test('a task can be looked at by its id, until it is forgotten', async () => {
  const { scheduler } = virtual({ retain: { count: 1 } });
  await scheduler.add(nothing, { id: 'a', priority: 'high' });
  expect(scheduler.get('a')).toMatchObject({ id: 'a', state: 'completed', priority: 1, attempts: 1 });
  await scheduler.add(nothing, { id: 'b' });
  expect(scheduler.get('a')).toBeUndefined();
  expect(scheduler.get('never')).toBeUndefined();
});

test.each([undefined, null, 5, {}, new Map(), Symbol('a')])('bad input: %s is no id to look at', (id) => {
  const { scheduler } = virtual();
  for (const look of ['get', 'handle', 'explain'] as const) {
    expect(() => scheduler[look](id as never), look).toThrow(
      expect.objectContaining({ code: 'INVALID_TASK', field: 'id', value: id }),
    );
  }
});

test('statistics count tasks by state, channel and type, and what has come of them', async () => {
  const { clock, scheduler, sleep } = virtual({ concurrency: 2 });
  scheduler.add(sleep(1_000), { channel: 'x' });
  scheduler.add(sleep(3_000), { channel: 'x' });
  scheduler.add(fail, { channel: 'x', retry: { attempts: 2, base: '1s', jitter: false } });
  scheduler.add(nothing, { channel: 'y', id: 'y1' });
  scheduler.add(nothing, { channel: 'y', after: ['y1'] });
  scheduler.add(nothing, { channel: 'y', delay: '1h', id: 'hour' });
  await clock.settle();
  expect(scheduler.stats()).toMatchObject({
    tasks: { waiting: 1, delayed: 1, ready: 2, running: 2 },
    ended: { completed: 0, failed: 0, cancelled: 0, skipped: 0 },
    ...{ claims: 2, retries: 0, durations: { count: 0, meanMs: 0 } },
    channels: [
      { channel: 'x', claimed: 2, pending: 1 },
      { channel: 'y', claimed: 0, pending: 3 },
    ],
    types: [{ type: '', pending: 4, begun: 2, meanMs: undefined }],
  });
  scheduler.cancel('hour');
  await clock.advance('1m');
  const stats = scheduler.stats();
  expect(stats).toMatchObject({
    tasks: { waiting: 0, delayed: 0, ready: 0, running: 0 },
    ended: { completed: 4, failed: 1, cancelled: 1, skipped: 0 },
    ...{ claims: 6, retries: 1, durations: { count: 4, meanMs: 1_000 }, types: [] },
    channels: [
      { channel: 'x', claimed: 4, pending: 0 },
      { channel: 'y', claimed: 2, pending: 0 },
    ],
  });
  expect(stats.waits.count).toBe(6);
});

test('D10.2 the order in force is described by the strategy, also of one worker', () => {
  const { scheduler } = virtual({ strategy: 'fair' });
  scheduler.worker({ id: 'w', strategy: 'lifo' });
  expect(scheduler.describeOrder()).toBe('priority → channel → FIFO');
  expect(scheduler.describeOrder('w')).not.toBe(scheduler.describeOrder());
  expect(() => scheduler.describeOrder('nobody')).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', field: 'workerId', value: 'nobody' }),
  );
});

test('C13.2 a scheduler draws its own graph', () => {
  const { scheduler } = virtual({ concurrency: 0 });
  scheduler.add(nothing, { id: 'a' });
  scheduler.add(nothing, { id: 'b', after: ['a'] });
  expect(scheduler.toDot()).toContain('n1 -> n2;');
  expect(scheduler.toMermaid()).toContain('n1 --> n2');
});

const spans = ({ traceEvents }: Trace): readonly TraceEvent[] => traceEvents.filter(({ cat }) => cat === 'attempt');

test('C13.3 the timeline has a span for each attempt, in lanes by worker that do not overlap', async () => {
  const { clock, scheduler, sleep } = virtual({ concurrency: 2, timeline: true });
  const a = scheduler.add(sleep(30), { id: 'a', channel: 'x' });
  scheduler.add(sleep(10), { id: 'b' });
  scheduler.add(fail, { id: 'c', retry: { attempts: 2, base: 15, jitter: false } });
  scheduler.add(sleep(5), { id: 'd', after: [a] });
  scheduler.add(nothing, { id: 'pulled', capabilities: { gpu: true } });
  await clock.advance(20);
  await scheduler.worker({ id: 'w', capabilities: { gpu: true } }).claim();
  await clock.advance(10);
  const trace = scheduler.timeline();
  expect(
    spans(trace).map(({ name, ts, dur, pid, tid, args }) => [
      name,
      args?.['attempt'],
      args?.['outcome'],
      ts,
      dur,
      pid,
      tid,
    ]),
  ).toEqual([
    ['a', 1, 'succeeded', 0, 30_000, 1, 1],
    ['b', 1, 'succeeded', 0, 10_000, 1, 2],
    ['c', 1, 'failed', 10_000, 0, 1, 2],
    ['pulled', 1, 'running', 20_000, 10_000, 2, 1],
    ['c', 2, 'failed', 25_000, 0, 1, 2],
    ['d', 1, 'running', 30_000, 0, 1, 1],
  ]);
  expect(spans(trace)[0]?.args).toEqual({
    ...{ task: 'a', attempt: 1, channel: 'x', level: 2, worker: 'local', outcome: 'succeeded' },
  });
  expect(
    trace.traceEvents.filter(({ ph }) => ph === 'M').map(({ name, pid, tid, args }) => [name, pid, tid, args]),
  ).toEqual([
    ['process_name', 1, 0, { name: 'local' }],
    ['process_name', 2, 0, { name: 'w' }],
    ['thread_name', 1, 1, { name: 'slot 1' }],
    ['thread_name', 1, 2, { name: 'slot 2' }],
    ['thread_name', 2, 1, { name: 'slot 1' }],
  ]);
  const arrow = { name: 'dependency', cat: 'dependency', id: 1, pid: 1, tid: 1, ts: 30_000 };
  expect(trace.traceEvents.filter(({ cat }) => cat === 'dependency')).toEqual([
    { ...arrow, ph: 's' },
    { ...arrow, ph: 'f', bp: 'e' },
  ]);
});

test('C13.3 what an attempt waits for shows inside its span, also when the wait does not end well', async () => {
  const { clock, scheduler, sleep } = virtual({ concurrency: 1, timeline: true });
  const child = scheduler.add(sleep(10), { id: 'child', priority: 'low' });
  scheduler.add((task) => task.waitFor(child), { id: 'parent' });
  const never = scheduler.add(nothing, { id: 'never', delay: '1h' });
  scheduler.add((task) => task.waitFor(never), { id: 'impatient' });
  await clock.advance(20);
  scheduler.cancel('impatient');
  await clock.advance(20);
  const waits = scheduler.timeline().traceEvents.filter(({ cat }) => cat === 'wait');
  expect(waits.map(({ name, ts, dur }) => [name, ts, dur])).toEqual([
    ['waits for child', 0, 10_000],
    ['waits for never', 10_000, 10_000],
  ]);
});

test('C13.3 an edge that was added later is an arrow too, and a dependency of long ago is none', async () => {
  const { clock, scheduler } = virtual({ concurrency: 1, timeline: { limit: 2 } });
  const { engine } = scheduler as unknown as { engine: { tell(request: Request): void } };
  scheduler.add(nothing, { id: 'a' });
  scheduler.add(nothing, { id: 'b' });
  engine.tell({ kind: 'addDependency', task: 'b', dependency: 'a', onFailure: 'fail' });
  await clock.settle();
  expect(scheduler.timeline().traceEvents.filter(({ ph }) => ph === 's')).toHaveLength(1);
  scheduler.add(nothing, { id: 'c' });
  scheduler.add(nothing, { id: 'd' });
  scheduler.add(nothing, { id: 'e', after: ['a'] });
  await clock.settle();
  expect(spans(scheduler.timeline()).map(({ name }) => name)).toEqual(['d', 'e']);
  expect(scheduler.timeline().traceEvents.filter(({ ph }) => ph === 's')).toEqual([]);
});

test('C13.3 nothing is recorded unless asked for, and a wrong wish is refused', () => {
  expect(() => new Scheduler().timeline()).toThrow(InvalidConfigError);
  expect(() => new Scheduler({ timeline: false }).timeline()).toThrow(/when the scheduler is made/);
  expect(() => new Scheduler({ timeline: { limit: 0 } })).toThrow(/timeline/);
  expect(() => new Scheduler({ timeline: null as never })).toThrow(/timeline/);
});
