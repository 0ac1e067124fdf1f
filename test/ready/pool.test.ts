import { expect, test } from 'vitest';
import { Pool } from '../../src/ready/index.js';
import { SeededRandom } from '../../src/model/index.js';

/** Fractions come and go, with never more than there is; then only the first is left. */
function worn(capacity: number, first: number): Pool {
  const random = new SeededRandom(7);
  const pool = new Pool('memory', capacity);
  const held: number[] = [];
  pool.hold(first);
  for (let i = 0; i < 20_000; i += 1) {
    const amount = Math.round((random.next() * capacity) / 4) / 10;
    if (pool.hasRoom(amount)) {
      pool.hold(amount);
      held.push(amount);
    } else {
      pool.release(held.splice(Math.floor(random.next() * held.length), 1)[0] as number);
    }
  }
  for (const amount of held) pool.release(amount);
  return pool;
}

test.each([16_384, 1e6, 1e9, 1e12])('C6.1 G7 of %d units, fractions that come and go wear none away', (capacity) => {
  const pool = worn(capacity, 0.3);
  expect([pool.hasUnits(capacity - 0.3), pool.hasUnits(capacity - 0.3 + 1)]).toEqual([true, false]);
  pool.release(0.3);
  expect([pool.held, pool.hasUnits(capacity)]).toEqual([0, true]);
});

test('C7.1 G7 of whole units there is never one too many, however many there are', () => {
  for (const capacity of [1, 1e9, 1e12, 2 ** 52]) {
    const pool = new Pool('bytes', capacity);
    pool.hold(capacity - 1);
    expect([pool.hasRoom(1), pool.hasRoom(2)]).toEqual([true, false]);
    pool.hold(1);
    expect(pool.hasRoom(1)).toBe(false);
  }
});

test('C7.2 what is kept for one after the other leaves nothing behind', () => {
  const pool = new Pool('memory', 1e9);
  const amounts = [123_456_789.1, 0.3, 98_765_432.7, 0.1];
  for (const amount of amounts) pool.keep(amount);
  for (const amount of amounts) pool.unkeep(amount);
  expect(pool.kept).toBe(0);
});
