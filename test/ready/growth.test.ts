import { expect, test } from 'vitest';
import { Channel, Turns, type Place } from '../../src/ready/index.js';
import { WeightedOrder } from '../../src/ready/weighted-order.js';
import { placeOf, shapeOf, taskMaker } from './ranked.js';

test('G14 sweeping idle accounts costs a few looks for each account, however many wait or run', () => {
  for (const held of [0, 5_000]) {
    let looks = 0;
    const isHeld = (channel: string): boolean => Number(channel) < held;
    const turns = new Turns(
      { weightOf: () => 1, isHeld },
      () => undefined,
      () => Math.max(1, held),
    );
    const count = 40_000;
    for (let i = 0; i < count; i += 1) turns.join(2, String(i), 0);
    const { channels } = turns.at(2);
    // A sweep goes through the accounts of all channels, those that wait included.
    Object.defineProperty(channels, 'values', {
      value: () => {
        looks += channels.size;
        return Map.prototype.values.call(channels);
      },
    });
    for (let i = 0; i < count; i += 1) {
      turns.leave(2, String(i));
      turns.charge(2, String(i), 1 + (i % 7), 0);
    }
    expect(looks).toBeGreaterThan(0);
    expect(looks).toBeLessThanOrEqual(3 * count);
    expect(channels.size).toBeLessThanOrEqual(2 * (1_024 + Math.max(1, held)) + 1);
    for (let i = 0; i < held; i += 1) expect(channels.has(String(i))).toBe(true);
  }
});

test('G14 the idle accounts that are dropped are those with the smallest pass', () => {
  const turns = new Turns(
    { weightOf: () => 1, isHeld: () => false },
    () => undefined,
    () => 0,
  );
  for (let i = 0; i < 2_049; i += 1) {
    turns.join(2, String(i), 0);
    turns.charge(2, String(i), 5_000 - i, 0);
    turns.leave(2, String(i));
  }
  // The one that has just left stays too: it may be about to be charged.
  const kept = [...turns.at(2).channels.keys()].map(Number);
  expect(kept).toEqual([...Array.from({ length: 1_024 }, (_, i) => i), 2_048]);
});

test('G14 a late correction does not bring a forgotten account back', () => {
  const turns = new Turns(
    { weightOf: () => 1, isHeld: () => false },
    () => undefined,
    () => 0,
  );
  turns.correct(2, 'gone', 5, 1);
  turns.join(2, 'here', 0);
  turns.correct(2, 'gone', 5, 1);
  expect([...turns.all()].map(({ channels }) => [...channels.keys()])).toEqual([['here']]);
});

test('G14 levels that are used once are forgotten without a look at those in use', () => {
  const turns = new Turns(
    { weightOf: () => 1, isHeld: () => false },
    () => undefined,
    () => 0,
  );
  for (let level = 0; level < 5_000; level += 1) turns.join(level, 'a', 0);
  expect([...turns.all()]).toHaveLength(5_000);
  for (let level = 0; level < 5_000; level += 1) turns.leave(level, 'a');
  expect([...turns.all()].length).toBeLessThanOrEqual(1_024);
});

test('G14 an order by chance finds a shape among thousands in a few comparisons', () => {
  const order = new WeightedOrder(
    () => 1,
    () => 0,
  );
  const make = taskMaker();
  const channel = new Channel('c');
  let reads = 0;
  const places = Array.from({ length: 4_000 }, (_, i): Place => {
    const key = `k${String((i * 2_654_435_761) % 4_294_967_296)}`;
    const shape = shapeOf(i, key);
    Object.defineProperty(shape, 'key', {
      get: () => {
        reads += 1;
        return key;
      },
    });
    return placeOf(i, shape, channel);
  });
  const tasks = places.map(() => make());
  for (const [i, place] of places.entries()) order.insert(tasks[i] as (typeof tasks)[number], place);
  expect(reads).toBeLessThanOrEqual(4_000 * 14);
  reads = 0;
  for (const [i, place] of places.entries()) {
    order.rekey(tasks[i] as (typeof tasks)[number], place, 2);
    order.remove(tasks[i] as (typeof tasks)[number], place);
    order.dropPlace(place);
  }
  expect(reads).toBe(0);
  for (const { shape } of places) order.dropShape(shape);
  expect(reads).toBeLessThanOrEqual(4_000 * 14);
  let seen = 0;
  order.best({ mono: 0, window: 0, matches: () => (seen += 1) > 0 });
  expect(seen).toBe(0);
});

test('G14 an order by chance weighs only the lanes of the channel that opens or closes', () => {
  let asked = 0;
  class Counted extends Channel {
    override isOpen(): boolean {
      asked += 1;
      return super.isOpen();
    }
  }
  const order = new WeightedOrder(
    () => 1,
    () => 0,
  );
  const make = taskMaker();
  const shapes = [shapeOf(0, 'x'), shapeOf(1, 'y')];
  const channels = Array.from({ length: 1_000 }, (_, i) => new Counted(`c${String(i)}`));
  for (const [i, channel] of channels.entries()) {
    for (const shape of shapes) order.insert(make(0, channel.name), placeOf(i * 2 + shape.index, shape, channel));
  }
  asked = 0;
  for (const channel of channels) {
    channel.limit.capacity = 0;
    order.channelClosed(channel);
  }
  expect(asked).toBe(2_000);
  expect(order.best({ mono: 0, window: 0, matches: () => true })).toBeUndefined();
});
