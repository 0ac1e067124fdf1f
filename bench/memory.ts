/**
 * Bytes per piece that `fill` leaves behind, on the heap and in array buffers. `fill` is synchronous, so nothing it
 * queues can start before the second reading, and returns what has to stay reachable until then.
 */
export function bytesPer(pieces: number, fill: () => unknown): number {
  const before = bytesInUse();
  const kept = fill();
  const after = bytesInUse();
  reachable.add(kept);
  return (after - before) / pieces;
}

/** A local that nobody reads again may be collected before the second reading. */
const reachable = new Set<unknown>();

function bytesInUse(): number {
  if (!globalThis.gc) throw new Error('A memory candidate needs --expose-gc. Mark it with memory: true.');
  // The second pass collects what finalizers and weak references of the first one let go.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
