import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SeededRandom } from '../../src/model/random.js';

const draw = (random: SeededRandom, count: number): number[] => Array.from({ length: count }, () => random.next());
const seeds = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string());

describe('SeededRandom', () => {
  test('equal seeds give equal streams', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        expect(draw(new SeededRandom(seed), 20)).toEqual(draw(new SeededRandom(seed), 20));
      }),
    );
  });

  test('different seeds part at once, however near', () => {
    const starts = [0, 1, 2, 0.5, -1, 2 ** 32, 2 ** 53, '', '0', '1', 'a', 'b', 'ab', 'ba', '\0', '\0\0'];
    const firsts = starts.map((seed) => new SeededRandom(seed).next());
    expect(new Set(firsts).size).toBe(starts.length);
    expect(new SeededRandom(-0).next()).toBe(new SeededRandom(0).next());
  });

  test('a restored state goes on exactly, also through JSON', () => {
    fc.assert(
      fc.property(seeds, fc.nat(50), (seed, drawn) => {
        const random = new SeededRandom(seed);
        draw(random, drawn);
        const restored = SeededRandom.restore(JSON.parse(JSON.stringify(random.state())) as number[]);
        expect(draw(restored, 20)).toEqual(draw(random, 20));
      }),
    );
  });

  test('steps follow the published recurrence', () => {
    // From state (1, 2, 3, 4): sum = 1 + 2 + 4 = 7; a = 2 ^ 0; b = 3 + 24; c = 3 * 2^21 + 7; then the same again.
    const random = SeededRandom.restore([1, 2, 3, 4]);
    random.next();
    const c = 3 * 2 ** 21 + 7;
    const second = 2 + 27 + 5;
    expect(random.state()).toEqual([27, (c * 9) % 2 ** 32, (rotateLeft(c, 21) + second) % 2 ** 32, 6]);
  });

  test('the stream of a seed never changes: decisions that were recorded must come out the same', () => {
    expect(draw(new SeededRandom(42), 3)).toMatchInlineSnapshot(`
      [
        0.9704788576761789,
        0.40916993146142344,
        0.24458683468558706,
      ]
    `);
    expect(draw(new SeededRandom('precedence'), 3)).toMatchInlineSnapshot(`
      [
        0.6687418389131004,
        0.4351463791197845,
        0.7523606790378454,
      ]
    `);
  });

  test.each([NaN, Infinity, -Infinity])('refuses %d as a seed', (seed) => {
    expect(() => new SeededRandom(seed)).toThrow(
      expect.objectContaining({ name: 'InvalidConfigError', field: 'seed' }),
    );
  });

  test.each([[[]], [[1, 2, 3]], [[1, 2, 3, -1]], [[1, 2, 3, 2 ** 32]], [[1, 2, 3, 0.5]], [[-0, 0, 0, 0]], ['1234']])(
    'refuses %o as a state',
    (state) => {
      expect(() => SeededRandom.restore(state as number[])).toThrow(/random state/);
    },
  );

  test('numbers are uniform: chi-square over 256 cells, for pairs too, and in the lowest bits', () => {
    const random = new SeededRandom('uniform');
    const count = 256_000;
    const single = new Array<number>(256).fill(0);
    const pairs = new Array<number>(256).fill(0);
    const lowest = new Array<number>(256).fill(0);
    let outside = 0;
    let before = random.next();
    for (let i = 0; i < count; i++) {
      const value = random.next();
      if (!(value >= 0 && value < 1)) outside++;
      count1(single, Math.floor(value * 256));
      count1(pairs, Math.floor(before * 16) * 16 + Math.floor(value * 16));
      count1(lowest, (value * 2 ** 53) % 256);
      before = value;
    }
    expect(outside).toBe(0);
    // 255 degrees of freedom: 99.99 % of fair samples lie between 178 and 350.
    for (const cells of [single, pairs, lowest]) {
      const expected = count / 256;
      const chiSquare = cells.reduce((sum, seen) => sum + (seen - expected) ** 2 / expected, 0);
      expect(chiSquare).toBeGreaterThan(178);
      expect(chiSquare).toBeLessThan(350);
    }
  });
});

function count1(cells: number[], index: number): void {
  cells[index] = cells[index]! + 1;
}

function rotateLeft(word: number, bits: number): number {
  return Number(((BigInt(word) << BigInt(bits)) | (BigInt(word) >> BigInt(32 - bits))) & 0xffff_ffffn);
}
