import { describe, expect, test } from 'vitest';
import { sim, type Sim } from '../../src/testing/index.js';

/** Completes whatever runs, one after the other, until nothing does; who ran beside whom, in order. */
function runAll(s: Sim): string[][] {
  const tables: string[][] = [];
  for (let running = s.running(); running.length > 0; running = s.running()) {
    tables.push(running.map((attempt) => attempt.split('#')[0] as string));
    s.complete(running[0] as string);
  }
  return tables;
}

/** Attempts started in the order in which they did, as `id@milliseconds`. */
function starts(s: Sim): string[] {
  return s.facts.flatMap((fact) => (fact.kind === 'attempt.started' ? [`${fact.task}@${String(fact.mono)}`] : []));
}

describe('classic cases', () => {
  test('C6.1 C7.1 dining philosophers over resources: forks are taken together, so all eat and no two neighbours at a time', () => {
    const s = sim({ slots: 5 });
    for (let fork = 0; fork < 5; fork += 1) {
      s.send({ kind: 'setCapacity', resource: `fork${String(fork)}`, units: 1 });
    }
    for (let meal = 0; meal < 3; meal += 1) {
      for (let n = 0; n < 5; n += 1) {
        const needs = { [`fork${String(n)}`]: 1, [`fork${String((n + 1) % 5)}`]: 1 };
        s.add(`p${String(n)}-${String(meal)}`, { needs });
      }
    }
    const tables = runAll(s);
    for (const eating of tables) {
      const seats = eating.map((id) => Number(id.charAt(1)));
      expect(new Set(seats.flatMap((n) => [n, (n + 1) % 5])).size).toBe(2 * seats.length);
    }
    // Two of five can eat at a time, and nobody sits idle while that is possible.
    expect(tables.slice(0, -2).every((eating) => eating.length === 2)).toBe(true);
    expect([...s.core.state.table.all()].every(({ state }) => state === 'completed')).toBe(true);
  });

  test('C5.2 C12.3 priority inversion: what keeps an urgent task waiting runs before all that is less urgent than that', () => {
    const s = sim({ slots: 1 });
    s.send({ kind: 'setCapacity', resource: 'bus', units: 1 });
    s.add('meteorology', { priority: 'low', needs: { bus: 1 } });
    s.add('measurement', { priority: 'low' });
    s.waitFor('meteorology', 'measurement');
    for (let i = 0; i < 10; i += 1) s.add(`communication${String(i)}`, { priority: 'normal' });
    s.add('distribution', { priority: 'critical', needs: { bus: 1 } });
    runAll(s);
    expect(starts(s).map((start) => start.split('@')[0])).toEqual([
      ...['meteorology', 'measurement', 'distribution'],
      ...Array.from({ length: 10 }, (_, i) => `communication${String(i)}`),
    ]);
  });

  test('C12.1 two parents and one slot: both wait, both children run, both parents go on', () => {
    const s = sim({ slots: 1 });
    for (const n of [1, 2]) s.add(`parent${String(n)}`);
    for (const n of [1, 2]) s.add(`child${String(n)}`);
    s.waitFor('parent1', 'child1');
    s.waitFor('parent2', 'child2');
    expect([s.running(), s.waiting()]).toEqual([['child1#1'], ['parent1#1', 'parent2#1']]);
    runAll(s);
    expect(starts(s)).toEqual(['parent1@0', 'parent2@0', 'child1@0', 'child2@0']);
    expect([s.state('parent1'), s.state('parent2')]).toEqual(['completed', 'completed']);
  });

  test('C6.3 F8.1 retry storm: a service that comes back is asked at its rate, however many retry, and all are done', () => {
    const s = sim({ slots: 1_000 });
    s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: { rate: 10, perMs: 1_000, burst: 10 } });
    const retry = { attempts: 9, backoff: 'exponential', base: 100, max: 1_000 } as const;
    for (let i = 0; i < 80; i += 1) s.add(`call${String(i)}`, { needs: { api: 1 }, retry });
    // Down for two seconds; the first to hear of it tells how long to stay away.
    for (let ms = 0; ms < 2_000; ms += 100) {
      for (const attempt of s.running()) s.fail(attempt);
      s.advance(100);
    }
    const [teller] = s.running();
    const token = { epoch: 1, attempt: Number(teller?.split('#')[1]) };
    s.send({ kind: 'report', task: String(teller?.split('#')[0]), token, resource: 'api', retryAfterMs: 3_000 });
    for (const attempt of s.running()) s.fail(attempt);
    s.advance(2_999);
    expect(s.running()).toEqual([]);
    for (let ms = 0; ms < 30_000; ms += 100) {
      s.advance(ms === 0 ? 1 : 100);
      for (const attempt of s.running()) s.complete(attempt);
    }
    expect([...s.core.state.table.all()].map(({ state }) => state)).toEqual(Array(80).fill('completed'));
    const times = s.facts.flatMap((fact) => (fact.kind === 'attempt.started' ? [fact.mono] : []));
    for (const from of times) {
      expect(times.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(20);
    }
  });
});
