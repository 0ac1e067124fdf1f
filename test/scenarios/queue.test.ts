import { describe, expect, test } from 'vitest';
import { STRATEGY_NAMES } from '../../src/ready/index.js';
import { DuplicateTaskError, IllegalTransitionError, InvalidTaskError, type Priority } from '../../src/model/index.js';
import { SIM_START, sim, type Sim } from '../../src/testing/index.js';

const ids = (s: Sim): string[] => s.core.pending().map((task) => task.id);
const at = (seconds: number): number => SIM_START + seconds * 1_000;

describe('B1 order, size and looking', () => {
  test('B1.1 tasks leave by level, then deadline, then sequence', () => {
    const s = sim();
    s.add('normal', {});
    s.add('normal, due late', { deadline: at(90) });
    s.add('normal, due soon', { deadline: at(20) });
    s.add('high', { priority: 'high' });
    s.add('normal, second', {});
    s.add('high, due', { priority: 'high', deadline: at(500) });
    s.add('between', { priority: 1.5 });
    s.add('critical', { priority: 'critical' });
    s.add('below zero', { priority: -3 });
    s.add('also critical', { priority: -0 });
    expect(s.drain()).toEqual([
      'below zero',
      'critical',
      'also critical',
      'high, due',
      'high',
      'between',
      'normal, due soon',
      'normal, due late',
      'normal',
      'normal, second',
    ]);
  });

  test.each([NaN, Infinity, -Infinity, '5', 'urgent', null, {}])('B1.1 level %j is refused by name', (priority) => {
    const s = sim();
    const refused = (): unknown => s.add('a', { priority: priority as Priority });
    expect(refused).toThrow(InvalidTaskError);
    expect(refused).toThrow(/priority/);
    expect(ids(s)).toEqual([]);
  });

  test('B1.1 a batch is in at once, and in the order of the batch', () => {
    const s = sim();
    s.addAll({ low: { priority: 'low' }, a: {}, b: {}, high: { priority: 'high' } });
    expect(s.core.state.pending).toBe(4);
    expect(s.drain()).toEqual(['high', 'a', 'b', 'low']);
  });

  test('B1.1 removed by id, a task is not claimed; status and size follow', () => {
    const s = sim();
    for (const id of ['a', 'b', 'c']) s.add(id);
    expect(() => s.add('b')).toThrow(DuplicateTaskError);
    s.cancel('b');
    expect(s.state('b')).toBe('cancelled');
    expect(s.core.state.pending).toBe(2);
    expect(s.core.state.index.size).toBe(2);
    expect(s.drain()).toEqual(['a', 'c']);
    expect(s.core.state.pending).toBe(0);
    expect(s.core.state.index.size).toBe(0);
  });

  test('B1.3 all pending tasks are listed in order: ready, of paused channels, delayed, waiting', () => {
    const s = sim();
    s.add('runs', { priority: 'critical' });
    s.claim();
    s.add('waits', { after: ['runs'] });
    s.add('in an hour', { delay: '1h' });
    s.add('in a minute', { delay: '1m' });
    s.add('paused', { channel: 'p', priority: 'critical' });
    s.send({ kind: 'pauseChannel', channel: 'p' });
    s.add('normal');
    s.add('high', { priority: 'high' });
    s.add('backs off', { priority: 0, retry: { attempts: 2, backoff: 'fixed', base: '30m' } });
    s.claim();
    s.fail('backs off#1');
    s.add('done', { priority: 'critical' });
    s.claim();
    s.complete('done');
    expect(ids(s)).toEqual(['high', 'normal', 'paused', 'in a minute', 'backs off', 'in an hour', 'waits']);
  });

  /** A queue with levels, deadlines, channels of different weight, tasks of different age, and past turns. */
  function busy(strategy: (typeof STRATEGY_NAMES)[number], maxWaitMs: number): Sim {
    const aging = { everyMs: 10_000, maxBoost: Infinity, maxWaitMs };
    const s = sim({ strategy, aging, seed: 3 });
    s.send({ kind: 'setWeight', channel: 'c1', weight: 2 });
    for (let i = 0; i < 60; i += 1) {
      const deadline = i % 4 === 0 ? { deadline: at(1_000 - i * 3) } : {};
      s.add(`t${String(i)}`, { priority: (i * 7) % 4, channel: `c${String(i % 3)}`, estimate: i % 5, ...deadline });
      if (i % 6 === 5) s.claim();
      if (i % 10 === 9) s.advance(7_000);
    }
    return s;
  }

  test.each(STRATEGY_NAMES)('B1.3 looking takes nothing and changes no later decision under %s', (strategy) => {
    const looked = busy(strategy, Infinity);
    const other = busy(strategy, Infinity);
    const listed = ids(looked);
    expect(ids(looked)).toEqual(listed);
    expect(listed).toHaveLength(50);
    const order = other.claim(99);
    expect(looked.claim(99)).toEqual(order);
    expect(looked.facts).toEqual(other.facts);
  });

  const foretold = STRATEGY_NAMES.filter((name) => name !== 'weighted-random');
  test.each(foretold)('B1.3 the list is the order in which %s hands out the ready tasks', (strategy) => {
    for (const maxWaitMs of [Infinity, 25_000]) {
      const s = busy(strategy, maxWaitMs);
      const listed = ids(s);
      expect(s.claim(99)).toEqual(listed);
    }
  });

  test('B1.3 under fair, who goes on after a wait or has made way takes no second turn, in the list as at the claim', () => {
    for (const how of ['waits', 'makes way']) {
      const s = sim({ strategy: 'fair', preemption: { graceMs: 1_000, minRunMs: 0, maxPerTask: 3 } });
      s.worker('w', { slots: 2 });
      s.add('a0', { channel: 'a', preemptible: true });
      s.add('b0', { channel: 'b' });
      s.claim(2, 'w');
      s.add('urgent', { channel: 'c', priority: 'critical' });
      if (how === 'waits') s.waitFor('a0', 'urgent');
      else {
        s.send({ kind: 'preempt' });
        s.send({ kind: 'release', task: 'a0', token: { epoch: 1, attempt: 1 } });
      }
      expect(s.claim(1, 'w')).toEqual(['urgent']);
      s.complete('urgent');
      s.complete('b0');
      for (const id of ['a1', 'b1', 'a2', 'b2']) s.add(id, { channel: id.slice(0, 1) });
      const listed = ids(s);
      expect(listed).toEqual(['a0', 'a1', 'b1', 'a2', 'b2']);
      s.worker('w', { slots: 9 });
      expect(s.claim(9, 'w')).toEqual(listed);
    }
  });
});

describe('B3 the life of a task', () => {
  test('B3.1 pending, scheduled, running, completed: waiting, delayed, ready, running and an end', () => {
    const s = sim();
    s.add('first');
    s.add('then', { after: ['first'], eta: at(10) });
    expect([s.state('first'), s.state('then')]).toEqual(['ready', 'waiting']);
    s.claim();
    expect(s.state('first')).toBe('running');
    s.complete('first');
    expect([s.state('first'), s.state('then')]).toEqual(['completed', 'delayed']);
    s.advance(10_000);
    expect(s.state('then')).toBe('ready');
    s.claim();
    s.complete('then');
    expect(s.state('then')).toBe('completed');
  });

  test('B3.1 the other ends: failed, cancelled, skipped', () => {
    const s = sim();
    s.add('fails', { retry: 1 });
    s.add('skipped', { after: ['fails'], onDependencyFailure: 'skip' });
    s.add('cancelled');
    s.cancel('cancelled');
    s.claim();
    s.fail('fails');
    expect(['fails', 'skipped', 'cancelled'].map((id) => s.state(id))).toEqual(['failed', 'skipped', 'cancelled']);
    expect(s.story('cancelled')).not.toContain('task.failed');
  });

  test('B3.1 a cancelled attempt that ends late does not bring its task back', () => {
    const s = sim();
    s.add('a');
    s.claim();
    s.cancel('a');
    expect(() => {
      s.complete('a#1');
    }).toThrow(/a/);
    expect(s.state('a')).toBe('cancelled');
    expect(s.core.state.running).toBe(0);
  });

  test('B3.2 what the table does not list is refused, and nothing changes', () => {
    const s = sim();
    s.add('done');
    s.claim();
    s.complete('done');
    s.add('gone');
    s.cancel('gone');
    s.add('runs');
    s.claim();
    s.add('waits', { after: ['runs'] });
    const before = s.facts.length;
    for (const illegal of [
      () => s.send({ kind: 'cancel', task: 'done' }),
      () => s.send({ kind: 'cancel', task: 'gone' }),
      () => s.send({ kind: 'retry', task: 'done' }),
      () => s.send({ kind: 'retry', task: 'gone' }),
      () => s.send({ kind: 'retry', task: 'runs' }),
      () => s.send({ kind: 'retry', task: 'waits' }),
      () => s.send({ kind: 'setPriority', task: 'done', level: 1 }),
      () => s.send({ kind: 'addDependency', task: 'runs', dependency: 'waits', onFailure: 'fail' }),
      () => s.send({ kind: 'addDependency', task: 'done', dependency: 'waits', onFailure: 'fail' }),
    ]) {
      expect(illegal).toThrow(IllegalTransitionError);
    }
    expect(s.facts.length).toBe(before);
    expect(['done', 'gone', 'runs', 'waits'].map((id) => s.state(id))).toEqual([
      'completed',
      'cancelled',
      'running',
      'waiting',
    ]);
  });

  test('B3.3 a failed task is queued again after its backoff, with level, channel, place in line and age', () => {
    const s = sim({ aging: { everyMs: 1_000, maxBoost: Infinity, maxWaitMs: Infinity } });
    s.add('old', { priority: 3, channel: 'mail', retry: { attempts: 3, backoff: 'fixed', base: 5_000 } });
    s.advance(2_000);
    s.add('rival', { priority: 1, channel: 'mail' });
    // Two windows make up for two levels, and the older sequence settles the tie.
    expect(s.claim()).toEqual(['old']);
    s.fail('old');
    expect(s.state('old')).toBe('delayed');
    s.cancel('rival');
    s.advance(4_999);
    expect(s.claim()).toEqual([]);
    s.advance(1);
    expect(s.state('old')).toBe('ready');
    expect([s.task('old').level, s.task('old').spec.channel]).toEqual([3, 'mail']);
    // The age from before its first attempt is kept, the backoff did not add to it.
    s.add('as old as it looks', { priority: 1 });
    s.add('more urgent', { priority: 0 });
    expect(s.claim(2)).toEqual(['more urgent', 'old']);
    s.fail('old');
    s.advance(5_000);
    s.claim(9);
    s.fail('old');
    expect(s.state('old')).toBe('failed');
    expect(s.task('old').attempts).toBe(3);
  });

  test('B3.3 an error that the policy rejects ends the task at once', () => {
    const s = sim();
    s.add('a', { retry: { attempts: 5, retryIf: (error) => !error.message.includes('fatal') } });
    s.claim();
    s.fail('a', new Error('may pass'));
    expect(s.state('a')).toBe('ready');
    s.claim();
    s.fail('a', new Error('fatal'));
    expect(s.state('a')).toBe('failed');
  });

  test('B3.4 lost attempts have a budget of their own; releases cost nothing', () => {
    const s = sim();
    s.add('a', { retry: 2 });
    for (let n = 1; n <= 4; n += 1) {
      s.claim();
      s.send({ kind: 'release', task: 'a', token: { epoch: 1, attempt: n } });
    }
    s.claim();
    s.advance(60_000);
    s.claim();
    s.advance(60_000);
    expect(s.state('a')).toBe('ready');
    s.claim();
    s.fail('a');
    expect(s.state('a')).toBe('ready');
    s.claim();
    s.advance(60_000);
    expect(s.state('a')).toBe('failed');
  });

  test('B3.4 a worker’s retries serve only tasks without a policy', () => {
    const s = sim();
    s.worker('w', { retries: 1 });
    s.add('bare');
    s.add('once', { retry: 1 });
    s.claim(2, 'w');
    s.fail('bare');
    s.fail('once');
    expect([s.state('bare'), s.state('once')]).toEqual(['ready', 'failed']);
    s.claim(1, 'w');
    s.fail('bare');
    expect(s.state('bare')).toBe('failed');
  });
});

describe('B10 by hand, too late', () => {
  test('B10.1 a failed task is run again by hand under its own id, with a fresh budget', () => {
    const s = sim();
    s.add('a', { retry: 2, channel: 'mail', priority: 'high' });
    const failTwice = (): void => {
      for (let i = 0; i < 2; i += 1) {
        expect(s.claim()).toEqual(['a']);
        s.fail('a');
      }
      expect(s.state('a')).toBe('failed');
    };
    failTwice();
    s.send({ kind: 'retry', task: 'a' });
    expect(s.core.state.pending).toBe(1);
    failTwice();
    s.send({ kind: 'retry', task: 'a' });
    s.claim();
    expect(s.running()).toEqual(['a#5']);
    s.complete('a', 'at last');
    expect([s.state('a'), s.task('a').value]).toEqual(['completed', 'at last']);
    expect(s.story('a').filter((kind) => kind === 'task.revived')).toHaveLength(2);
  });

  test.each([
    ['ready', {}],
    ['delayed', { eta: at(90) }],
    ['waiting', { after: ['other'] }],
  ] as const)('B10.2 a %s task past its expiry never starts, and a fact says so', (state, options) => {
    const s = sim();
    s.add('other', { channel: 'p' });
    s.send({ kind: 'pauseChannel', channel: 'p' });
    s.add('a', { ...options, expires: at(60) });
    expect(s.state('a')).toBe(state);
    s.advance(59_999);
    expect(s.state('a')).toBe(state);
    s.advance(1);
    expect(s.state('a')).toBe('cancelled');
    const fact = s.facts.find((each) => each.kind === 'task.cancelled');
    expect(fact).toMatchObject({ task: 'a', error: { code: 'EXPIRED' } });
    s.advance(100_000);
    expect(s.claim(9)).toEqual([]);
  });

  test('B10.2 one that has started in time is not dropped', () => {
    const s = sim({ slots: 1 });
    s.add('a', { expires: at(60) });
    s.advance(61_000);
    expect(s.running()).toEqual(['a#1']);
    s.complete('a');
    expect(s.state('a')).toBe('completed');
  });

  test('B10.2 a missed deadline is told once, and the task still runs', () => {
    const s = sim();
    s.add('late', { deadline: at(60) });
    s.add('in time', { deadline: at(90) });
    s.advance(59_999);
    const missed = (): string[] => s.facts.flatMap((fact) => (fact.kind === 'deadline.missed' ? [fact.task] : []));
    expect(missed()).toEqual([]);
    s.advance(1);
    expect(missed()).toEqual(['late']);
    expect(s.drain()).toEqual(['late', 'in time']);
    s.advance(100_000);
    expect(missed()).toEqual(['late']);
  });
});
