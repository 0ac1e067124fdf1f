import { expect, test } from 'vitest';
import { sim, type Sim } from '../../src/testing/index.js';

const EVERY = 10_000;

function aging(maxBoost = Infinity, maxWaitMs = Infinity) {
  return { everyMs: EVERY, maxBoost, maxWaitMs };
}

/** The level a task counts at under aging without a cap. */
function effective(s: Sim, id: string): number {
  const { urgency, ready } = s.task(id);
  return urgency - (Math.floor(s.now.mono / EVERY) - Math.floor(ready / EVERY));
}

test('C9.1 age is counted in whole windows aligned to the clock', () => {
  const s = sim();
  s.advance(9_999);
  s.add('old', { priority: 3 });
  s.add('new', { priority: 2 });
  // Both are of the first window, so only the level counts, until the clock has moved on for a later one.
  expect(s.claim()).toEqual(['new']);
  s.complete('new');
  s.advance(1);
  s.add('next', { priority: 2 });
  expect(s.claim()).toEqual(['old']);
});

test('C9.1 two tasks of one window keep their distance for ever', () => {
  const s = sim();
  s.add('low', { priority: 3 });
  s.advance(9_999);
  s.add('normal', { priority: 2 });
  s.advance(1_000_000);
  expect(s.drain()).toEqual(['normal', 'low']);
});

test('C9.1 aging is on by default, has no cap and goes below level 0', () => {
  const s = sim();
  s.add('idle', { priority: 4 });
  s.advance(50_000);
  expect(effective(s, 'idle')).toBe(-1);
  s.add('critical', { priority: 0 });
  s.add('beyond', { priority: -2 });
  expect(s.drain()).toEqual(['beyond', 'idle', 'critical']);
});

test('C9.1 without aging a level is a level', () => {
  const s = sim({ aging: { everyMs: Infinity, maxBoost: Infinity, maxWaitMs: Infinity } });
  s.add('low', { priority: 3 });
  s.advance(10_000_000);
  s.add('normal');
  expect(s.drain()).toEqual(['normal', 'low']);
  s.add('low-again', { priority: 3 });
  s.add('normal-again');
  s.advance(15_000);
  // Switched on, all time spent ready counts, also that before.
  s.send({ kind: 'setAging', aging: { everyMs: EVERY } });
  s.add('urgent', { priority: 1.5 });
  expect(s.drain()).toEqual(['normal-again', 'urgent', 'low-again']);
  s.add('first', { priority: 3 });
  s.advance(60_000);
  s.send({ kind: 'setAging', aging: false });
  s.add('second', { priority: 2 });
  expect(s.drain()).toEqual(['second', 'first']);
});

test('C9.1 a retry keeps the age gathered before, without the time of its run and of its backoff', () => {
  const s = sim();
  s.add('task', { retry: { attempts: 5, backoff: 'fixed', base: 30_000 } });
  s.advance(25_000);
  s.claim();
  s.advance(8_000);
  s.fail('task#1');
  s.advance(30_000);
  expect(s.state('task')).toBe('ready');
  // 63 s have passed; it was ready for 25 of them.
  expect(s.now.mono - s.task('task').ready).toBe(25_000);
  s.advance(5_000);
  s.claim();
  s.fail('task#2');
  s.advance(30_000);
  expect(s.now.mono - s.task('task').ready).toBe(30_000);
});

test('C9.1 a task that was released or lost goes on aging from where it was', () => {
  const s = sim();
  s.worker('w', { leaseMs: 4_000 });
  s.add('task');
  s.advance(12_000);
  s.claim(1, 'w');
  s.advance(3_000);
  s.send({ kind: 'release', task: 'task', token: { epoch: 1, attempt: 1 } });
  expect(s.now.mono - s.task('task').ready).toBe(12_000);
  s.claim(1, 'w');
  s.advance(4_000);
  expect(s.story('task').slice(-3)).toEqual(['attempt.ended', 'task.retryScheduled', 'task.ready']);
  expect(s.now.mono - s.task('task').ready).toBe(12_000);
});

test('C9.1 time in a paused channel does not count, time blocked on a resource does', () => {
  const s = sim();
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
  s.add('holder', { needs: { gpu: 1 } });
  s.claim();
  s.add('blocked', { needs: { gpu: 1 }, priority: 4 });
  s.add('paused', { channel: 'P', priority: 4 });
  s.advance(10_000);
  s.send({ kind: 'pauseChannel', channel: 'P' });
  s.add('in-the-pause', { channel: 'P', priority: 4 });
  s.advance(40_000);
  s.send({ kind: 'resumeChannel', channel: 'P' });
  expect(s.now.mono - s.task('paused').ready).toBe(10_000);
  expect(s.now.mono - s.task('in-the-pause').ready).toBe(0);
  expect(s.now.mono - s.task('blocked').ready).toBe(50_000);
  s.complete('holder');
  s.add('critical', { priority: 0 });
  expect(s.drain()).toEqual(['blocked', 'critical', 'paused', 'in-the-pause']);
});

test('C9.1 a boost is capped', () => {
  const s = sim({ aging: aging(2) });
  s.add('idle', { priority: 4 });
  s.add('late', { priority: 3.5, delay: 20_000 });
  s.advance(1_000_000);
  s.add('high', { priority: 1.75 });
  s.add('normal', { priority: 2 });
  // idle counts as 2 for ever, late as 1.5.
  expect(s.drain()).toEqual(['late', 'high', 'idle', 'normal']);
});

test('C9.1 past maxWait a task goes before all others, the longest ready first, whatever its level', () => {
  const s = sim({ aging: aging(1, 60_000) });
  s.add('second', { priority: 9, delay: 1_000 });
  s.add('first', { priority: 10 });
  s.add('third', { priority: 0, delay: 2_000 });
  s.advance(59_999);
  s.add('urgent', { priority: 0 });
  expect(s.claim()).toEqual(['third']);
  s.advance(1_002);
  expect(s.drain()).toEqual(['first', 'second', 'urgent']);
});

test('C9.1 maxWait holds under every strategy', () => {
  for (const strategy of ['fifo', 'lifo', 'deadline', 'fair', 'critical-path', 'weighted-random'] as const) {
    const s = sim({ strategy, aging: aging(0, 60_000) });
    s.add('starved', { priority: 1_000_000, channel: 'Z' });
    s.advance(60_001);
    for (let i = 0; i < 20; i += 1) s.add(`young${String(i)}`, { priority: 0, channel: 'A' });
    expect(s.claim(), strategy).toEqual(['starved']);
  }
});

test('C9.1 under fair it is the level that ages, so that channels go on taking turns in it', () => {
  const s = sim({ strategy: 'fair' });
  // A has waited for two windows longer than B; were tasks to age, all of A would come first.
  for (let i = 1; i <= 3; i += 1) s.add(`a${String(i)}`, { channel: 'A', priority: 3 });
  s.advance(20_000);
  for (let i = 1; i <= 3; i += 1) s.add(`b${String(i)}`, { channel: 'B', priority: 3 });
  s.advance(5_000);
  s.add('n1', { channel: 'A', priority: 2 });
  // The level has waited since 0 s, two windows: it counts as 1, starts one task, and is served by then.
  expect(s.claim()).toEqual(['a1']);
  expect(s.claim()).toEqual(['n1']);
  expect(s.drain()).toEqual(['b1', 'a2', 'b2', 'a3', 'b3']);
});

test('C9.1 under fair a level is served at least every (difference of levels + 1) windows', () => {
  const s = sim({ strategy: 'fair' });
  s.add('low', { priority: 4, channel: 'L' });
  let waited = 0;
  for (let i = 0; s.state('low') === 'ready'; i += 1) {
    s.add(`high${String(i)}`, { priority: 1, channel: 'H' });
    const [id] = s.claim();
    if (id !== undefined) s.complete(id);
    s.advance(1_000);
    waited += 1_000;
    expect(waited).toBeLessThanOrEqual((4 - 1 + 1) * EVERY + 1_000);
  }
  expect(waited).toBeGreaterThan(2 * EVERY);
});

test('C9.1 the cap holds for levels under fair as well', () => {
  const s = sim({ strategy: 'fair', aging: aging(1) });
  s.add('low', { priority: 3 });
  s.advance(1_000_000);
  s.add('high', { priority: 1 });
  s.add('normal', { priority: 2 });
  // The low level counts as 2; at a tie the more urgent level goes first.
  expect(s.drain()).toEqual(['high', 'normal', 'low']);
});
