import { describe, expect, test } from 'vitest';
import type { Strategy } from '../../src/core/index.js';
import { sim, type Sim, type SimOptions } from '../../src/testing/index.js';

type Level = 'high' | 'normal' | 'low';

function fair(tasks: readonly (readonly [id: string, channel: string, priority?: Level])[], options?: SimOptions): Sim {
  const s = sim({ strategy: 'fair', ...options });
  for (const [id, channel, priority = 'normal'] of tasks) s.add(id, { channel, priority });
  return s;
}

/** So many tasks in a channel, named after it. */
function some(channel: string, count: number): [string, string][] {
  return Array.from({ length: count }, (_, i) => [`${channel}${String(i)}`, channel]);
}

function fill(s: Sim, channel: string, count: number, from = 0): void {
  for (let i = 0; i < count; i += 1) s.add(`${channel}${String(from + i)}`, { channel });
}

/** The channels of tasks that are named by one letter and a number. */
function channels(ids: readonly string[]): string {
  return ids.map((id) => id.slice(0, 1)).join('');
}

describe('turns', () => {
  test('D1 nine tasks in three channels are claimed in turns, first in first out inside a channel', () => {
    const s = fair([
      ['1', 'A'],
      ['2', 'B'],
      ['3', 'C'],
      ['4', 'A'],
      ['5', 'B'],
      ['6', 'C'],
      ['7', 'A'],
      ['8', 'B'],
      ['9', 'C'],
    ]);
    expect(s.drain()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
  });

  test('D2 all high ones first, poke1 before poke2, then normal, then low', () => {
    const s = fair([
      ['low 2', 'poke2', 'low'],
      ['normal 1', 'poke1', 'normal'],
      ['high 2', 'poke2', 'high'],
      ['low 1', 'poke1', 'low'],
      ['high 1', 'poke1', 'high'],
      ['normal 2', 'poke2', 'normal'],
    ]);
    expect(s.drain()).toEqual(['high 1', 'high 2', 'normal 1', 'normal 2', 'low 1', 'low 2']);
  });

  test('D3 ten, two and one: A B C A B A A A A A A A A', () => {
    const s = fair([...some('a', 10), ...some('b', 2), ...some('c', 1)]);
    expect(channels(s.drain())).toBe('abcabaaaaaaaa');
  });

  test('D4 twenty tasks and three workers at once: every task once, the workers about 7, 7 and 6', () => {
    const s = fair([...some('a', 10), ...some('b', 5), ...some('c', 5)]);
    const workers = ['w1', 'w2', 'w3'];
    const taken = new Map<string, string[]>(workers.map((worker) => [worker, []]));
    for (const worker of workers) s.worker(worker, { slots: 1 });
    while (s.core.state.pending > 0) {
      for (const worker of workers) taken.get(worker)?.push(...s.claim(1, worker));
      s.advance(100);
      for (const attempt of s.running()) s.complete(attempt);
    }
    const all = [...taken.values()].flat();
    expect(all).toHaveLength(20);
    expect(new Set(all).size).toBe(20);
    expect([...taken.values()].map((ids) => ids.length).sort()).toEqual([6, 7, 7]);
  });

  test('D5 a channel that arrives late takes its turn after those that were served', () => {
    const s = fair([...some('1', 5), ...some('2', 5)]);
    s.claim(2);
    fill(s, '3', 3);
    expect(channels(s.claim(6))).toBe('123123');
  });

  test('D7 a hundred, one and one: the first three claims are from three channels', () => {
    const s = fair([...some('a', 100), ...some('b', 1), ...some('c', 1)]);
    expect(channels(s.claim(3))).toBe('abc');
  });

  test('D9 three channels with a high and a normal each: three highs in turn, then three normals', () => {
    const s = fair(
      ['a', 'b', 'c'].flatMap((channel): [string, string, Level][] => [
        [`${channel} normal`, channel, 'normal'],
        [`${channel} high`, channel, 'high'],
      ]),
    );
    expect(s.drain()).toEqual(['a high', 'b high', 'c high', 'a normal', 'b normal', 'c normal']);
  });

  test('D5 a start counts as a turn whatever strategy it was claimed by', () => {
    const s = fair([...some('a', 4), ...some('b', 4)]);
    s.worker('by age', { strategy: 'fifo' });
    expect(channels(s.claim(3, 'by age'))).toBe('aaa');
    expect(channels(s.claim(4))).toBe('bbba');
  });
});

describe('pausing', () => {
  test('D6.1 what runs in a paused channel ends, what waits stays, and others go on', () => {
    const s = fair([...some('a', 3), ...some('b', 3)]);
    expect(s.claim(2)).toEqual(['a0', 'b0']);
    s.send({ kind: 'pauseChannel', channel: 'a' });
    s.send({ kind: 'pauseChannel', channel: 'a' });
    s.complete('a0', 'fine');
    expect([s.state('a0'), s.state('a1')]).toEqual(['completed', 'ready']);
    s.add('a3', { channel: 'a' });
    expect(s.drain()).toEqual(['b1', 'b2']);
    s.send({ kind: 'resumeChannel', channel: 'a' });
    expect(s.drain()).toEqual(['a1', 'a2', 'a3']);
  });

  test('D6.1 resumed, a channel takes turns again without a lead or a debt', () => {
    const s = fair([...some('a', 20), ...some('b', 20)]);
    s.claim(4);
    s.send({ kind: 'pauseChannel', channel: 'a' });
    expect(channels(s.claim(6))).toBe('bbbbbb');
    s.send({ kind: 'resumeChannel', channel: 'a' });
    expect(channels(s.claim(6))).toBe('ababab');
  });

  test('D6.1 a task that fails in a paused channel waits there, and can be cancelled there', () => {
    const s = fair([...some('a', 2)]);
    s.claim();
    s.send({ kind: 'pauseChannel', channel: 'a' });
    s.fail('a0');
    expect(s.claim(9)).toEqual([]);
    s.cancel('a1');
    s.send({ kind: 'resumeChannel', channel: 'a' });
    expect(s.drain()).toEqual(['a0']);
  });
});

describe('what is told', () => {
  test('D10.1 facts about a task lead to its id, channel and level, and once it has started to attempt and worker', () => {
    const s = sim({ strategy: 'fair' });
    s.add('job', { channel: 'mail', priority: 'high' });
    s.worker('ann');
    const [started] = s.send({ kind: 'claim', worker: 'ann', count: 1 });
    const whole = { task: 'job', channel: 'mail', level: 1, attempt: 1, worker: 'ann' };
    expect(started).toMatchObject({ kind: 'attempt.started', channel: 'mail', level: 1, attempt: 1, workerId: 'ann' });
    expect(started && s.core.about(started)).toEqual(whole);
    const extended = s.send({ kind: 'extend', task: 'job', token: { epoch: 1, attempt: 1 }, leaseMs: 5_000 });
    expect(extended.map((fact) => s.core.about(fact))).toEqual([whole]);
    const before = s.facts.length;
    s.fail('job');
    const [ended, ...later] = s.facts.slice(before);
    expect(ended && s.core.about(ended)).toEqual(whole);
    expect(later.map((fact) => fact.kind)).toContain('task.ready');
    for (const fact of later) {
      expect(s.core.about(fact)).toEqual({ task: 'job', channel: 'mail', level: 1, attempt: 1 });
    }
    const [paused] = s.send({ kind: 'pauseChannel', channel: 'mail' });
    expect(paused && s.core.about(paused)).toBeUndefined();
  });

  test('D10.2 the order in force is described by the strategy itself, also one of one’s own and a worker’s', () => {
    const s = sim({ strategy: 'fair' });
    expect(s.core.describeOrder()).toBe('priority → channel → FIFO');
    const texts = new Set<string>();
    for (const strategy of ['fifo', 'lifo', 'priority', 'deadline', 'weighted-random', 'critical-path'] as const) {
      s.send({ kind: 'setStrategy', strategy });
      texts.add(s.core.describeOrder());
    }
    expect(texts.size).toBe(6);
    const size = 5;
    const own: Strategy = { name: 'own', rank: () => 0, describe: () => `size above ${String(size)} → FIFO` };
    s.send({ kind: 'setStrategy', strategy: own });
    expect(s.core.describeOrder()).toBe('size above 5 → FIFO');
    s.worker('ann', { strategy: 'lifo' });
    s.worker('bob');
    expect([s.core.describeOrder('ann'), s.core.describeOrder('bob')]).toEqual(['LIFO', 'size above 5 → FIFO']);
  });
});

describe('D11 channels', () => {
  test('D11.1 a task stays in its channel through retries, losses, a new level and a run by hand', () => {
    const s = fair([['job', 'mail']]);
    const { spec } = s.task('job');
    expect(() => {
      (spec as { channel: string }).channel = 'other';
    }).toThrow(TypeError);
    s.claim();
    s.fail('job');
    s.send({ kind: 'setPriority', task: 'job', level: 0 });
    s.claim();
    s.advance(60_000);
    s.claim();
    s.fail('job', new Error('no'), false);
    s.send({ kind: 'retry', task: 'job' });
    s.claim();
    const told = s.facts.flatMap((fact) => (fact.kind === 'attempt.started' ? [fact.channel] : []));
    expect(told).toEqual(['mail', 'mail', 'mail', 'mail']);
  });

  test('D11.2 a weight multiplies a channel’s share of the turns, and can be changed while tasks wait', () => {
    const s = fair([...some('a', 40), ...some('b', 40)]);
    s.send({ kind: 'setWeight', channel: 'a', weight: 3 });
    const share = (ids: string[]): number => ids.filter((id) => id.startsWith('a')).length;
    expect(share(s.claim(16))).toBe(12);
    s.send({ kind: 'setWeight', channel: 'a', weight: 1 });
    expect(share(s.claim(16))).toBe(8);
    expect(() => s.send({ kind: 'setWeight', channel: 'a', weight: 0 })).toThrow(/weight/);
  });

  test('D11.2 a limit bounds how many of a channel run at once, and can be changed while tasks wait', () => {
    const s = fair([...some('a', 6), ...some('b', 6)]);
    s.send({ kind: 'setLimit', scope: 'channel', key: 'a', limit: 2 });
    expect(channels(s.claim(6))).toBe('ababbb');
    s.complete('a0');
    expect(channels(s.claim(1))).toBe('a');
    s.send({ kind: 'setLimit', scope: 'channel', key: 'a', limit: 4 });
    // It neither lost nor gained while it was full: it has had its turn, the other one has not.
    expect(channels(s.claim(9))).toBe('baba');
    s.send({ kind: 'setLimit', scope: 'channel', key: 'a', limit: 0 });
    for (const attempt of s.running()) s.complete(attempt);
    expect(s.claim(9)).toEqual([]);
    s.send({ kind: 'setLimit', scope: 'channel', key: 'a', limit: Infinity });
    expect(s.drain()).toEqual(['a5']);
  });
});

describe('D12 shares', () => {
  test.each([2, 3, 5, 8])('D12.1 each of %i channels has its share of the turns', (n) => {
    const names = Array.from({ length: n }, (_, i) => String.fromCodePoint(97 + i));
    const s = fair(names.flatMap((name, i) => some(name, 20 + 10 * i)));
    const order = channels(s.claim(n * 20));
    for (const name of names) expect(order.split(name).length - 1).toBe(20);
  });

  test('D12.1 with charge by time, channels have equal time instead of equal turns', () => {
    const s = fair([...some('a', 100), ...some('b', 400)], { charge: 'time' });
    const tookMs = new Map([
      ['a', 400],
      ['b', 100],
    ]);
    const spent = new Map([
      ['a', 0],
      ['b', 0],
    ]);
    for (let i = 0; i < 150; i += 1) {
      const [id = ''] = s.claim();
      const channel = id.slice(0, 1);
      const ms = tookMs.get(channel) ?? 0;
      s.advance(ms);
      s.complete(id);
      spent.set(channel, (spent.get(channel) ?? 0) + ms);
      // One turn of each at the most, at every moment.
      expect(Math.abs((spent.get('a') ?? 0) - (spent.get('b') ?? 0))).toBeLessThanOrEqual(500);
    }
    expect(spent.get('b')).toBeGreaterThan(10_000);
  });

  test('D12.2 with one slot no channel waits longer than the tasks of the others', () => {
    const n = 6;
    const durationMs = 50;
    const names = Array.from({ length: n }, (_, i) => String.fromCodePoint(97 + i));
    const s = fair(names.flatMap((name) => some(name, 30)));
    const last = new Map<string, number>();
    for (let i = 0; i < n * 25; i += 1) {
      const [id = ''] = s.claim();
      const channel = id.slice(0, 1);
      expect(s.now.mono - (last.get(channel) ?? 0)).toBeLessThanOrEqual((n - 1) * durationMs);
      s.advance(durationMs);
      last.set(channel, s.now.mono);
      s.complete(id);
    }
    expect(last.size).toBe(n);
  });

  test('D12.3 a channel that comes and goes cannot starve one with a backlog, nor save up turns', () => {
    const s = fair(some('b', 60));
    expect(channels(s.claim(20))).toBe('b'.repeat(20));
    let order = '';
    for (let i = 0; i < 20; i += 1) {
      // It always has work when it is asked, and is gone again after one task.
      s.add(`a${String(i)}`, { channel: 'a' });
      order += channels(s.claim(1));
      order += channels(s.claim(1));
    }
    expect(order.split('b').length - 1).toBe(20);
    fill(s, 'a', 10, 100);
    expect(channels(s.claim(6)).split('b').length - 1).toBe(3);
  });
});
