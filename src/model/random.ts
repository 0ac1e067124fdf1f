import { type Refuse, refuseConfig } from './refuse.js';

/** Where all chance comes from, so that a run can be repeated. */
export interface RandomSource {
  /** The next number, at least 0 and below 1. */
  next(): number;
}

type Words = readonly [a: number, b: number, c: number, counter: number];

// What the seeded generator throws away before its first number, so that seeds that differ little have parted.
const WARM_UP = 16;

/**
 * A small fast generator (sfc32) that can be seeded, saved and restored.
 *
 * Each number has 53 bits, made from two steps of the generator, whose cycle is at least 2^32 steps for every seed.
 */
export class SeededRandom implements RandomSource {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  /** Any finite number or string is a seed; equal seeds give equal streams, and 5 and "5" are different seeds. */
  constructor(seed: number | string, refuse: Refuse = refuseConfig) {
    const mix = mixer(wordsOf(seed, refuse));
    this.#a = mix();
    this.#b = mix();
    this.#c = mix();
    this.#counter = 1;
    for (let i = 0; i < WARM_UP; i++) this.#step();
  }

  /** Goes on exactly where the generator that gave this state stood. */
  static restore(state: readonly number[], refuse: Refuse = refuseConfig): SeededRandom {
    if (!isWords(state)) return refuse('random state', state, 'four whole numbers from 0 to 2^32 - 1');
    const random = new SeededRandom(0);
    [random.#a, random.#b, random.#c, random.#counter] = state;
    return random;
  }

  next(): number {
    const high = this.#step() >>> 5;
    const low = this.#step() >>> 6;
    return (high * 0x400_0000 + low) / 0x20_0000_0000_0000;
  }

  /** Differs from what it was before if a number was drawn since; cheaper to compare than the whole state. */
  get position(): number {
    return this.#counter;
  }

  /** Four 32-bit words for `restore`. */
  state(): readonly number[] {
    return [this.#a, this.#b, this.#c, this.#counter];
  }

  #step(): number {
    const sum = (this.#a + this.#b + this.#counter) >>> 0;
    this.#counter = (this.#counter + 1) >>> 0;
    this.#a = (this.#b ^ (this.#b >>> 9)) >>> 0;
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) >>> 0;
    return sum;
  }
}

function isWords(state: readonly number[]): state is Words {
  return (
    Array.isArray(state) &&
    state.length === 4 &&
    state.every((word) => Number.isInteger(word) && word >= 0 && word <= 0xffff_ffff && !Object.is(word, -0))
  );
}

function wordsOf(seed: number | string, refuse: Refuse): number[] {
  if (typeof seed === 'string') {
    // The length goes first, so that no string is the beginning of another's words.
    return [1, seed.length, ...Array.from({ length: seed.length }, (_, index) => seed.charCodeAt(index))];
  }
  if (!Number.isFinite(seed)) return refuse('seed', seed, 'a finite number or a string');
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, seed + 0);
  return [2, bits.getUint32(0), bits.getUint32(4)];
}

/** A 32-bit splitmix sequence whose start depends on every bit of the given words. */
function mixer(words: readonly number[]): () => number {
  let state = 0x9e37_79b9;
  for (const word of words) state = scramble((state ^ word) >>> 0) + 0x9e37_79b9;
  return () => {
    state = (state + 0x9e37_79b9) >>> 0;
    return scramble(state);
  };
}

// The finalizer of MurmurHash3: every input bit changes every output bit with a probability near one half.
function scramble(word: number): number {
  let mixed = Math.imul(word ^ (word >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
