import { describe, expect, test } from 'vitest';
import { Core, describeExplanation } from '../../src/core/index.js';
import { throughJson } from '../core/commands.js';
import { sim, type Sim, type SimOptions, type SimTaskOptions } from '../../src/testing/index.js';

const BACKGROUND: SimTaskOptions = { priority: 'low', preemptible: true };

/** So many low tasks that may be stopped, a to z, started one millisecond after the other, which have run for two seconds. */
function busy(count: number, options: SimOptions = {}, task: SimTaskOptions = {}): Sim {
  const s = sim({ slots: count, ...options });
  for (let i = 0; i < count; i += 1) {
    s.add(String.fromCharCode(97 + i), { ...BACKGROUND, ...task });
    s.advance(1);
  }
  s.advance(2_000);
  return s;
}

/** Who was asked to make way, in order. */
function asked(s: Sim): string[] {
  return s.facts.flatMap((fact) => (fact.kind === 'task.preempted' ? [`${fact.task}#${fact.attempt}`] : []));
}

/** The attempt does as it was asked. */
function makeWay(s: Sim, task: string): void {
  s.send({ kind: 'release', task, token: { epoch: 1, attempt: s.task(task).attempts } });
}

test('C7.2 C10.1 others make way for who has a reservation too', () => {
  const s = sim({ slots: 9, maxBypasses: 1, preemption: { graceMs: 100, minRunMs: 1_000, maxPerTask: 3 } });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
  s.add('hog', { priority: 'low', preemptible: true, needs: { gpu: 1 } });
  s.add('large', { priority: 'critical', needs: { gpu: 2 } });
  s.add('small', { needs: { gpu: 1 } });
  expect(s.core.state.preemption.rooms.reserved?.id).toBe('large');
  s.complete('small');
  s.advance(999);
  expect(s.core.explain('hog')).not.toHaveProperty('stopBy');
  s.advance(1);
  expect(s.core.explain('hog')).toMatchObject({ stopBy: 1_100 });
  s.add('late', { needs: { gpu: 1 } });
  expect(s.running()).toEqual(['hog#1']);
  s.send({ kind: 'release', task: 'hog', token: { epoch: 1, attempt: 1 } });
  expect(s.running()).toEqual(['large#1']);
});

describe('who makes way', () => {
  test('C10.1 a running task that allows it is asked to make way for a more urgent one, which then starts', () => {
    const s = busy(1);
    s.add('urgent', { priority: 'high' });
    expect(asked(s)).toEqual(['a#1']);
    expect(s.core.outbox.preempted).toMatchObject([{ attempt: { id: 'a#1' }, error: { code: 'PREEMPTED' } }]);
    expect(s.running()).toEqual(['a#1']);
    makeWay(s, 'a');
    expect(s.running()).toEqual(['urgent#1']);
    s.complete('urgent');
    expect(s.running()).toEqual(['a#2']);
  });

  test('C10.1 nobody makes way for a task of the same level, for a less urgent one, or without allowing it', () => {
    const s = busy(1);
    s.add('equal', { priority: 'low' });
    s.add('idle', { priority: 'idle' });
    expect(asked(s)).toEqual([]);
    const held = sim({ slots: 1 });
    held.add('a', { priority: 'low' });
    held.advance(5_000);
    held.add('urgent', { priority: 'critical' });
    held.advance(5_000);
    expect(asked(held)).toEqual([]);
  });

  test('C10.1 the least urgent makes way, among equals the one that started last', () => {
    const s = busy(3);
    s.send({ kind: 'setPriority', task: 'b', level: 4 });
    s.add('first', { priority: 'high' });
    s.add('second', { priority: 'high' });
    s.add('third', { priority: 'high' });
    expect(asked(s)).toEqual(['b#1', 'c#1', 'a#1']);
  });

  test.each(['priority', 'deadline', 'lifo', 'fair'] as const)(
    'C10.1 of waiting tasks of one level it is the longest wait for which others make way, under %s too',
    (strategy) => {
      const s = sim({ slots: 1, strategy });
      s.add('a', BACKGROUND);
      s.add('patient', { priority: 'high', channel: 'z' });
      s.advance(1);
      s.add('due', { priority: 'high', deadline: s.now.wall + 10_000, channel: 'b' });
      s.advance(1_000);
      expect(s.facts.filter(({ kind }) => kind === 'task.preempted')).toMatchObject([{ task: 'a', by: 'patient' }]);
      makeWay(s, 'a');
      expect(s.running()).toEqual(['patient#1']);
    },
  );

  test('C10.1 no more are asked than are needed', () => {
    const s = sim({ slots: 4 });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 4 });
    s.add('large', { ...BACKGROUND, needs: { gpu: 2 } });
    for (const id of ['x', 'y']) s.add(id, { ...BACKGROUND, priority: 'idle', needs: { gpu: 1 } });
    s.advance(2_000);
    s.add('urgent', { needs: { gpu: 2 } });
    // Either both of the idle ones or the large one will do; the least urgent go first.
    expect(asked(s)).toEqual(['y#1', 'x#1']);
    const t = sim({ slots: 4 });
    t.send({ kind: 'setCapacity', resource: 'gpu', units: 3 });
    t.add('large', { ...BACKGROUND, needs: { gpu: 2 } });
    t.add('x', { ...BACKGROUND, priority: 'idle', needs: { gpu: 1 } });
    t.advance(2_000);
    t.add('urgent', { needs: { gpu: 2 } });
    // The idle one alone would not do, and with the large one it is not needed.
    expect(asked(t)).toEqual(['large#1']);
  });

  test('C10.1 nobody is asked if that would not let the task start', () => {
    const s = sim({ slots: 3 });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    s.add('fixed', { priority: 'low', needs: { gpu: 1 } });
    s.add('loose', { ...BACKGROUND, needs: { gpu: 1 } });
    s.add('plain', BACKGROUND);
    s.advance(2_000);
    s.add('urgent', { priority: 'high', needs: { gpu: 2 } });
    s.advance(10_000);
    expect(asked(s)).toEqual([]);
    s.complete('fixed');
    expect(asked(s)).toEqual(['loose#1']);
  });

  test.each([
    ['the global limit', (s: Sim) => s.send({ kind: 'setLimit', scope: 'global', key: '', limit: 1 }), {}],
    ['a type', (s: Sim) => s.send({ kind: 'setLimit', scope: 'type', key: 'x', limit: 1 }), { type: 'x' }],
    ['a channel', (s: Sim) => s.send({ kind: 'setLimit', scope: 'channel', key: 'A', limit: 1 }), { channel: 'A' }],
  ])('C10.1 room is made under %s too', (_name, limit, task) => {
    const s = sim({ slots: 5 });
    limit(s);
    s.add('running', { ...BACKGROUND, ...task });
    s.advance(2_000);
    s.add('urgent', { priority: 'high', ...task });
    expect(asked(s)).toEqual(['running#1']);
    s.add('next', { priority: 'normal', ...task });
    makeWay(s, 'running');
    expect(s.running()).toEqual(['urgent#1']);
  });

  test('C10.1 nobody is asked before it has run for its minimum, and it is asked as soon as it has', () => {
    const s = sim({ slots: 1, preemption: { graceMs: 1_000, minRunMs: 700, maxPerTask: 3 } });
    s.add('a', BACKGROUND);
    s.advance(100);
    s.add('urgent', { priority: 'high' });
    s.advance(599);
    expect(asked(s)).toEqual([]);
    s.advance(1);
    expect(asked(s)).toEqual(['a#1']);
  });

  test('C10.1 time spent waiting for another task is no run time', () => {
    const s = sim({ slots: 1 });
    s.add('a', BACKGROUND);
    s.add('child', { priority: 'low' });
    s.advance(500);
    s.waitFor('a', 'child');
    s.advance(5_000);
    s.complete('child');
    s.add('urgent', { priority: 'high' });
    s.advance(499);
    expect(asked(s)).toEqual([]);
    s.advance(1);
    expect(asked(s)).toEqual(['a#1']);
  });

  test('C10.1 by L*: who is as urgent as the one that waits for it makes no way, and a new level counts at once', () => {
    const s = busy(1);
    s.add('waits for a', { priority: 'critical', after: ['a'] });
    s.add('urgent', { priority: 'high' });
    expect(asked(s)).toEqual([]);
    s.cancel('waits for a');
    expect(asked(s)).toEqual(['a#1']);
  });

  test('C10.1 C12.3 who holds what a more urgent task lacks makes no way for a less urgent one', () => {
    const s = sim({ slots: 2 });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    s.add('fixed', { priority: 'low', needs: { gpu: 1 } });
    s.add('holder', { ...BACKGROUND, needs: { gpu: 1 } });
    s.advance(2_000);
    // Stopping the holder would not do for this one, but what it waits for had better come to its end.
    s.add('most urgent', { priority: 'critical', needs: { gpu: 2 } });
    s.add('urgent', { priority: 'high' });
    expect(asked(s)).toEqual([]);
    s.cancel('most urgent');
    expect(asked(s)).toEqual(['holder#1']);
  });

  test('C10.1 an attempt that waited for another task is let in again by those that make way', () => {
    const s = sim({ slots: 1 });
    s.add('parent', { priority: 'high' });
    s.add('child', { priority: 'high' });
    s.claim(1, 'elsewhere');
    s.waitFor('parent', 'child');
    s.add('background', BACKGROUND);
    expect(s.running()).toEqual(['child#1', 'background#1']);
    s.advance(2_000);
    s.complete('child');
    expect(asked(s)).toEqual(['background#1']);
    expect(s.facts).toContainEqual(expect.objectContaining({ kind: 'room.kept', task: 'parent', workerId: 'local' }));
    expect(s.running()).toEqual(['background#1']);
    makeWay(s, 'background');
    expect(s.running()).toEqual(['parent#1']);
    s.complete('parent');
    expect(s.running()).toEqual(['background#2']);
  });

  test('C10.1 nobody is asked for the sake of a task whose tokens another one will take', () => {
    const s = busy(2);
    s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: { rate: 1, perMs: 60_000, burst: 1 } });
    s.add('first', { priority: 'high', needs: { api: 1 } });
    s.add('second', { priority: 'high', needs: { api: 1 } });
    expect(asked(s)).toEqual(['b#1']);
    makeWay(s, 'b');
    expect(s.running()).toEqual(['a#1', 'first#1']);
    s.advance(1);
    expect(asked(s)).toEqual(['b#1']);
  });

  test('C10.3 tokens are kept too: whoever needs the same ones does not take them meanwhile', () => {
    const s = sim({ slots: 3, preemption: { graceMs: 60_000, minRunMs: 0, maxPerTask: 3 } });
    s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: { rate: 1, perMs: 1_000, burst: 1 } });
    s.send({ kind: 'setLimit', scope: 'type', key: 'x', limit: 1 });
    s.add('a', { ...BACKGROUND, type: 'x' });
    s.add('urgent', { type: 'x', priority: 'critical', needs: { api: 1 } });
    s.add('other', { needs: { api: 1 } });
    expect(s.running()).toEqual(['a#1']);
    makeWay(s, 'a');
    expect(s.running()).toEqual(['urgent#1']);
    expect(s.core.nextWakeAt().mono).toBe(1_000);
  });
});

describe('what it costs the one that makes way', () => {
  test('C10.2 age and place in line are kept, and no attempt is paid', () => {
    const s = busy(1, {}, { retry: 1 });
    s.add('younger', { priority: 'low' });
    s.add('urgent', { priority: 'high' });
    const gathered = s.task('a').ready;
    s.advance(300);
    makeWay(s, 'a');
    expect(s.task('a')).toMatchObject({ state: 'ready', ready: s.now.mono - gathered });
    s.complete('urgent');
    expect(s.running()).toEqual(['a#2']);
    expect(s.task('a').extra?.failures).toBe(0);
    s.complete('a#2');
    expect(s.state('a')).toBe('completed');
  });

  test('C10.2 stopping by throwing counts as making way, and as a failure once the grace has passed', () => {
    const s = busy(1, {}, { retry: 1 });
    s.add('urgent', { priority: 'high' });
    s.advance(999);
    s.fail('a');
    expect(s.state('a')).toBe('ready');
    expect(s.running()).toEqual(['urgent#1']);
    const late = busy(1, {}, { retry: 1 });
    late.add('urgent', { priority: 'high' });
    late.advance(1_001);
    late.fail('a');
    expect(late.state('a')).toBe('failed');
  });

  test('C10.2 one that ends instead of making way has done its work', () => {
    const s = busy(1);
    s.add('urgent', { priority: 'high' });
    s.complete('a', 42);
    expect(s.task('a')).toMatchObject({ state: 'completed', value: 42 });
    expect(s.running()).toEqual(['urgent#1']);
  });

  test('C10.2 its channel pays no second turn', () => {
    const s = busy(1, { strategy: 'fair' }, { channel: 'A' });
    s.add('urgent', { priority: 'high', channel: 'U' });
    makeWay(s, 'a');
    s.add('b', { priority: 'low', channel: 'B' });
    s.add('a2', { priority: 'low', channel: 'A' });
    s.complete('urgent');
    // Nobody is ahead, as B has only come now; by name it is A's turn.
    expect(s.running()).toEqual(['a#2']);
    s.complete('a#2');
    // Had the second start of "a" been charged, it would be the turn of B.
    expect(s.running()).toEqual(['a2#1']);
  });

  test('C10.1 no ping-pong: a task is stopped so many times and no more', () => {
    const s = busy(1, { preemption: { graceMs: 1_000, minRunMs: 100, maxPerTask: 2 } });
    for (let round = 1; round <= 3; round += 1) {
      s.add(`urgent ${round}`, { priority: 'high' });
      if (round > 2) break;
      makeWay(s, 'a');
      s.complete(`urgent ${round}`);
      s.advance(1_000);
    }
    s.advance(10_000);
    expect(asked(s)).toEqual(['a#1', 'a#2']);
    expect(s.running()).toEqual(['a#3']);
  });

  test('C10.1 with a maximum of 0 nobody is ever stopped', () => {
    const s = busy(1, { preemption: { graceMs: 1_000, minRunMs: 100, maxPerTask: 0 } });
    s.add('urgent', { priority: 'high' });
    s.advance(10_000);
    expect(asked(s)).toEqual([]);
  });
});

describe('what is kept', () => {
  test('C10.3 what is freed goes to the task for which others made way, even if others fit', () => {
    const s = sim({ slots: 3, strategy: 'fifo' });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    s.add('a', { ...BACKGROUND, needs: { gpu: 1 } });
    s.add('b', { ...BACKGROUND, needs: { gpu: 1 } });
    s.add('small', { priority: 'low', needs: { gpu: 1 } });
    s.advance(2_000);
    s.add('urgent', { priority: 'high', needs: { gpu: 2 } });
    expect(asked(s)).toEqual(['b#1', 'a#1']);
    makeWay(s, 'b');
    // One is free, and first in line is one that needs no more; it is kept all the same.
    expect(s.running()).toEqual(['a#1']);
    expect(describeExplanation(s.core.explain('small'))).toContain(
      'lacks 2 of "gpu" (needs 1, free 0, kept for others 2)',
    );
    expect(s.core.explain('urgent')).toMatchObject({
      kind: 'ready',
      room: { worker: 'local', until: s.now.mono + 1_000 },
    });
    expect(describeExplanation(s.core.explain('a'))).toContain('and was asked to make way');
    makeWay(s, 'a');
    expect(s.running()).toEqual(['urgent#1']);
  });

  test('C10.3 the slot too is kept, and whoever ends first makes room for the task', () => {
    const s = busy(2, { strategy: 'fifo' });
    s.add('early', { priority: 'low' });
    s.add('urgent', { priority: 'high' });
    expect(asked(s)).toEqual(['b#1']);
    expect(describeExplanation(s.core.explain('early'))).toContain('"local" (2 of 2, 1 kept for others)');
    s.complete('a');
    expect(s.running()).toEqual(['b#1', 'urgent#1']);
    s.complete('b');
    expect(s.running()).toEqual(['early#1', 'urgent#1']);
  });

  test('C10.3 whoever does not make way in time keeps what it holds, and nothing is kept any more', () => {
    const s = sim({ slots: 3, strategy: 'fifo' });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    for (const id of ['a', 'b']) s.add(id, { ...BACKGROUND, needs: { gpu: 1 } });
    s.add('small', { priority: 'low', needs: { gpu: 1 } });
    s.advance(2_000);
    s.add('urgent', { priority: 'high', needs: { gpu: 2 } });
    makeWay(s, 'a');
    s.advance(999);
    expect(s.running()).toEqual(['b#1']);
    s.advance(1);
    expect(s.facts).toContainEqual({ kind: 'room.dropped', task: 'urgent', ...s.now });
    expect(s.running()).toEqual(['a#2', 'b#1']);
    // Whoever was asked once is not asked again.
    s.advance(10_000);
    expect(asked(s)).toEqual(['b#1', 'a#1']);
  });

  test('C10.3 what was freed in time is kept until it is claimed', () => {
    const s = sim();
    s.worker('w', { slots: 1, leaseMs: Infinity });
    s.add('a', BACKGROUND);
    s.claim(1, 'w');
    s.advance(2_000);
    s.add('urgent', { priority: 'high' });
    makeWay(s, 'a');
    s.add('more urgent', { priority: 'critical' });
    s.advance(5_000);
    expect(s.claim(1, 'w')).toEqual(['urgent']);
  });

  test.each<[string, (s: Sim) => void]>([
    [
      'it is cancelled',
      (s) => {
        s.cancel('urgent');
      },
    ],
    ['its channel is paused', (s) => s.send({ kind: 'pauseChannel', channel: 'U' })],
    [
      'it has to wait for another task',
      (s) => {
        s.add('late', { delay: 1e6 });
        s.send({ kind: 'addDependency', task: 'urgent', dependency: 'late', onFailure: 'fail' });
      },
    ],
    ['there will never be enough', (s) => s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 })],
    ['its limit falls to nothing', (s) => s.send({ kind: 'setLimit', scope: 'channel', key: 'U', limit: 0 })],
  ])('C10.3 nothing is kept for a task any more when %s', (_name, change) => {
    const s = sim({ slots: 3 });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    for (const id of ['a', 'b']) s.add(id, { ...BACKGROUND, needs: { gpu: 1 } });
    s.advance(2_000);
    s.add('urgent', { priority: 'high', needs: { gpu: 2 }, channel: 'U' });
    expect(s.core.state.preemption.rooms.size).toBe(1);
    change(s);
    expect(s.core.state.preemption.rooms.size).toBe(0);
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    makeWay(s, 'a');
    expect(s.running()).toEqual(['a#2', 'b#1']);
  });

  test('C10.3 with its worker goes what was kept there', () => {
    const s = sim();
    for (const id of ['w', 'v']) s.worker(id, { slots: 1, leaseMs: Infinity });
    s.add('a', BACKGROUND);
    s.claim(1, 'w');
    s.add('b', BACKGROUND);
    s.claim(1, 'v');
    s.advance(2_000);
    s.add('urgent', { priority: 'high' });
    expect(s.core.explain('urgent')).toMatchObject({ room: { worker: 'v' } });
    s.send({ kind: 'detachWorker', worker: 'v' });
    // The attempt at the other worker is asked in its place.
    expect(s.core.explain('urgent')).toMatchObject({ room: { worker: 'w' } });
    expect(asked(s)).toEqual(['b#1', 'a#1']);
  });

  test('C10.3 those who make way for nobody any more are counted on by the next', () => {
    const s = busy(2);
    s.add('first', { priority: 'high' });
    s.cancel('first');
    s.add('second', { priority: 'high' });
    expect(asked(s)).toEqual(['b#1']);
    makeWay(s, 'b');
    expect(s.running()).toEqual(['a#1', 'second#1']);
  });
});

describe('in the record', () => {
  test('C10 F9 the same facts make the same state, and a snapshot in between changes nothing', () => {
    const s = busy(2, { strategy: 'fair' });
    for (const id of ['one', 'two']) s.add(id, { priority: 'high' });
    makeWay(s, 'b');
    const twin = sim({ slots: 2, strategy: 'fair' });
    for (const fact of s.facts.slice(twin.facts.length)) twin.core.apply(throughJson(fact));
    twin.core.check();
    expect(twin.core.snapshot()).toEqual(s.core.snapshot());
    s.core = Core.restore(throughJson(s.core.snapshot()));
    makeWay(s, 'a');
    expect(s.running()).toEqual(['one#1', 'two#1']);
  });
});

describe('over a restart', () => {
  const restart = (s: Sim): void => {
    s.core = Core.restore(throughJson(s.core.snapshot()));
    s.core.check();
  };

  test('C10.1 F9 who was asked to make way is not asked again, and has as much time left', () => {
    const s = busy(2);
    s.add('urgent', { priority: 'high' });
    const before = s.core.explain('b');
    restart(s);
    expect(s.core.explain('b')).toEqual(before);
    expect(before).toMatchObject({ stopBy: s.core.state.mono + 1_000 });
    s.add('next', { priority: 'high' });
    expect(asked(s)).toEqual(['b#1', 'a#1']);
    makeWay(s, 'b');
    makeWay(s, 'a');
    expect(s.running()).toEqual(['urgent#1', 'next#1']);
  });

  test('C10.1 F9 how often a task has made way is counted on', () => {
    const s = busy(1, { preemption: { graceMs: 1_000, minRunMs: 0, maxPerTask: 1 } });
    s.add('urgent', { priority: 'high' });
    makeWay(s, 'a');
    s.complete('urgent');
    expect(s.running()).toEqual(['a#2']);
    restart(s);
    s.add('next', { priority: 'high' });
    s.advance(5_000);
    expect(asked(s)).toEqual(['a#1']);
  });
});
