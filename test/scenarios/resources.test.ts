import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sim, type Sim, type SimTaskOptions } from '../../src/testing/index.js';

function capacity(s: Sim, resource: string, units: number): void {
  s.send({ kind: 'setCapacity', resource, units });
}

function limit(s: Sim, scope: 'global' | 'type' | 'channel', key: string, most: number): void {
  s.send({ kind: 'setLimit', scope, key, limit: most });
}

/** Units held of a named resource. */
function held(s: Sim, resource: string): number | undefined {
  return s.core.state.resources.pools.get(resource)?.held;
}

test('C6.1 an attempt holds its units of every pool from its start until it settles', () => {
  const s = sim({ slots: 10 });
  capacity(s, 'cpu', 4);
  capacity(s, 'memory', 1.5);
  s.add('a', { needs: { cpu: 3, memory: 0.5 } });
  s.add('b', { needs: { cpu: 2 } });
  s.add('c', { needs: { memory: 0.75, cpu: 1 } });
  s.add('d', { needs: { memory: 0.5 } });
  expect(s.running()).toEqual(['a#1', 'c#1']);
  expect([held(s, 'cpu'), held(s, 'memory')]).toEqual([4, 1.25]);
  s.complete('c#1');
  expect(s.running()).toEqual(['a#1', 'd#1']);
  s.fail('a#1');
  expect(s.running()).toEqual(['b#1', 'd#1']);
  s.complete('b#1');
  s.complete('d#1');
  expect([held(s, 'cpu'), held(s, 'memory')]).toEqual([0, 0]);
});

test('C6.1 a semaphore is a pool of which each task takes one, and slots are counted in the same way', () => {
  const s = sim({ slots: 3 });
  capacity(s, 'door', 2);
  for (const id of ['a', 'b', 'c']) s.add(id, { needs: { door: 1 } });
  s.add('d');
  s.add('e');
  expect(s.running()).toEqual(['a#1', 'b#1', 'd#1']);
  s.complete('d#1');
  expect(s.running()).toEqual(['a#1', 'b#1', 'e#1']);
});

test('C6.2 limits per type, per channel and over all: the tightest decides', () => {
  const s = sim({ slots: 100 });
  limit(s, 'global', '', 4);
  limit(s, 'type', 'mail', 2);
  limit(s, 'channel', 'A', 1);
  limit(s, 'channel', '*', 3);
  for (const id of ['m1', 'm2', 'm3']) s.add(id, { type: 'mail', channel: 'M' });
  for (const id of ['a1', 'a2']) s.add(id, { type: 'work', channel: 'A' });
  for (const id of ['b1', 'b2']) s.add(id, { type: 'work', channel: 'B' });
  expect(s.running()).toEqual(['m1#1', 'm2#1', 'a1#1', 'b1#1']);
  s.complete('a1#1');
  expect(s.running()).toEqual(['m1#1', 'm2#1', 'a2#1', 'b1#1']);
  s.complete('m2#1');
  expect(s.running()).toEqual(['m1#1', 'm3#1', 'a2#1', 'b1#1']);
});

test('C6.4 row 31 raising a limit starts at once what now fits, lowering one aborts nothing and starts nothing more', () => {
  const s = sim({ slots: 100 });
  capacity(s, 'gpu', 2);
  for (let i = 1; i <= 6; i += 1) s.add(`g${String(i)}`, { needs: { gpu: 1 } });
  expect(s.running()).toEqual(['g1#1', 'g2#1']);
  capacity(s, 'gpu', 4);
  expect(s.running()).toEqual(['g1#1', 'g2#1', 'g3#1', 'g4#1']);
  capacity(s, 'gpu', 1);
  expect(s.core.outbox.aborted).toEqual([]);
  for (const id of ['g1', 'g2', 'g3']) {
    s.complete(id);
    expect(s.running()).not.toContain('g5#1');
  }
  s.complete('g4');
  expect(s.running()).toEqual(['g5#1']);
});

test.each(['global', 'type', 'channel'] as const)('C6.4 the %s limit can be changed while tasks wait', (scope) => {
  const s = sim({ slots: 100 });
  const key = { global: '', type: 'work', channel: 'A' }[scope];
  limit(s, scope, key, 1);
  for (let i = 1; i <= 5; i += 1) s.add(`w${String(i)}`, { type: 'work', channel: 'A' });
  expect(s.running()).toEqual(['w1#1']);
  limit(s, scope, key, 3);
  expect(s.running()).toEqual(['w1#1', 'w2#1', 'w3#1']);
  limit(s, scope, key, 0);
  for (const id of ['w1', 'w2', 'w3']) s.complete(id);
  expect(s.running()).toEqual([]);
  limit(s, scope, key, Infinity);
  expect(s.running()).toEqual(['w4#1', 'w5#1']);
});

test('C6.5 row 31 a need above the whole capacity is refused with both numbers, and nothing changes', () => {
  const s = sim();
  capacity(s, 'gpu', 2);
  s.add('fits', { needs: { gpu: 2 } });
  const refuse = (needs: Record<string, number>): unknown => {
    try {
      s.add('greedy', { needs });
    } catch (error) {
      return error;
    }
    return 'accepted';
  };
  expect(refuse({ gpu: 2.5 })).toMatchObject({ code: 'UNSCHEDULABLE', resource: 'gpu', need: 2.5, capacity: 2 });
  // Of a resource that nobody has set up there is nothing: more likely a wrong name than a need too large.
  expect(refuse({ tpu: 1 })).toMatchObject({ code: 'UNSCHEDULABLE', resource: 'tpu', need: 1, capacity: 0 });
  expect(refuse({ tpu: 1 })).toHaveProperty(
    'message',
    expect.stringContaining('no resource; known are "gpu". Correct'),
  );
  expect(refuse({ gpu: 3 })).toHaveProperty('message', expect.stringContaining('the capacity is 2. Lower the need'));
  for (const amount of [-1, NaN, Infinity]) expect(refuse({ gpu: amount })).toMatchObject({ code: 'INVALID_TASK' });
  expect(() => {
    s.repeat('series', { every: '1s', needs: { gpu: 3 } });
  }).toThrow(expect.objectContaining({ code: 'UNSCHEDULABLE' }));
  expect(s.core.state.table.size).toBe(1);
  expect(s.core.state.series.size).toBe(0);
  capacity(s, 'gpu', 3);
  expect(refuse({ gpu: 2.5 })).toBe('accepted');
});

test('C6.5 a capacity, limit or weight that is no number is refused and leaves the one in force', () => {
  const s = sim({ slots: 9 });
  capacity(s, 'gpu', 1);
  limit(s, 'channel', 'A', 1);
  for (const units of [-1, NaN, '5' as unknown as number]) {
    expect(() => {
      capacity(s, 'gpu', units);
    }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field: 'resources.gpu' }));
    expect(() => {
      limit(s, 'channel', 'A', units);
    }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field: 'limits.perChannel.A' }));
  }
  for (const weight of [0, -1, NaN, Infinity]) {
    expect(() => s.send({ kind: 'setWeight', channel: 'A', weight })).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG' }),
    );
  }
  for (const id of ['a', 'b']) s.add(id, { channel: 'A', needs: { gpu: 1 } });
  expect(s.running()).toEqual(['a#1']);
});

test('C7.1 a blocked head does not block the rest, and goes first once it fits', () => {
  const s = sim({ slots: 3 });
  capacity(s, 'gpu', 1);
  s.add('holder', { needs: { gpu: 1 } });
  s.add('blocked', { needs: { gpu: 1 }, priority: 'critical' });
  s.add('x', { priority: 'low' });
  s.add('y', { priority: 'idle' });
  expect(s.running()).toEqual(['holder#1', 'x#1', 'y#1']);
  s.complete('holder#1');
  expect(s.running()).toEqual(['blocked#1', 'x#1', 'y#1']);
});

test('C7.1 a full channel or type holds up only its own tasks', () => {
  const s = sim({ slots: 10 });
  limit(s, 'channel', 'A', 1);
  limit(s, 'type', 'slow', 1);
  s.add('a1', { channel: 'A' });
  s.add('a2', { channel: 'A', priority: 'critical' });
  s.add('s1', { type: 'slow', channel: 'B' });
  s.add('s2', { type: 'slow', channel: 'B', priority: 'critical' });
  s.add('free', { channel: 'B', priority: 'idle' });
  expect(s.running()).toEqual(['a1#1', 's1#1', 'free#1']);
});

interface Step {
  readonly act: 'add' | 'settle' | 'capacity' | 'limit' | 'pause' | 'resume';
  readonly channel: string;
  readonly type: string;
  readonly cpu: number;
  readonly level: number;
  readonly amount: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  act: fc.constantFrom('add', 'add', 'add', 'settle', 'settle', 'capacity', 'limit', 'pause', 'resume'),
  channel: fc.constantFrom('A', 'B'),
  type: fc.constantFrom('x', 'y'),
  cpu: fc.nat(3),
  level: fc.nat(3),
  amount: fc.integer({ min: 3, max: 6 }),
});

test('C7.1 G7 G10 whatever happens, no limit is passed by a start and nothing that fits is left beside a free slot', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom('priority' as const, 'fifo' as const, 'fair' as const, 'weighted-random' as const),
      (steps, strategy) => {
        const slots = 4;
        const s = sim({ slots, strategy });
        const most = { cpu: 5, A: Infinity, x: Infinity };
        const paused = new Set<string>();
        capacity(s, 'cpu', most.cpu);
        const uses = (tasks: readonly { channel: string; type: string; cpu: number }[]) => ({
          cpu: tasks.reduce((sum, task) => sum + task.cpu, 0),
          A: tasks.filter((task) => task.channel === 'A').length,
          x: tasks.filter((task) => task.type === 'x').length,
          slots: tasks.length,
        });
        const known = new Map<string, { channel: string; type: string; cpu: number }>();
        const runningTasks = () => s.running().map((name) => known.get(name.slice(0, name.indexOf('#'))) as Step);
        let before = uses([]);
        steps.forEach(({ act, channel, type, cpu, level, amount }, i) => {
          if (act === 'add') {
            const options: SimTaskOptions = { channel, type, priority: level, ...(cpu > 0 ? { needs: { cpu } } : {}) };
            known.set(`t${String(i)}`, { channel, type, cpu });
            s.add(`t${String(i)}`, options);
          } else if (act === 'settle') {
            const [first] = s.running();
            if (first !== undefined) s.complete(first);
          } else if (act === 'capacity') {
            most.cpu = amount;
            capacity(s, 'cpu', amount);
          } else if (act === 'limit') {
            most.A = amount - 2;
            most.x = amount - 3;
            limit(s, 'channel', 'A', most.A);
            limit(s, 'type', 'x', most.x);
          } else {
            s.send({ kind: act === 'pause' ? 'pauseChannel' : 'resumeChannel', channel });
            if (act === 'pause') paused.add(channel);
            else paused.delete(channel);
          }
          const now = uses(runningTasks());
          // Above a limit there can only be what was there before the limit was lowered.
          for (const key of ['cpu', 'A', 'x'] as const) {
            expect(now[key] <= most[key] || now[key] <= before[key]).toBe(true);
          }
          expect(now.slots).toBeLessThanOrEqual(slots);
          expect(held(s, 'cpu')).toBe(now.cpu);
          before = now;
          if (now.slots === slots) return;
          for (const task of s.core.state.table.all()) {
            if (task.state !== 'ready' || paused.has(task.spec.channel)) continue;
            const one = known.get(task.id) as Step;
            const fits =
              now.cpu + one.cpu <= Math.max(most.cpu, one.cpu === 0 ? now.cpu : 0) &&
              (one.channel !== 'A' || now.A < most.A) &&
              (one.type !== 'x' || now.x < most.x);
            expect(fits, `${task.id} is left beside a free slot`).toBe(false);
          }
        });
      },
    ),
  );
});
