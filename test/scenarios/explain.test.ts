import { describe, expect, test } from 'vitest';
import { describeExplanation, type Explanation, type Obstacle } from '../../src/core/index.js';
import { SIM_START, sim, type Sim } from '../../src/testing/index.js';

function why(s: Sim, id: string): Explanation {
  return s.core.explain(id);
}

function text(s: Sim, id: string): string {
  return describeExplanation(why(s, id));
}

function obstacles(s: Sim, id: string): readonly Obstacle[] {
  const found = why(s, id);
  if (found.kind !== 'ready') throw new Error(`${id} is ${found.kind}`);
  return found.obstacles;
}

function position(s: Sim, id: string): number | undefined {
  const found = why(s, id);
  return found.kind === 'ready' && found.standing?.kind === 'position' ? found.standing.position : undefined;
}

describe('C13.1 why a task is not running', () => {
  test('C13.1 a waiting task names the dependencies that are not finished, with their states, and no others', () => {
    const s = sim({ slots: 1 });
    s.add('done');
    s.complete('done');
    s.add('running');
    s.add('later', { delay: 5_000 });
    s.add('end', { after: ['done', 'running', 'later', 'running'] });
    expect(why(s, 'end')).toEqual({
      task: 'end',
      kind: 'waiting',
      dependencies: [
        { task: 'running', state: 'running' },
        { task: 'later', state: 'delayed' },
      ],
    });
    expect(text(s, 'end')).toBe('Task "end" waits for "running" (running), "later" (delayed).');
  });

  test('C13.1 a task with an ETA says until when', () => {
    const s = sim({ slots: 1 });
    s.add('later', { delay: 5_000 });
    expect(why(s, 'later')).toEqual({ task: 'later', kind: 'delayed', until: SIM_START + 5_000 });
    expect(text(s, 'later')).toBe('Task "later" does not start before 2030-01-01T00:00:05.000Z.');
  });

  test('C13.1 a backoff says for how long, and after which error', () => {
    const s = sim({ slots: 1 });
    s.add('a', { retry: { attempts: 3, backoff: 'fixed', base: 100 } });
    s.fail('a#1', new TypeError('no "luck"'));
    s.advance(40);
    expect(why(s, 'a')).toMatchObject({
      kind: 'backoff',
      until: 100,
      remainingMs: 60,
      attempts: 1,
      error: { name: 'TypeError', message: 'no "luck"' },
    });
    expect(text(s, 'a')).toBe('Task "a" is tried again in 60 ms, after attempt 1 failed: TypeError, "no \\"luck\\"".');
  });

  test('C13.1 a backoff that is over by the time of another command, before the tick, is still one', () => {
    const s = sim({ slots: 1 });
    s.add('a', { retry: { attempts: 3, backoff: 'fixed', base: 100 } });
    s.fail('a#1');
    s.core.handle({ kind: 'pauseChannel', channel: 'other', now: { wall: s.now.wall + 150, mono: 150 } });
    expect(why(s, 'a')).toMatchObject({ kind: 'backoff', until: 100, remainingMs: 0 });
    expect(text(s, 'a')).toContain('is tried again in 0 ms');
  });

  test('C13.1 a lacking resource says how much is lacking and which attempts hold it, abandoned ones included', () => {
    const s = sim({ slots: 9 });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 4 });
    s.add('two', { needs: { gpu: 2 } });
    s.add('one', { needs: { gpu: 1 } });
    s.cancel('one');
    s.add('other');
    s.add('big', { needs: { gpu: 3 } });
    expect(obstacles(s, 'big')).toEqual([
      {
        kind: 'resource',
        resource: 'gpu',
        needs: 3,
        capacity: 4,
        free: 1,
        lacks: 2,
        heldBy: [
          { attempt: 'two#1', amount: 2, abandoned: false },
          { attempt: 'one#1', amount: 1, abandoned: true },
        ],
      },
    ]);
    expect(text(s, 'big')).toContain('it lacks 2 of "gpu" (needs 3, free 1), held by "two#1", "one#1" (abandoned)');
    s.complete('two');
    expect(s.state('big')).toBe('running');
  });

  test.each([
    ['global', ''],
    ['type', 'encode'],
    ['channel', 'video'],
  ] as const)('C13.1 an exhausted %s limit says who fills it', (scope, key) => {
    const s = sim({ slots: 9 });
    s.send({ kind: 'setLimit', scope, key, limit: 1 });
    s.add('first', { type: 'encode', channel: 'video' });
    s.add('second', { type: 'encode', channel: 'video' });
    const filledBy = [{ attempt: 'first#1', amount: 1, abandoned: false }];
    expect(obstacles(s, 'second')).toEqual([{ kind: 'limit', scope, key, limit: 1, filledBy }]);
    expect(text(s, 'second')).toContain('of 1 is reached, filled by "first#1"');
    s.complete('first');
    expect(s.state('second')).toBe('running');
  });

  test('C13.1 a paused channel is the reason, and nobody in it has a position', () => {
    const s = sim({ slots: 1 });
    s.send({ kind: 'pauseChannel', channel: 'mail' });
    s.add('a', { channel: 'mail' });
    expect(why(s, 'a')).toEqual({
      task: 'a',
      kind: 'ready',
      obstacles: [{ kind: 'paused', channel: 'mail' }],
      standing: undefined,
    });
    expect(text(s, 'a')).toBe('Task "a" is ready, but its channel "mail" is paused.');
  });

  test('C13.1 without a worker that offers what it asks for, what is missing is named', () => {
    const s = sim();
    s.add('a', { capabilities: { os: 'linux', gpu: true } });
    expect(obstacles(s, 'a')).toEqual([
      {
        kind: 'worker',
        workers: 0,
        missing: [
          ['gpu', true],
          ['os', 'linux'],
        ],
      },
    ]);
    expect(text(s, 'a')).toContain('there is no worker');
    s.worker('w1', { capabilities: new Map([['os', ['linux', 'mac']]]) });
    expect(obstacles(s, 'a')).toEqual([{ kind: 'worker', workers: 1, missing: [['gpu', true]] }]);
    expect(text(s, 'a')).toContain('no worker offers "gpu" = true');
    s.worker('w2', { capabilities: new Map([['gpu', true]]) });
    expect(obstacles(s, 'a')).toEqual([{ kind: 'worker', workers: 2, missing: [] }]);
    s.worker('w3', {
      capabilities: new Map<string, string | boolean>([
        ['gpu', true],
        ['os', 'linux'],
      ]),
    });
    expect(obstacles(s, 'a')).toEqual([]);
  });

  test('C13.1 a worker that refuses the place does not count, one without a free slot is named', () => {
    const s = sim();
    s.worker('picky', { filter: ({ channel }) => channel !== 'mail' });
    s.worker('busy', { slots: 1 });
    s.add('a', { channel: 'mail' });
    s.claim(1, 'busy');
    s.add('b', { channel: 'mail' });
    expect(obstacles(s, 'b')).toEqual([{ kind: 'slots', workers: [{ id: 'busy', running: 1, slots: 1 }] }]);
    expect(text(s, 'b')).toContain('no slot is free: "busy" (1 of 1)');
    s.send({ kind: 'detachWorker', worker: 'busy' });
    expect(text(s, 'b')).toContain('no worker takes tasks like it');
  });

  test('C13.1 a running task says which attempt, where and since when', () => {
    const s = sim({ slots: 1 });
    s.advance(250);
    s.add('a');
    s.advance(50);
    expect(why(s, 'a')).toEqual({
      task: 'a',
      kind: 'running',
      attempt: 'a#1',
      worker: 'local',
      since: SIM_START + 250,
    });
    expect(text(s, 'a')).toBe('Task "a" runs as "a#1" on worker "local" since 2030-01-01T00:00:00.250Z.');
  });

  test('C13.1 a finished task says how it ended, also once it is forgotten; an unknown one is refused', () => {
    const s = sim({ slots: 9, retain: { count: 3, ageMs: Infinity } });
    for (const id of ['a', 'b', 'c', 'd']) s.add(id);
    s.complete('a');
    s.fail('b', new Error('broken'));
    s.cancel('c', 'not wanted');
    expect(text(s, 'a')).toBe('Task "a" has completed.');
    expect(text(s, 'b')).toBe('Task "b" has failed: Error, "broken".');
    expect(why(s, 'c')).toMatchObject({ kind: 'final', state: 'cancelled', error: { name: 'CancelledError' } });
    s.complete('d');
    expect(why(s, 'a')).toEqual({ task: 'a', kind: 'final', state: 'completed', error: undefined });
    expect(() => why(s, 'nobody')).toThrow(expect.objectContaining({ code: 'UNKNOWN_TASK' }) as Error);
  });

  test('C13.1 text stays on one line and safe to print, whatever the ids', () => {
    const s = sim();
    const id = '__proto__"\\\u202e';
    s.add(id);
    s.add('b', { after: [id] });
    expect(text(s, 'b')).toBe('Task "b" waits for "__proto__\\"\\\\\\u202e" (ready).');
  });

  test('C13.1 only the first few of many are named', () => {
    const s = sim();
    const ids = ['1', '2', '3', '4', '5', '6', '7'];
    for (const id of ids) s.add(id);
    s.add('end', { after: ids });
    expect(text(s, 'end')).toMatch(/"5" \(ready\) and 2 more\.$/);
  });
});

describe('C13.1 where a ready task stands', () => {
  test.each(['fifo', 'lifo', 'priority', 'deadline', 'fair', 'critical-path'] as const)(
    'C13.1 the position under %s is the place in which tasks are claimed',
    (strategy) => {
      const s = sim({ strategy });
      const channels = ['a', 'b', 'a', 'a', 'c', 'b'];
      channels.forEach((channel, i) =>
        s.add(`t${i}`, { channel, priority: (i * 7) % 3, deadline: 1e12 * (2 + (i % 4)) }),
      );
      s.add('end', { after: ['t3'], estimate: 1_000, priority: 9 });
      const ids = channels.map((_channel, i) => `t${i}`);
      const foretold = ids.toSorted((x, y) => position(s, x)! - position(s, y)!);
      expect(foretold.map((id) => position(s, id))).toEqual([1, 2, 3, 4, 5, 6]);
      expect(s.claim(6)).toEqual(foretold);
    },
  );

  test('C13.1 a random choice gives a chance: the weight over all weights that compete', () => {
    const s = sim({ strategy: 'weighted-random' });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    s.add('one', { priority: 1 });
    s.add('four', { priority: 4 });
    s.add('blocked', { priority: 1, needs: { gpu: 1 } });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 0 });
    const drawn = s.core.state.random.state();
    expect(why(s, 'one')).toMatchObject({ standing: { kind: 'chance', chance: 1 / 1.25 } });
    expect(why(s, 'four')).toMatchObject({ standing: { kind: 'chance', chance: 0.25 / 1.25 } });
    expect(why(s, 'blocked')).toMatchObject({ standing: { kind: 'chance', chance: 1 / 2.25 } });
    expect(text(s, 'one')).toContain('Its chance in the next draw is 80.0 %.');
    expect(s.core.state.random.state()).toEqual(drawn);
  });

  test('C13.1 weights of one’s own count, and whoever is overdue has a position', () => {
    const weights = { name: 'weighted-random', weight: (level: number) => 1 + level } as const;
    const s = sim({ strategy: weights, aging: { everyMs: 10_000, maxBoost: Infinity, maxWaitMs: 1_000 } });
    s.add('a', { priority: 2 });
    s.add('b', { priority: 0 });
    expect(why(s, 'a')).toMatchObject({ standing: { kind: 'chance', chance: 0.75 } });
    s.advance(1_000);
    expect(position(s, 'b')).toBe(2);
  });

  test('C13.1 a strategy that chooses for itself is named instead of guessed', () => {
    const first = {
      name: 'mine',
      rank: () => 0,
      choose: <T>(heads: readonly T[]) => heads[0] as T,
      describe: () => 'mine',
    };
    const s = sim({ strategy: first });
    s.worker('idle');
    s.add('a');
    expect(why(s, 'a')).toMatchObject({ obstacles: [], standing: { kind: 'chosen', strategy: 'mine' } });
    expect(text(s, 'a')).toContain('Strategy "mine" chooses for itself.');
  });

  test('C13.1 asking changes nothing: the same facts follow', () => {
    const run = (ask: boolean): unknown => {
      const s = sim({ strategy: 'critical-path', slots: 2, seed: 7 });
      for (let i = 0; i < 20; i += 1) {
        s.add(`t${i}`, { priority: i % 3, estimate: i, after: i % 4 === 3 ? [`t${i - 1}`] : [] });
        if (ask) for (let j = 0; j <= i; j += 1) why(s, `t${j}`);
        const [running] = s.running();
        if (i % 2 === 0 && running !== undefined) s.complete(running);
      }
      return s.facts;
    };
    expect(run(true)).toEqual(run(false));
  });
});
