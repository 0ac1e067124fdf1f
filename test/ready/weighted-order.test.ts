import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Task } from '../../src/model/index.js';
import { Channel, type Place } from '../../src/ready/index.js';
import { WeightedOrder } from '../../src/ready/weighted-order.js';
import { at, compareKeys, nth, placeOf, shapeOf, taskMaker } from './ranked.js';

const level = fc.constantFrom(-1, 0, 0.5, 1, 2, 3, 10, 100);
const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('insert' as const), place: nth, level }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), which: nth }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rekey' as const), which: nth, level }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('limit' as const), place: nth, limit: fc.constantFrom(0, Infinity) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), place: nth }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('draw' as const), x: draw, unmatched: fc.constantFrom('', '', 'q', 'z') }),
  },
);

test('A7.1 a draw finds the task in whose stretch of the summed weights it falls, by shape, channel, level and sequence', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100, size: 'max' }), (steps) => {
      const make = taskMaker();
      const weightOf = (of: number): number => 1 / Math.max(of, 0.5);
      let next = 0;
      const order = new WeightedOrder(weightOf, () => next);
      const channels = ['b', 'a', 'c'].map((name) => new Channel(name));
      // Made in another order than that of their keys.
      const places = ['z', '', 'q'].flatMap((key, index) => {
        const shape = shapeOf(index, key);
        return channels.map((channel, offset) => placeOf(index * 3 + offset, shape, channel));
      });
      const held = new Map<Task, Place>();
      for (const each of steps) {
        if (each.kind === 'insert') {
          const place = at(places, each.place) as Place;
          const task = make(0, place.channel.name, each.level);
          held.set(task, place);
          order.insert(task, place);
        } else if (each.kind === 'draw') {
          next = each.x;
          const matches = (shape: { key: string }): boolean => each.unmatched === '' || shape.key !== each.unmatched;
          const found = order.best({ mono: 0, window: 0, matches });
          const eligible = [...held].filter(([, { shape, channel }]) => matches(shape) && channel.isOpen());
          expect(found === undefined ? [] : [found.sequence]).toEqual(allowed(eligible, each.x, weightOf, found));
        } else if (each.kind === 'limit') {
          const { channel } = at(places, each.place) as Place;
          channel.limit.capacity = each.limit;
          if (channel.isOpen()) order.channelOpened(channel);
          else order.channelClosed(channel);
        } else if (each.kind === 'forget') {
          const place = at(places, each.place) as Place;
          order.dropPlace(place);
          for (const [task, its] of held) if (its === place) held.delete(task);
        } else {
          const [task, place] = at([...held], each.which) ?? [];
          if (task === undefined || place === undefined) continue;
          if (each.kind === 'remove') {
            held.delete(task);
            order.remove(task, place);
          } else {
            const before = task.urgency;
            task.urgency = each.level;
            order.rekey(task, place, before);
          }
        }
        expect(order.entries).toBe(held.size);
        expect(new Set(order.tasks())).toEqual(new Set(held.keys()));
      }
    }),
  );
});

/** The task found, if its stretch holds the draw give or take rounding; otherwise the one that should have been. */
function allowed(
  eligible: readonly (readonly [Task, Place])[],
  x: number,
  weightOf: (level: number) => number,
  found: Task | undefined,
): number[] {
  const keyOf = ([task, { shape, channel }]: readonly [Task, Place]) => [
    shape.key,
    channel.name,
    task.urgency,
    task.sequence,
  ];
  const tasks = eligible.toSorted((one, other) => compareKeys(keyOf(one), keyOf(other))).map(([task]) => task);
  const total = tasks.reduce((sum, task) => sum + weightOf(task.urgency), 0);
  let from = 0;
  const holding = tasks.filter((task) => {
    const to = from + weightOf(task.urgency);
    const holds = x * total >= from - total * 1e-9 && x * total <= to + total * 1e-9;
    from = to;
    return holds;
  });
  const expected = found !== undefined && holding.includes(found) ? found : holding[0];
  return expected === undefined ? [] : [expected.sequence];
}
