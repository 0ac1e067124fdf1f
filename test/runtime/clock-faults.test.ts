import { expect, test } from 'vitest';
import { InvalidTaskError, Scheduler, StaleLeaseError, type TaskContext } from '../../src/index.js';
import { SIM_START, VirtualClock } from '../../src/testing/index.js';

const nothing = (): void => undefined;

function untilAborted({ signal }: TaskContext): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;

function started(options: { readonly concurrency?: number } = { concurrency: 9 }) {
  const clock = new VirtualClock();
  return { clock, scheduler: new Scheduler({ clock, ...options }) };
}

test('row 12 the wall clock goes an hour back: no ETA and no tick comes twice, leases and timeouts go on', async () => {
  const { clock, scheduler } = started();
  const dueAt: number[] = [];
  const ticks: number[] = [];
  const due = scheduler.add(() => dueAt.push(clock.now().mono), { eta: SIM_START + 100 * SECOND });
  scheduler.repeat(() => ticks.push(clock.now().mono), { every: '10m', from: 'grid' });
  const bounded = scheduler.add(untilAborted, { timeout: '700s' });
  const leased = scheduler.add(nothing, { capabilities: { remote: true } });
  await clock.settle();
  const worker = scheduler.worker({ lease: '650s', capabilities: { remote: true } });
  const claim = await worker.claim();
  const late = bounded.result.catch((error: unknown) => error);
  await clock.advance('601s');
  expect([dueAt, ticks]).toEqual([[100 * SECOND], [0, 600 * SECOND]]);
  clock.jump(-HOUR);
  await clock.advance('48s');
  expect([leased.state, bounded.state]).toEqual(['running', 'running']);
  await clock.advance('50s');
  // 699 s have passed: the lease ended at its 650 s, the timeout is still to come.
  expect([leased.state, bounded.state]).toEqual(['ready', 'running']);
  await expect(claim?.complete()).rejects.toBeInstanceOf(StaleLeaseError);
  await clock.advance('1s');
  expect(await late).toMatchObject({ code: 'TIMEOUT' });
  // The wall passes a second time over the moments at which both came.
  await clock.advance('50m');
  expect([dueAt, ticks, due.state]).toEqual([[100 * SECOND], [0, 600 * SECOND], 'completed']);
  await clock.advance('20m');
  expect(ticks).toEqual([0, 600 * SECOND, 600 * SECOND + HOUR + 600 * SECOND]);
  await scheduler.close();
});

test('row 13 the wall clock goes a day ahead: what is due starts once, catch-up is as stated, no lease or timeout ends', async () => {
  const { clock, scheduler } = started();
  const runs = { due: 0, once: 0, all: 0, none: 0, cron: 0 };
  const lost: string[] = [];
  scheduler.on('lost', ({ taskId }) => lost.push(taskId));
  scheduler.add(() => (runs.due += 1), { eta: SIM_START + HOUR });
  scheduler.repeat(() => (runs.cron += 1), { cron: '30 * * * *' });
  for (const catchUp of ['once', 'all', 'none'] as const) {
    scheduler.repeat(() => (runs[catchUp] += 1), { every: '1h', from: 'grid', catchUp });
  }
  const bounded = scheduler.add(untilAborted, { timeout: '1h' });
  const ended = bounded.result.catch((error: unknown) => error);
  scheduler.add(nothing, { id: 'leased', capabilities: { remote: true } });
  await clock.settle();
  const claim = await scheduler.worker({ lease: '1h', capabilities: { remote: true } }).claim();
  await clock.advance('1s');
  expect(runs).toEqual({ due: 0, once: 1, all: 1, none: 1, cron: 0 });
  clock.jump(DAY);
  // Whatever is asked of the scheduler, it looks at the clock.
  scheduler.resume();
  await clock.advance('50m');
  // The tick of the present hour, a second ago, is not missed but a little late.
  expect(runs).toMatchObject({ due: 1, once: 2, all: 25, cron: 2 });
  expect([lost, bounded.state, scheduler.get('leased')?.state]).toEqual([[], 'running', 'running']);
  await claim?.complete();
  await clock.advance('10m');
  expect(await ended).toMatchObject({ code: 'TIMEOUT' });
  expect(runs.due).toBe(1);
  await scheduler.close();
});

test('row 14 a delay, an ETA and an interval beyond 2^31-1 ms are not early', async () => {
  const { clock, scheduler } = started();
  const far = 2 ** 31 + 5;
  const ran: string[] = [];
  scheduler.add(() => ran.push('delay'), { delay: far });
  scheduler.add(() => ran.push('eta'), { eta: SIM_START + 2 * far });
  scheduler.repeat(() => ran.push('series'), { every: far, from: 'grid', eta: SIM_START + far });
  await clock.advance(far - 1);
  expect(ran).toEqual([]);
  expect(clock.timers).toEqual([{ waitMs: 1, keepsAlive: true }]);
  await clock.advance(1);
  expect(ran.toSorted()).toEqual(['delay', 'series']);
  await clock.advance(far - 1);
  expect(ran).toHaveLength(2);
  await clock.advance(1);
  expect(ran.slice(2).toSorted()).toEqual(['eta', 'series']);
  await scheduler.close();
});

test('row 15 the process stands still for longer than the lease: the old attempt is fenced, and there is one new one', async () => {
  const { clock, scheduler } = started({ concurrency: 0 });
  const attempts: number[] = [];
  scheduler.on('started', ({ attempt }) => attempts.push(attempt));
  const task = scheduler.add((): unknown => undefined, { id: 'task' });
  const worker = scheduler.worker({ lease: '10s', slots: 5 });
  const sleeper = await worker.claim();
  clock.block('10m');
  await clock.settle();
  await clock.advance(0);
  const waiting = await worker.claimBatch(5);
  expect(waiting.map((claim) => claim.task.attempt)).toEqual([2]);
  for (const stale of [sleeper?.complete('old'), sleeper?.fail('old'), sleeper?.extend(), sleeper?.release()]) {
    await expect(stale).rejects.toMatchObject({ code: 'STALE_LEASE', taskId: 'task', attempt: 1 });
  }
  expect(sleeper?.task.signal.aborted).toBe(true);
  await waiting[0]?.complete('new');
  expect(await task.result).toBe('new');
  expect(attempts).toEqual([1, 2]);
  await scheduler.close();
});

test('row 30 a time that is none is refused where it is said, by name, and changes nothing', async () => {
  const { scheduler } = started();
  const refused = (act: () => unknown, field: string, value: unknown): void => {
    expect(act, `${field} ${String(value)}`).toThrow(InvalidTaskError);
    expect(act).toThrow(expect.objectContaining({ code: 'INVALID_TASK', field }));
    expect(act).toThrow(field);
  };
  const times = [new Date(NaN), '2030-01-01T00:00:00', '2030-02-30T00:00:00Z', 'tomorrow', NaN, Infinity];
  for (const value of times) {
    for (const field of ['eta', 'deadline', 'expires']) {
      refused(() => scheduler.add(nothing, { [field]: value }), field, value);
      refused(() => scheduler.addAll([{ run: nothing, [field]: value }]), `tasks[0].${field}`, value);
    }
    refused(() => scheduler.repeat(nothing, { every: '1s', until: value }), 'until', value);
  }
  for (const value of [0, -1, NaN, '0s', '-3s', '5 parsecs', '']) {
    refused(() => scheduler.repeat(nothing, { every: value }), 'every', value);
    refused(() => scheduler.add(nothing, { timeout: value }), 'timeout', value);
  }
  for (const value of [-1, NaN, '-3s']) refused(() => scheduler.add(nothing, { delay: value }), 'delay', value);
  refused(() => scheduler.repeat(nothing, { cron: '61 * * * *' }), 'cron', '61');
  refused(() => scheduler.repeat(nothing, { cron: '* * * * *', timeZone: 'Mars/Base' }), 'timeZone', 'Mars/Base');
  expect([scheduler.size, scheduler.pending()]).toEqual([0, []]);
  await scheduler.close();
});

test('row 13 whatever happens after the wall clock went ahead lets start what is due by then', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  const report = scheduler.add(() => 'sent', { delay: '9h' });
  await clock.advance('1m');
  // The machine has slept over night, and its monotonic clock with it.
  clock.jump(8.5 * 3_600_000);
  await scheduler.add(() => 'something else');
  expect(clock.timers.map(({ waitMs }) => waitMs)).toEqual([29 * 60_000]);
  clock.jump(3_600_000);
  await scheduler.add(() => 'something else');
  await clock.advance(0);
  expect(report.state).toBe('completed');
  // Back again: the timer is late then, not early.
  const later = scheduler.add(() => 'sent', { delay: '1h' });
  await clock.settle();
  clock.jump(-3_600_000);
  await scheduler.add(() => 'something else');
  await clock.advance('1h');
  expect(later.state).toBe('delayed');
  await clock.advance('1h');
  expect(later.state).toBe('completed');
  await scheduler.close();
});
