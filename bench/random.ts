/** A seeded generator (mulberry32), so that every candidate of a row gets the same work. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Whole numbers from 0 up to, not including, `below`. */
export function randomIntegers(count: number, below: number, seed = 1): number[] {
  const next = random(seed);
  return Array.from({ length: count }, () => Math.floor(next() * below));
}
