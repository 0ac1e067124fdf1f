import { expect, test } from 'vitest';
import type { Fact } from '../../src/model/index.js';
import { SIM_START, sim, type Sim } from '../../src/testing/index.js';

/** When it happened is told elsewhere. */
const ANY_TIME = { wall: expect.any(Number) as number, mono: expect.any(Number) as number };

const SECOND = 1_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const at = (ms: number): Date => new Date(SIM_START + ms);

/** The seconds, counted from the beginning, at which attempts started. */
function starts(s: Sim): number[] {
  return s.facts.flatMap((fact) => (fact.kind === 'attempt.started' ? [(fact.wall - SIM_START) / SECOND] : []));
}

/** The seconds for which occurrences were made. */
function ticks(s: Sim): number[] {
  return s.facts.flatMap((fact) =>
    fact.kind === 'task.submitted' && fact.occurrence !== undefined
      ? [(fact.occurrence.scheduledAt - SIM_START) / SECOND]
      : [],
  );
}

/** Lets time pass in seconds; every attempt that starts ends after so many, or at once. */
function live(s: Sim, seconds: number, takes = 0): void {
  for (let i = 0; i < seconds; i += 1) {
    endThoseOver(s, takes);
    s.advance(SECOND);
  }
  endThoseOver(s, takes);
}

function endThoseOver(s: Sim, takes: number): void {
  for (;;) {
    const over = s.running().find((name) => {
      const { attempt } = s.task(name.slice(0, name.lastIndexOf('#')));
      return attempt !== undefined && s.now.mono - attempt.started.mono >= takes * SECOND;
    });
    if (over === undefined) return;
    s.complete(over);
  }
}

function lastFact(s: Sim): Fact | undefined {
  return s.facts.findLast((fact) => fact.kind.startsWith('series.'));
}

test('E1.1 an ETA of 300 s: nothing at 60 s nor at 240 s, claimed at 300 s', () => {
  const s = sim();
  s.add('task', { eta: at(300 * SECOND) });
  for (const ms of [60_000, 180_000, 59_999]) {
    s.advance(ms);
    expect(s.claim()).toEqual([]);
    expect(s.state('task')).toBe('delayed');
  }
  s.advance(1);
  expect(s.now.wall).toBe(SIM_START + 300 * SECOND);
  expect(s.claim()).toEqual(['task']);
});

test('E1.1 equal ETAs go in order of submission, and an ETA in the past means now', () => {
  const s = sim();
  s.add('c', { eta: at(50) });
  s.add('a', { eta: at(20) });
  s.add('b', { eta: at(20) });
  s.add('now', { eta: at(-5_000) });
  expect(s.state('now')).toBe('ready');
  s.advance(50);
  expect(s.drain()).toEqual(['now', 'a', 'b', 'c']);
});

test('E1.1 of an ETA and a delay the later counts', () => {
  const s = sim({ slots: 1 });
  s.add('both', { eta: at(100), delay: 300 });
  s.advance(299);
  expect(s.running()).toEqual([]);
  s.advance(1);
  expect(s.running()).toEqual(['both#1']);
});

test('E2.1 an interval of 60 s after a run that ends at 10 s: next at 70 s, then at 130 s', () => {
  const s = sim({ slots: 1 });
  s.repeat('report', { every: '60s', payload: 'input' });
  s.advance(10 * SECOND);
  s.complete(s.running()[0] ?? '');
  s.advance(59_999);
  expect(s.running()).toEqual([]);
  s.advance(1);
  s.complete(s.running()[0] ?? '');
  s.advance(60 * SECOND);
  expect(starts(s)).toEqual([0, 70, 130]);
});

test('E2.1 every occurrence is a task with an id of its own that names its series', () => {
  const s = sim({ slots: 1 });
  s.add('before');
  s.complete('before#1');
  s.repeat('report', { every: '60s', payload: 'input', priority: 'high', channel: 'R', type: 'mail' });
  live(s, 120);
  const made = [...s.core.state.table.all()].filter((task) => task.extra?.series === 'report');
  expect(new Set(made.map((task) => task.id)).size).toBe(3);
  for (const task of made) {
    expect(task).toMatchObject({ payload: 'input', level: 1, spec: { channel: 'R', type: 'mail' } });
  }
});

test('E2.1 a failed or cancelled occurrence is followed by the next one, after its retries', () => {
  const s = sim({ slots: 1 });
  s.repeat('flaky', { every: '60s', retry: { attempts: 2, backoff: 'fixed', base: '5s' } });
  const [first = ''] = s.running();
  s.fail(first);
  s.advance(5 * SECOND);
  expect(ticks(s)).toEqual([0]);
  s.fail(first.replace('#1', '#2'));
  // It has failed for good at 5 s.
  s.advance(60 * SECOND);
  expect(ticks(s)).toEqual([0, 65]);
  const [second = ''] = s.running();
  s.cancel(second.replace('#1', ''));
  s.advance(60 * SECOND);
  expect(ticks(s)).toEqual([0, 65, 125]);
});

test('E2.2 a series ends with its count, and with its last moment', () => {
  const s = sim({ slots: 9 });
  s.repeat('three', { every: '10s', count: 3 });
  s.repeat('until', { every: '10s', from: 'grid', until: at(25 * SECOND) });
  live(s, 200);
  expect(ticks(s).toSorted((x, y) => x - y)).toEqual([0, 0, 10, 10, 20, 20]);
  const ended = s.facts.flatMap((fact) => (fact.kind === 'series.ended' ? [[fact.series, fact.reason]] : []));
  expect(ended.toSorted()).toEqual([
    ['three', 'finished'],
    ['until', 'finished'],
  ]);
  expect(s.core.nextWakeAt()).toEqual({ wall: Infinity, mono: Infinity });
});

test('E2.2 a cancelled series makes no more occurrences, and what runs of it ends as usual', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: '10s' });
  s.send({ kind: 'cancelSeries', series: 'series' });
  const [first = ''] = s.running();
  s.complete(first);
  s.advance(DAY);
  expect(ticks(s)).toEqual([0]);
  expect(() => s.send({ kind: 'cancelSeries', series: 'series' })).toThrow(
    expect.objectContaining({ code: 'UNKNOWN_TASK' }),
  );
});

test('E2.3 counted from the start: the next one is due an interval after the start, however long the run', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: '10s', from: 'start' });
  live(s, 35, 4);
  expect(starts(s)).toEqual([0, 10, 20, 30]);
});

test('E2.3 on a grid: late starts do not move the ticks', () => {
  const s = sim({ slots: 1 });
  s.add('blocker');
  s.repeat('series', { every: '10s', from: 'grid', overlap: 'queue' });
  s.advance(3 * SECOND);
  s.complete('blocker#1');
  live(s, 30, 1);
  expect(ticks(s)).toEqual([0, 10, 20, 30]);
  expect(starts(s)).toEqual([0, 3, 10, 20, 30]);
});

test.each([
  ['skip', 'start', [0, 30, 60]],
  ['skip', 'grid', [0, 30, 60]],
  ['queue', 'start', [0, 25, 50]],
  ['queue', 'grid', [0, 25, 50]],
  ['allow', 'start', [0, 10, 20, 30, 40, 50, 60]],
  ['allow', 'grid', [0, 10, 20, 30, 40, 50, 60]],
] as const)(
  'E2.3 overlap %s, counted from %s, when a run takes 25 s of an interval of 10 s',
  (overlap, from, expected) => {
    const s = sim({ slots: 9 });
    s.repeat('series', { every: '10s', from, overlap });
    live(s, 62, 25);
    expect(starts(s)).toEqual(expected);
  },
);

test('E2.3 a skipped tick is counted and costs no occurrence of the count', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: '10s', from: 'grid', count: 2 });
  live(s, 100, 15);
  expect(ticks(s)).toEqual([0, 20]);
  const scheduled = s.facts.findLast((fact) => fact.kind === 'series.scheduled');
  expect(scheduled).toMatchObject({ skipped: 1 });
  expect(lastFact(s)).toEqual({ kind: 'series.ended', series: 'series', reason: 'finished', ...ANY_TIME });
});

test('E3 an ETA of 24 h with an interval of 1 h: 24 h, 25 h, 26 h, and later occurrences have no ETA', () => {
  const s = sim({ slots: 1 });
  s.repeat('daily', { every: '1h', eta: at(DAY) });
  for (let hour = 0; hour < 27; hour += 1) {
    for (const name of s.running()) s.complete(name);
    s.advance(HOUR);
  }
  expect(starts(s).map((second) => second / 3_600)).toEqual([24, 25, 26, 27]);
  const etas = s.facts.flatMap((fact) => (fact.kind === 'task.submitted' ? [fact.eta] : []));
  expect(etas.slice(1)).toEqual([null, null, null]);
});

/** The hours, counted from `wall`, at which a daily cron in Berlin ran within 60 hours. */
function dailyInBerlin(wall: number, cron: string): number[] {
  const s = sim({ slots: 1, wall });
  s.repeat('nightly', { cron, timeZone: 'Europe/Berlin' });
  for (let i = 0; i < 120; i += 1) {
    s.advance(HOUR / 2);
    for (const name of s.running()) s.complete(name);
  }
  return s.facts.flatMap((fact) => (fact.kind === 'attempt.started' ? [(fact.wall - wall) / HOUR] : []));
}

test('E4 a daily time in Berlin occurs once on each day, also when the clocks change', () => {
  const spring = Date.parse('2030-03-30T00:00:00Z');
  const autumn = Date.parse('2030-10-26T00:00:00Z');
  expect(dailyInBerlin(spring, '0 3 * * *')).toEqual([2, 25, 49]);
  expect(dailyInBerlin(autumn, '0 3 * * *')).toEqual([1, 26, 50]);
  // In spring there is no half past two, in autumn there are two of them: still one run each day.
  const inSpring = dailyInBerlin(spring, '30 2 * * *');
  expect([inSpring[0], inSpring[2], inSpring.length]).toEqual([1.5, 48.5, 3]);
  const inAutumn = dailyInBerlin(autumn, '30 2 * * *');
  expect([inAutumn[0], inAutumn[2], inAutumn.length]).toEqual([0.5, 49.5, 3]);
});

test('E4 a cron every half hour leaves out and doubles nothing over the change', () => {
  const wall = Date.parse('2030-10-26T22:00:00Z');
  const s = sim({ slots: 1, wall });
  s.repeat('often', { cron: '*/30 * * * *', timeZone: 'Europe/Berlin' });
  for (let i = 0; i < 20; i += 1) {
    s.advance(HOUR / 2);
    for (const name of s.running()) s.complete(name);
  }
  const made = s.facts.flatMap((fact) => (fact.kind === 'attempt.started' ? [(fact.wall - wall) / (HOUR / 2)] : []));
  expect(made).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
});

test('E5.1 one next moment, the nearest of everything that is due later, and none when nothing is', () => {
  const s = sim();
  expect(s.core.nextWakeAt()).toEqual({ wall: Infinity, mono: Infinity });
  s.add('late', { delay: 900 });
  s.add('soon', { delay: 500 });
  expect(s.core.nextWakeAt()).toEqual({ wall: SIM_START + 500, mono: Infinity });
  s.cancel('soon');
  expect(s.core.nextWakeAt().wall).toBe(SIM_START + 900);
  s.add('runs', { timeout: 300 });
  s.worker('w', { leaseMs: 700 });
  s.claim(1, 'w');
  expect(s.core.nextWakeAt().mono).toBe(300);
  s.complete('runs');
  expect(s.core.nextWakeAt()).toEqual({ wall: SIM_START + 900, mono: Infinity });
  s.cancel('late');
  expect(s.core.nextWakeAt()).toEqual({ wall: Infinity, mono: Infinity });
});

test('E5.1 row 14 a delay above 2^31-1 ms is not early', () => {
  const s = sim({ slots: 1 });
  const delay = 2 ** 31 + 5;
  s.add('far', { delay });
  s.repeat('monthly', { every: delay, from: 'grid', count: 2 });
  s.complete(s.running()[0] ?? '');
  s.advance(2 ** 31 - 1);
  s.advance(5);
  expect(s.running()).toEqual([]);
  expect(s.core.nextWakeAt().wall).toBe(SIM_START + delay);
  s.advance(1);
  expect(s.running()).toEqual(['far#1']);
});

test('E6 due tasks in order of their due time under fifo: A, B, D at 100 s, C at 120 s, E at 200 s', () => {
  const s = sim({ strategy: 'fifo' });
  s.add('E', { eta: at(200 * SECOND) });
  s.add('C', { eta: at(120 * SECOND) });
  s.add('B', { eta: at(80 * SECOND) });
  s.add('A', { eta: at(50 * SECOND) });
  s.advance(100 * SECOND);
  s.add('D');
  expect(s.drain()).toEqual(['A', 'B', 'D']);
  s.advance(20 * SECOND);
  expect(s.drain()).toEqual(['C']);
  s.advance(80 * SECOND);
  expect(s.drain()).toEqual(['E']);
});

test('E6 among due tasks the strategy decides', () => {
  const orders = { priority: ['urgent', 'early', 'late'], lifo: ['late', 'urgent', 'early'] } as const;
  for (const [strategy, order] of Object.entries(orders)) {
    const s = sim({ strategy: strategy as keyof typeof orders });
    s.add('late', { eta: at(3_000) });
    s.add('early', { eta: at(1_000) });
    s.add('urgent', { eta: at(2_000), priority: 'high' });
    s.advance(3_000);
    expect(s.drain(), strategy).toEqual(order);
  }
});

test('E7.1 what is cancelled before its start never runs', () => {
  const s = sim({ slots: 1 });
  s.add('later', { delay: 100 });
  s.repeat('series', { every: '1h', eta: at(200) });
  s.cancel('later');
  s.send({ kind: 'cancelSeries', series: 'series' });
  s.advance(DAY);
  expect(starts(s)).toEqual([]);
});

test('E7.2 a series counts its occurrences and the ticks it has passed over', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: '10s', from: 'grid' });
  live(s, 65, 15);
  expect(s.core.state.series.get('series')).toMatchObject({ made: 4, skipped: 3 });
});

test('E7.4 a paused series rests, and resumed goes on at its time', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: '60s' });
  s.send({ kind: 'pauseSeries', series: 'series' });
  s.advance(10 * SECOND);
  s.complete(s.running()[0] ?? '');
  s.advance(20 * SECOND);
  s.send({ kind: 'resumeSeries', series: 'series' });
  // The run ended at 10 s: it is due at 70 s, not at once because it was resumed.
  live(s, 60);
  expect(starts(s)).toEqual([0, 70]);
  s.send({ kind: 'pauseSeries', series: 'series' });
  live(s, 1_000);
  expect(starts(s)).toEqual([0, 70]);
  expect(s.core.nextWakeAt().wall).toBe(Infinity);
  s.send({ kind: 'resumeSeries', series: 'series' });
  expect(starts(s)).toEqual([0, 70, 1_090]);
});

test('E7.4 ticks that wait for the run before also wait for the series to be resumed', () => {
  const s = sim({ slots: 9 });
  s.repeat('series', { every: '10s', from: 'grid', overlap: 'queue', count: 2 });
  s.advance(12 * SECOND);
  s.send({ kind: 'pauseSeries', series: 'series' });
  s.complete(s.running()[0] ?? '');
  s.advance(30 * SECOND);
  expect(s.running()).toEqual([]);
  s.send({ kind: 'resumeSeries', series: 'series' });
  expect(starts(s)).toEqual([0, 42]);
  s.complete(s.running()[0] ?? '');
  expect(lastFact(s)).toEqual({ kind: 'series.ended', series: 'series', reason: 'finished', ...ANY_TIME });
});

test('E7.4 a series whose last run ends while it is paused ends when it is resumed', () => {
  const s = sim({ slots: 1 });
  s.repeat('once', { every: '10s', count: 1 });
  s.send({ kind: 'pauseSeries', series: 'once' });
  s.complete(s.running()[0] ?? '');
  expect(s.core.state.series.has('once')).toBe(true);
  s.send({ kind: 'resumeSeries', series: 'once' });
  expect(s.core.state.series.has('once')).toBe(false);
});

/** A series on a grid of 10 s that nobody could serve from 12 s to 47 s: 20, 30 and 40 s were missed. */
function afterDowntime(catchUp: 'once' | 'all' | 'none', options: { cron?: true } = {}): Sim {
  const s = sim({ slots: 1 });
  const timing = options.cron === true ? { cron: '*/10 * * * * *' } : ({ every: '10s', from: 'grid' } as const);
  s.repeat('series', { ...timing, catchUp });
  live(s, 12);
  s.jump(35 * SECOND);
  return s;
}

test.each([
  ['once', [40, 50, 60]],
  ['all', [20, 30, 40, 50, 60]],
  ['none', [50, 60]],
] as const)('E8 after a downtime, catch-up %s', (catchUp, expected) => {
  for (const cron of [false, true]) {
    const s = afterDowntime(catchUp, cron ? { cron } : {});
    const before = cron ? 1 : 2;
    // One after another, never two at once, although three are due.
    expect(s.running().length).toBe(catchUp === 'none' ? 0 : 1);
    live(s, 15);
    expect(ticks(s).slice(before)).toEqual(expected);
  }
});

test('E8 no more than the cap is made up for', () => {
  const s = sim({ slots: 1, maxCatchUp: 5 });
  s.repeat('series', { every: '10s', from: 'grid', catchUp: 'all' });
  live(s, 2);
  s.jump(1_000 * SECOND);
  live(s, 9);
  expect(ticks(s)).toEqual([0, 10, 20, 30, 40, 50, 1_010]);
});

test('E8 an interval counted from the end makes up for one run at the most', () => {
  for (const [catchUp, expected] of [
    ['once', [0, 500, 510]],
    ['all', [0, 500, 510]],
    ['none', [0, 510]],
  ] as const) {
    const s = sim({ slots: 1 });
    s.repeat('series', { every: '10s', catchUp });
    live(s, 5);
    s.jump(495 * SECOND);
    live(s, 12);
    expect(starts(s), catchUp).toEqual(expected);
  }
});

test('E8 a tick that comes a little late is no missed one', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: '10s', from: 'grid', catchUp: 'none' });
  live(s, 9);
  s.jump(3 * SECOND);
  expect(ticks(s)).toEqual([0, 10]);
});

test('row 12 the wall clock goes an hour back: no tick comes twice, no ETA fires twice, leases and timeouts go on', () => {
  const s = sim({ slots: 9 });
  s.repeat('series', { every: '600s', from: 'grid' });
  s.add('due', { eta: at(100 * SECOND) });
  s.add('bounded', { timeout: '700s' });
  s.worker('remote', { leaseMs: 650 * SECOND, capabilities: new Map([['remote', true]]) });
  s.add('leased', { capabilities: { remote: true } });
  expect(s.claim(1, 'remote')).toEqual(['leased']);
  live(s, 601, 10_000);
  for (const name of s.running()) if (!/bounded|leased/.test(name)) s.complete(name);
  const made = ticks(s);
  s.jump(-HOUR);
  s.advance(98 * SECOND);
  expect(ticks(s)).toEqual(made);
  expect(s.story('due').filter((kind) => kind === 'attempt.started')).toHaveLength(1);
  // 699 s on the monotonic clock: the lease has ended at its 650 s, the timeout has not.
  expect(s.story('leased')).toContain('task.retryScheduled');
  expect(s.state('bounded')).toBe('running');
  s.advance(SECOND);
  expect(s.state('bounded')).toBe('failed');
});

test('row 13 the wall clock goes a day ahead: due ETAs fire once, and no lease ends by it', () => {
  const s = sim({ slots: 9 });
  s.add('due', { eta: at(HOUR) });
  s.add('bounded', { timeout: '10s' });
  s.repeat('series', { every: '1h', from: 'grid' });
  s.complete(s.running().find((name) => !name.startsWith('bounded')) ?? '');
  s.worker('remote', { leaseMs: 10 * SECOND });
  s.jump(DAY);
  expect(s.story('due').filter((kind) => kind === 'task.ready')).toHaveLength(1);
  expect(ticks(s)).toEqual([0, 86_400]);
  expect(s.state('bounded')).toBe('running');
  s.advance(9_999);
  expect(s.state('bounded')).toBe('running');
  s.advance(1);
  expect(s.state('bounded')).toBe('failed');
});
