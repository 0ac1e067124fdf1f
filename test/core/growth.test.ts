import { describe, expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { Retention } from '../../src/core/retention.js';
import { Task, parseTaskOptions } from '../../src/model/index.js';
import { LaneOrder } from '../../src/ready/lane-order.js';
import { sim, type Sim } from '../../src/testing/index.js';

/** Runs so many urgent tasks, one by one, each of a type of its own. */
function runTypes(s: Sim, count: number, name: string): void {
  for (let i = 0; i < count; i += 1) {
    const id = `${name}${String(i)}`;
    s.add(id, { type: id, priority: 0 });
    s.complete(s.claim(1)[0] as string);
  }
}

function accountsOf(s: Sim): number {
  return [...s.core.state.index.turns.all()].reduce((sum, { channels }) => sum + channels.size, 0);
}

/** How many shapes an order looks at in one claim. */
function shapesSeen(s: Sim): number {
  const { index } = s.core.state;
  let seen = 0;
  index.best(index.main, 0, () => {
    seen += 1;
    return true;
  });
  return seen;
}

describe('accounts', () => {
  test.each(['turns', 'time'] as const)('G14 channels that are used once leave few accounts, paid by %s', (charge) => {
    const s = sim({ strategy: 'fair', charge, check: false });
    for (let i = 0; i < 6_000; i += 1) s.add(`t${String(i)}`, { channel: `c${String(i)}` });
    const ids = s.claim(6_000);
    expect(ids).toHaveLength(6_000);
    // What they took is still to be charged, so that none may be dropped.
    if (charge === 'time') expect(accountsOf(s)).toBe(6_000);
    s.advance(5);
    for (const id of ids) s.complete(id);
    expect(accountsOf(s)).toBeLessThanOrEqual(2_048);
    s.core.check();
  });

  test('G14 a restart changes nothing about which accounts are dropped, and when', () => {
    const s = sim({ strategy: 'fair', check: false });
    const add = (from: number, to: number): void => {
      for (let i = from; i < to; i += 1) {
        s.add(`t${String(i)}`, { channel: `c${String((i * 7_919) % 10_007)}` });
        // Accounts that say nothing are not in a snapshot.
        if (i % 3 === 0) s.cancel(`t${String(i)}`);
      }
      for (const id of s.claim(to - from)) s.complete(id);
    };
    add(0, 2_900);
    const other = sim({ check: false });
    other.core = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as ReturnType<Core['snapshot']>);
    const before = accountsOf(s);
    expect(accountsOf(other)).toBe(before);
    for (const each of [s, other]) {
      for (let i = 0; i < 400; i += 1) each.add(`u${String(i)}`, { channel: `d${String(i)}` });
      for (const id of each.claim(400)) each.complete(id);
    }
    expect(accountsOf(s)).toBeLessThan(before);
    expect(other.core.state.index.turns.save()).toEqual(s.core.state.index.turns.save());
  });

  test('G14 D9 an account whose channel was forgotten follows the weight that is set meanwhile', () => {
    const s = sim({ strategy: 'fair', check: false });
    s.send({ kind: 'setWeight', channel: 'a', weight: 4 });
    s.add('a0', { channel: 'a' });
    s.complete(s.claim(1)[0] as string);
    // So many other channels that the first one is forgotten; its account at this level is not.
    for (let i = 0; i < 1_500; i += 1) {
      s.add(`x${String(i)}`, { channel: `x${String(i)}`, priority: 1 });
      s.complete(s.claim(1)[0] as string);
    }
    expect(s.core.state.places.knownChannel('a')).toBeUndefined();
    s.send({ kind: 'setWeight', channel: 'a', weight: 1 });
    for (let i = 0; i < 6; i += 1) for (const c of ['a', 'b']) s.add(`${c}x${String(i)}`, { channel: c });
    expect(
      s
        .drain()
        .map((id) => id.charAt(0))
        .join(''),
    ).toBe('abababababab');
    expect(s.core.state.places.knownChannel('x0')).toBeUndefined();
  });
});

describe('types', () => {
  test.each(['priority', 'fair', 'weighted-random', 'critical-path'] as const)(
    'G14 types that are used once leave little behind under %s',
    (strategy) => {
      const s = sim({ strategy, check: false, retain: { count: 10, ageMs: Infinity } });
      runTypes(s, 5_000, 'type');
      const { means, resources, places } = s.core.state;
      expect(means.size).toBe(4_096);
      expect([...means.keys()].at(-1)).toBe('type4999');
      expect([...places.allShapes()].length).toBeLessThanOrEqual(1_100);
      expect([...resources.allPools()].length).toBeLessThanOrEqual(1_100);
      expect(shapesSeen(s)).toBeLessThanOrEqual(1_100);
      s.core.check();
    },
  );

  test('G14 a limit outlives the last task of its type, and what runs counts for a type that comes back', () => {
    const s = sim({ check: false });
    s.send({ kind: 'setLimit', scope: 'type', key: 'rare', limit: 1 });
    s.send({ kind: 'setCapacity', resource: 'r', units: 9 });
    s.add('plain', { type: 'rare' });
    s.claim(1);
    // The type has two shapes; one of them is forgotten while the other runs.
    s.add('rich', { type: 'rare', needs: { r: 1 } });
    s.cancel('rich');
    runTypes(s, 1_500, 'type');
    s.add('rich again', { type: 'rare', needs: { r: 1 } });
    expect(s.claim(1)).toEqual([]);
    s.complete('plain');
    runTypes(s, 1_500, 'other');
    s.add('next', { type: 'rare' });
    expect(s.claim(9)).toEqual(['rich again']);
    s.core.check();
  });
});

test('G14 a channel that is paused and resumed without tasks is forgotten', () => {
  const s = sim();
  s.send({ kind: 'resumeChannel', channel: 'never paused' });
  s.send({ kind: 'pauseChannel', channel: 'a' });
  expect([...s.core.state.places.allChannels()].map(({ name }) => name)).toEqual(['a']);
  s.send({ kind: 'resumeChannel', channel: 'a' });
  expect([...s.core.state.places.allChannels()]).toEqual([]);
  s.send({ kind: 'pauseChannel', channel: 'b' });
  s.add('b', { channel: 'b' });
  s.send({ kind: 'resumeChannel', channel: 'b' });
  expect(s.claim(1)).toEqual(['b']);
});

test('G14 a channel that stays closed keeps nothing of the tasks that have left it', () => {
  const s = sim({ check: false });
  s.send({ kind: 'setLimit', scope: 'channel', key: '*', limit: 0 });
  for (let i = 0; i < 4_000; i += 1) {
    const id = `t${String(i)}`;
    s.add(id, { channel: `c${String(i % 2_000)}`, type: `y${String(i)}` });
    expect(s.claim(1)).toEqual([]);
    s.cancel(id);
  }
  for (const order of s.core.state.index.main.orders()) {
    expect(order).toBeInstanceOf(LaneOrder);
    const parked = Reflect.get(order, 'parked') as ReadonlyMap<string, { readonly size: number }>;
    expect([...parked.values()].reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(1_100);
  }
});

test('G14 F5.1 a replay does not gather the tasks that it forgets', () => {
  const retention = new Retention(
    { count: 10, ageMs: Infinity },
    () => false,
    () => undefined,
    () => undefined,
  );
  retention.replaying = true;
  const tasks = Array.from({ length: 20_000 }, (_, i) => {
    return new Task(i + 1, parseTaskOptions(undefined, ''), undefined, i);
  });
  for (const [i, task] of tasks.entries()) {
    retention.keep(task, i);
    if (i >= 10) retention.release(tasks[i - 10] as Task);
  }
  expect([...retention.kept()].map(([task]) => task)).toEqual(tasks.slice(-10));
  expect((Reflect.get(retention, 'tasks') as readonly Task[]).length).toBeLessThanOrEqual(2_048);
});
