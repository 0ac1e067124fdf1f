import { expect, test } from 'vitest';
import { Core, type Strategy } from '../../src/core/index.js';
import { sim, type Sim, type SimOptions } from '../../src/testing/index.js';

/** Tasks of one shape; two of ten units are free. */
function busy(options: SimOptions = {}): Sim {
  const s = sim(options);
  s.send({ kind: 'setCapacity', resource: 'cpu', units: 10 });
  s.add('holder', { needs: { cpu: 8 } });
  expect(s.claim()).toEqual(['holder']);
  return s;
}

test('C7.3 tasks of one shape may need different amounts: the best-ranked one that fits starts', () => {
  const s = busy({ slots: 0 });
  s.add('large', { priority: 'critical', needs: { cpu: 5 } });
  s.add('small', { priority: 'low', needs: { cpu: 2 } });
  s.add('medium', { priority: 'high', needs: { cpu: 3 } });
  s.add('tiny', { priority: 'low', needs: { cpu: 0.5 } });
  expect(new Set([...s.core.state.places.allShapes()].map((shape) => shape.key)).size).toBe(1);
  expect(s.claim(9)).toEqual(['small']);
  expect(s.claim()).toEqual([]);
  s.complete('holder');
  expect(s.claim(9)).toEqual(['large', 'medium']);
  s.complete('small');
  expect(s.claim(9)).toEqual(['tiny']);
});

test('C7.3 a channel whose best task does not fit competes with the best that does', () => {
  const s = busy();
  s.add('a-large', { channel: 'a', priority: 'critical', needs: { cpu: 5 } });
  s.add('a-fits', { channel: 'a', priority: 'low', needs: { cpu: 2 } });
  s.add('b-fits', { channel: 'b', priority: 'normal', needs: { cpu: 1 } });
  s.add('c-fits', { channel: 'c', priority: 'high', needs: { cpu: 0.5 } });
  expect(s.claim(2)).toEqual(['c-fits', 'b-fits']);
});

test.each(['fifo', 'lifo', 'priority', 'deadline', 'fair', 'weighted-random', 'critical-path'] as const)(
  'C7.3 G10 under %s whatever fits beside a blocked one of its shape starts, and nothing that does not fit',
  (strategy) => {
    const s = busy({ strategy });
    for (let i = 0; i < 20; i += 1) {
      s.add(`large${String(i)}`, { needs: { cpu: 3 + i / 4 }, channel: `c${String(i % 3)}`, priority: i % 2 });
    }
    for (const id of ['x', 'y']) s.add(id, { needs: { cpu: 1 }, priority: 'idle', channel: 'c1' });
    expect(s.claim(9).sort()).toEqual(['x', 'y']);
    s.complete('x');
    expect(s.claim(9)).toEqual([]);
    s.complete('y');
    s.complete('holder');
    for (const id of s.drain()) expect(id).toMatch(/^large/);
    expect(s.core.state.index.size).toBe(0);
  },
);

test('C7.3 a task of several resources starts when all of its own amounts fit', () => {
  const s = busy();
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 4 });
  s.add('gpus', { needs: { cpu: 0.5, gpu: 3 } });
  expect(s.claim()).toEqual(['gpus']);
  // The smallest of each amount would fit together, but no task needs so little of both.
  for (let i = 0; i < 5; i += 1) s.add(`a${String(i)}`, { needs: { cpu: 4 + i, gpu: 0.5 } });
  for (let i = 0; i < 5; i += 1) s.add(`b${String(i)}`, { needs: { cpu: 0.5, gpu: 2 + i / 4 } });
  expect(s.claim()).toEqual([]);
  s.add('c', { needs: { cpu: 1.5, gpu: 1 } });
  expect(s.claim(9)).toEqual(['c']);
});

test('C7.3 D12.3 a channel whose tasks do not fit now neither holds up the turns nor is owed any', () => {
  const s = busy({ strategy: 'fair' });
  for (let i = 1; i <= 6; i += 1) s.add(`a${String(i)}`, { channel: 'a', needs: { cpu: 4 + i / 10 } });
  for (let i = 1; i <= 9; i += 1) s.add(`b${String(i)}`, { channel: 'b', needs: { cpu: 1 } });
  for (let i = 1; i <= 4; i += 1) {
    expect(s.claim()).toEqual([`b${String(i)}`]);
    s.complete(`b${String(i)}`);
  }
  s.complete('holder');
  expect(s.drain().slice(0, 6)).toEqual(['a1', 'b5', 'a2', 'b6', 'a3', 'b7']);
});

test('C7.3 aging and a capped boost order those that fit', () => {
  const s = busy({ aging: { everyMs: 1_000, maxBoost: 2, maxWaitMs: Infinity } });
  s.add('old', { priority: 4, needs: { cpu: 1.5 } });
  s.add('large', { priority: 1, needs: { cpu: 3 } });
  s.advance(10_000);
  s.add('new', { priority: 2, needs: { cpu: 1 } });
  s.add('newer', { priority: 3, needs: { cpu: 1.2 } });
  s.advance(1_000);
  // By now the boost of the first is capped at two levels, and the others have one.
  expect(s.claim()).toEqual(['new']);
  s.complete('new');
  expect(s.claim()).toEqual(['old']);
  s.complete('old');
  expect(s.claim()).toEqual(['newer']);
});

test("C7.3 a choice of one's own is among the best of each lane that fit", () => {
  const seen: string[][] = [];
  const last: Strategy = {
    name: 'last',
    rank: (task) => task.level,
    choose: (heads) => {
      seen.push(heads.map((head) => head.id));
      return heads.at(-1) as (typeof heads)[number];
    },
    describe: () => 'the last',
  };
  const s = busy({ strategy: last });
  seen.length = 0;
  s.add('a-large', { channel: 'a', priority: 0, needs: { cpu: 9 } });
  s.add('a-fits', { channel: 'a', priority: 3, needs: { cpu: 2 } });
  s.add('b-fits', { channel: 'b', priority: 2, needs: { cpu: 1 } });
  s.add('b-later', { channel: 'b', priority: 4, needs: { cpu: 1.5 } });
  s.add('c-large', { channel: 'c', priority: 0, needs: { cpu: 4 } });
  expect(s.claim()).toEqual(['b-fits']);
  expect(seen).toEqual([['a-fits', 'b-fits']]);
});

test('C7.3 A7.1 by chance, each task that fits has its share, and one that does not has none', () => {
  // Without reservations: the large one would be given one in the end.
  const settings = { retain: { count: 0, ageMs: 0 }, maxBypasses: Infinity, check: false };
  const s = busy({ strategy: 'weighted-random', seed: 7, ...settings });
  const level = new Map([
    ['a', 1],
    ['b', 2],
    ['c', 4],
  ]);
  s.add('large', { priority: 0, needs: { cpu: 5 } });
  for (const [id, priority] of level) s.add(`${id}0`, { priority, needs: { cpu: 0.5 * priority } });
  const drawn = new Map([...level.keys()].map((id) => [id, 0]));
  const draws = 7_000;
  for (let i = 1; i <= draws; i += 1) {
    const [id = ''] = s.claim();
    const kind = id.slice(0, 1);
    const priority = level.get(kind) as number;
    drawn.set(kind, (drawn.get(kind) ?? 0) + 1);
    s.complete(id);
    s.add(`${kind}${String(i)}`, { priority, needs: { cpu: 0.5 * priority } });
  }
  const expected = [4 / 7, 2 / 7, 1 / 7];
  let chiSquare = 0;
  for (const [i, count] of [...drawn.values()].entries()) {
    const share = (expected[i] as number) * draws;
    chiSquare += (count - share) ** 2 / share;
  }
  // With two degrees of freedom more than this comes by chance once in a thousand times.
  expect(chiSquare).toBeLessThan(13.8);
});

test('C7.3 F9 a queue of mixed amounts goes on in the same order after a restart', () => {
  for (const strategy of ['priority', 'fair', 'weighted-random'] as const) {
    const orders = [false, true].map((restarts) => {
      const s = busy({ strategy, seed: 3 });
      for (let i = 0; i < 40; i += 1) {
        s.add(`t${String(i)}`, { channel: `c${String(i % 4)}`, priority: i % 3, needs: { cpu: 0.5 + (i % 7) } });
      }
      const order = [...s.claim(2)];
      if (restarts) s.core = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as never);
      s.complete('holder');
      return [...order, ...s.drain()];
    });
    expect(orders[1]).toEqual(orders[0]);
  }
});

test('C7.3 a task that comes back in a later window is found, though what it left behind has the same rank', () => {
  const s = sim({ aging: { everyMs: 1_000, maxBoost: 0, maxWaitMs: Infinity } });
  s.send({ kind: 'setCapacity', resource: 'cpu', units: 2 });
  s.add('other', { needs: { cpu: 1 }, channel: 'x' });
  s.send({ kind: 'pauseChannel', channel: 'x' });
  // The first entry stays behind as the best of its lane: nothing asks for it again before the task is back.
  s.add('a', { needs: { cpu: 2 } });
  expect(s.claim()).toEqual(['a']);
  s.advance(5_000);
  s.send({ kind: 'release', task: 'a', token: { epoch: 1, attempt: 1 } });
  expect(s.claim()).toEqual(['a']);
});

test('C7.3 a task that is as urgent in another way is found, though what it left behind has the same key', () => {
  const s = sim({ aging: { everyMs: 1_000, maxBoost: Infinity, maxWaitMs: Infinity } });
  s.send({ kind: 'setCapacity', resource: 'cpu', units: 2 });
  s.add('other', { needs: { cpu: 1 }, channel: 'x' });
  s.send({ kind: 'pauseChannel', channel: 'x' });
  s.add('a', { needs: { cpu: 2 }, priority: 4 });
  expect(s.claim()).toEqual(['a']);
  s.advance(2_000);
  // Two levels more urgent, but two windows later.
  s.send({ kind: 'setPriority', task: 'a', level: 2 });
  s.send({ kind: 'release', task: 'a', token: { epoch: 1, attempt: 1 } });
  expect(s.claim()).toEqual(['a']);
});
