import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { describeExplanation } from '../../src/core/explanation.js';
import type { RateLimit } from '../../src/model/index.js';
import { Scheduler } from '../../src/index.js';
import { VirtualClock, sim, type Sim } from '../../src/testing/index.js';

function rate(s: Sim, key: string, limit: RateLimit | undefined, scope: 'resource' | 'type' = 'resource'): void {
  s.send({ kind: 'setRate', scope, key, rate: limit });
}

/** When each task started, in milliseconds since the beginning. */
function starts(s: Sim): [string, number][] {
  return s.facts.flatMap((fact) => (fact.kind === 'attempt.started' ? [[fact.task, fact.mono]] : []));
}

function restart(s: Sim): void {
  s.core = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as never);
  s.core.check();
}

test('C6.3 the burst starts at once, the rest as tokens come, each at the moment that the core has named', () => {
  const s = sim({ slots: 99 });
  rate(s, 'api', { rate: 60, perMs: 60_000, burst: 3 });
  for (let i = 0; i < 6; i += 1) s.add(`t${String(i)}`, { needs: { api: 1 } });
  expect(s.running()).toHaveLength(3);
  expect(s.core.nextWakeAt()).toEqual({ wall: Infinity, mono: 1_000 });
  s.advance(999);
  expect(s.running()).toHaveLength(3);
  s.advance(10_000);
  const times = starts(s).map(([, at]) => at);
  expect(times).toEqual([0, 0, 0, 1_000, 2_000, 3_000]);
  expect(s.core.nextWakeAt()).toEqual({ wall: Infinity, mono: Infinity });
});

test('C6.3 the moment named is one at which there is enough, also where a sum is just above a whole millisecond', () => {
  const s = sim({ slots: 99 });
  rate(s, 'api', { rate: 1_000, perMs: 1, burst: 2_000 });
  s.add('all', { needs: { api: 2_000 } });
  s.add('more', { needs: { api: 1_000.0000005 } });
  const { mono } = s.core.nextWakeAt();
  expect(mono).toBe(2);
  s.advance(mono);
  expect(s.running()).toEqual(['all#1', 'more#1']);
});

test('C6.3 tokens are spent at the start and do not come back at the end, unlike units', () => {
  const s = sim({ slots: 9 });
  rate(s, 'api', { rate: 1, perMs: 1_000, burst: 2 });
  for (const id of ['a', 'b', 'c']) s.add(id, { needs: { api: 1 } });
  s.complete('a');
  s.fail('b');
  expect(s.running()).toEqual([]);
  s.advance(1_000);
  expect(s.running()).toEqual(['c#1']);
});

test('C6.3 needs are what a start costs: the best-ranked task that there are tokens for starts', () => {
  const s = sim({ slots: 9 });
  rate(s, 'api', { rate: 10, perMs: 1_000, burst: 10 });
  s.add('first', { needs: { api: 8 } });
  s.add('large', { needs: { api: 6 }, priority: 'high' });
  s.add('small', { needs: { api: 1.5 } });
  s.add('next', { needs: { api: 2 } });
  expect(s.running()).toEqual(['first#1', 'small#1']);
  // Half a token is left; whoever comes first for it gets it, as nothing is kept back for the large one.
  expect(s.core.nextWakeAt().mono).toBe(150);
  s.advance(10_000);
  expect(starts(s)).toEqual([
    ['first', 0],
    ['small', 0],
    ['next', 150],
    ['large', 750],
  ]);
});

test('C6.3 a rate per type lets through one token for each start, and * is for all that have none of their own', () => {
  const s = sim({ slots: 99 });
  rate(s, 'mail', { rate: 2, perMs: 1_000, burst: 1 }, 'type');
  rate(s, '*', { rate: 1, perMs: 1_000, burst: 2 }, 'type');
  for (let i = 0; i < 3; i += 1) {
    s.add(`mail${String(i)}`, { type: 'mail' });
    s.add(`work${String(i)}`, { type: 'work' });
    s.add(`chat${String(i)}`, { type: 'chat' });
  }
  s.advance(2_000);
  const times = (type: string): number[] => starts(s).flatMap(([id, at]) => (id.startsWith(type) ? [at] : []));
  expect(times('mail')).toEqual([0, 500, 1_000]);
  expect(times('work')).toEqual([0, 0, 1_000]);
  expect(times('chat')).toEqual([0, 0, 1_000]);
});

test('C6.3 C6.6 a type that was given no rate has none, whatever * says, over a restart too', () => {
  const s = sim({ slots: 99 });
  rate(s, '*', { rate: 1, perMs: 1_000, burst: 1 }, 'type');
  rate(s, 'vip', undefined, 'type');
  const add = (from: number): void => {
    for (let i = from; i < from + 3; i += 1) for (const type of ['vip', 'other']) s.add(`${type}${i}`, { type });
  };
  add(0);
  expect(s.running()).toEqual(['vip0#1', 'other0#1', 'vip1#1', 'vip2#1']);
  restart(s);
  add(3);
  expect(s.running().filter((name) => name.startsWith('vip'))).toHaveLength(6);
  rate(s, '*', undefined, 'type');
  expect(s.running()).toHaveLength(12);
});

test('C6.3 C6.5 what costs more than the burst is refused with both numbers, and a burst below one for a type too', () => {
  const s = sim();
  rate(s, 'api', { rate: 100, perMs: 1_000, burst: 5 });
  expect(() => s.add('greedy', { needs: { api: 6 } })).toThrow(
    expect.objectContaining({ code: 'UNSCHEDULABLE', resource: 'api', need: 6, capacity: 5 }),
  );
  expect(s.core.state.table.size).toBe(0);
  const good = { rate: 1, perMs: 1_000, burst: 1 };
  for (const [field, wrong] of [
    ['rate', { ...good, rate: 0 }],
    ['rate', { ...good, rate: NaN }],
    ['per', { ...good, perMs: -1 }],
    ['burst', { ...good, burst: Infinity }],
  ] as const) {
    expect(() => {
      rate(s, 'api', wrong);
    }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field: `resources.api.${field}` }));
  }
  expect(() => {
    rate(s, 'mail', { ...good, burst: 0.5 }, 'type');
  }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field: 'limits.perType.mail.burst', value: 0.5 }));
  expect(s.add('fits', { needs: { api: 5 } }).state).toBe('ready');
});

test('C6.3 what waits for tokens names the moment only where tokens are all that is missing', () => {
  const s = sim({ slots: 1 });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
  rate(s, 'api', { rate: 1, perMs: 1_000, burst: 1 });
  s.add('a', { needs: { api: 1 } });
  s.add('b', { needs: { api: 1 } });
  // There is no slot: its end will be followed by a claim anyway.
  expect(s.core.nextWakeAt().mono).toBe(Infinity);
  s.complete('a');
  expect(s.core.nextWakeAt().mono).toBe(1_000);
  s.cancel('b');
  s.worker('local', { slots: 9 });
  s.add('holder', { needs: { gpu: 1 } });
  s.add('c', { needs: { api: 1, gpu: 1 } });
  expect(s.core.nextWakeAt().mono).toBe(Infinity);
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
  expect(s.core.nextWakeAt().mono).toBe(1_000);
  s.send({ kind: 'pauseChannel', channel: 'default' });
  expect(s.core.nextWakeAt().mono).toBe(Infinity);
  s.send({ kind: 'resumeChannel', channel: 'default' });
  s.advance(1_000);
  expect(s.running()).toEqual(['holder#1', 'c#1']);
});

test.each(['fifo', 'lifo', 'priority', 'deadline', 'fair', 'weighted-random', 'critical-path'] as const)(
  'C6.3 G10 under %s whatever waits for tokens alone starts as soon as there are enough',
  (strategy) => {
    const s = sim({ slots: 99, strategy });
    rate(s, 'api', { rate: 1, perMs: 100, burst: 4 });
    s.add('first', { needs: { api: 4 } });
    s.add('three', { needs: { api: 3 }, channel: 'x' });
    s.add('two', { needs: { api: 2 }, channel: 'y' });
    s.send({ kind: 'setLimit', scope: 'channel', key: 'z', limit: 0 });
    s.add('closed', { needs: { api: 1 }, channel: 'z' });
    expect(s.core.nextWakeAt().mono).toBe(200);
    s.advance(200);
    expect(s.running()).toEqual(['first#1', 'two#1']);
    expect(s.core.nextWakeAt().mono).toBe(500);
    s.advance(300);
    expect(s.running()).toEqual(['first#1', 'three#1', 'two#1']);
  },
);

test('C6.6 a rate can be changed while tasks wait: what was spent stays spent', () => {
  const s = sim({ slots: 99 });
  rate(s, 'api', { rate: 1, perMs: 1_000, burst: 2 });
  for (let i = 0; i < 9; i += 1) s.add(`t${String(i)}`, { needs: { api: 1 } });
  expect(s.running()).toHaveLength(2);
  rate(s, 'api', { rate: 1, perMs: 1_000, burst: 4 });
  expect(s.running()).toHaveLength(4);
  rate(s, 'api', { rate: 10, perMs: 1_000, burst: 1 });
  // Four of one are spent: three of them are a debt.
  expect(s.core.nextWakeAt().mono).toBe(400);
  s.advance(400);
  expect(s.running()).toHaveLength(5);
  rate(s, 'api', undefined);
  expect(s.running()).toHaveLength(9);
});

test('C6.3 F9 tokens are the same after a restart, and so is the moment', () => {
  const runs = [false, true].map((restarts) => {
    const s = sim({ slots: 99 });
    rate(s, 'api', { rate: 1, perMs: 700, burst: 2 });
    rate(s, '*', { rate: 3, perMs: 1_000, burst: 2 }, 'type');
    for (let i = 0; i < 4; i += 1) s.add(`t${String(i)}`, { needs: { api: 1 }, type: 'call' });
    for (let i = 0; i < 4; i += 1) s.add(`w${String(i)}`, { type: 'work' });
    for (const wait of [100, 300, 300, 5_000]) {
      s.advance(wait);
      const before = s.core.nextWakeAt();
      if (restarts) restart(s);
      expect(s.core.nextWakeAt()).toEqual(before);
    }
    return starts(s).map(([, at]) => at);
  });
  expect(runs[1]).toEqual(runs[0]);
  expect(runs[0]).toEqual([0, 0, 0, 0, 334, 667, 700, 1_400]);
});

test('C13.1 a task that waits for tokens says how many there are, and when there are enough', () => {
  const s = sim({ slots: 9 });
  rate(s, 'api', { rate: 2, perMs: 1_000, burst: 5 });
  s.add('a', { needs: { api: 4 } });
  s.add('b', { needs: { api: 3 } });
  s.advance(250);
  const explanation = s.core.explain('b');
  expect(explanation).toMatchObject({
    kind: 'ready',
    obstacles: [{ kind: 'rate', scope: 'resource', key: 'api', cost: 3, tokens: 1.5, remainingMs: 750 }],
  });
  expect(describeExplanation(explanation)).toContain('costs 3 of the rate of resource "api"');
});

const step = fc.record({ wait: fc.nat(400), cost: fc.constantFrom(0.1, 0.25, 1, 2, 3.3), cancel: fc.nat(9) });

test('C6.3 G7 G10 in any stretch of time no more than burst + rate * t is granted, and nothing that fits is left waiting', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.record({
        rate: fc.constantFrom(1, 3, 7.5),
        perMs: fc.constantFrom(100, 333, 1_000),
        burst: fc.constantFrom(3.3, 5),
      }),
      (steps, limit) => {
        const s = sim({ slots: 99 });
        rate(s, 'api', limit);
        const costs = new Map<string, number>();
        for (const [i, { wait, cost, cancel }] of steps.entries()) {
          costs.set(`t${String(i)}`, cost);
          s.add(`t${String(i)}`, { needs: { api: cost } });
          const [first] = s.running();
          if (first !== undefined && cancel === 0) s.complete(first);
          s.advance(wait);
        }
        s.advance(1e6);
        expect(s.core.state.index.size).toBe(0);
        const granted = starts(s);
        for (let from = 0; from < granted.length; from += 1) {
          let sum = 0;
          for (const [id, at] of granted.slice(from)) {
            sum += costs.get(id) as number;
            const stretchMs = at - (granted[from] as [string, number])[1];
            expect(sum).toBeLessThanOrEqual(limit.burst + (limit.rate * stretchMs) / limit.perMs + 1e-6);
          }
        }
      },
    ),
  );
});

test('C6.3 a million starts later the bucket is still exact', () => {
  const s = sim({ slots: 1, check: false, retain: { count: 0, ageMs: 0 } });
  rate(s, 'api', { rate: 3, perMs: 1_000, burst: 2 });
  const flow = s.core.state.resources.flowOf('api');
  const clock = s.core.state as { mono: number };
  for (let i = 0; i < 1_000_000; i += 1) {
    clock.mono = flow.soonest(1);
    flow.take(1);
  }
  // Two start at once and each further one a third of a second after the one before, on the next whole millisecond.
  expect(clock.mono).toBe(Math.ceil((999_998 * 1_000) / 3));
});

test('C6.3 C12.1 an attempt that goes on after a wait has paid its tokens, and neither waits for new ones nor takes any', () => {
  const s = sim({ slots: 9 });
  rate(s, 'api', { rate: 1, perMs: 1_000, burst: 1 });
  rate(s, 'parent', { rate: 1, perMs: 60_000, burst: 1 }, 'type');
  s.add('parent', { type: 'parent', needs: { api: 1 }, yieldable: ['api'] });
  s.add('child');
  s.waitFor('parent', 'child');
  s.complete('child');
  expect(s.running()).toEqual(['parent#1']);
  s.add('next', { needs: { api: 1 } });
  s.advance(1_000);
  expect(s.running()).toEqual(['parent#1', 'next#1']);
});

test('C6.3 C6.6 a scheduler starts what waits for tokens when there are enough, and its timer keeps the process alive', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, resources: { api: { rate: 60, per: '1m', burst: 1 } } });
  const startedAt: number[] = [];
  const origin = clock.now().mono;
  const call = (): void => {
    startedAt.push(clock.now().mono - origin);
  };
  for (let i = 0; i < 4; i += 1) scheduler.add(call, { needs: { api: 1 } });
  await clock.settle();
  expect(clock.timers).toEqual([{ waitMs: 1_000, keepsAlive: true }]);
  await clock.advance('1s');
  scheduler.setCapacity('api', { rate: 2, burst: 1 });
  await clock.advance('10s');
  expect(startedAt).toEqual([0, 1_000, 1_500, 2_000]);
  expect(clock.timers).toEqual([]);
  expect(() => {
    scheduler.setCapacity('api', { rate: -1 });
  }).toThrow(/resources\.api\.rate.*-1/);
  await scheduler.close();
});
