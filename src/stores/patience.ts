import { setTimeout as sleep } from 'node:timers/promises';

const SHORTEST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/** Nothing came in time. */
export class OutOfTime extends Error {
  constructor(limitMs: number) {
    super(`no answer came within ${Math.round(limitMs)} ms`);
    this.name = 'OutOfTime';
  }
}

/** How long one call to a server may take in all, and how long to wait before it is tried again. */
export class Patience {
  private readonly endsAt: number;
  private pauseMs = SHORTEST_PAUSE_MS;

  constructor(totalMs: number) {
    this.endsAt = performance.now() + totalMs;
  }

  /** What is left of it. */
  get leftMs(): number {
    return Math.max(0, this.endsAt - performance.now());
  }

  /** Rejects where it takes longer than is left, or than the limit; what was asked for may then still happen. */
  async await<Value>(promise: Promise<Value>, limitMs = Infinity): Promise<Value> {
    const ms = Math.min(limitMs, this.leftMs);
    const timer = new AbortController();
    // Whoever comes second must not be a rejection that nobody listens to.
    promise.catch(() => undefined);
    try {
      return await Promise.race([promise, lateAfter(ms, timer.signal)]);
    } finally {
      timer.abort();
    }
  }

  /** Waits before the next try, longer each time; `false` when it is over. */
  async pause(): Promise<boolean> {
    const ms = this.pauseMs;
    if (this.leftMs <= ms) return false;
    // Many schedulers may have lost the same server at the same moment.
    await sleep(ms / 2 + (Math.random() * ms) / 2);
    this.pauseMs = Math.min(2 * ms, LONGEST_PAUSE_MS);
    return true;
  }
}

async function lateAfter(ms: number, signal: AbortSignal): Promise<never> {
  await sleep(ms, undefined, { signal });
  throw new OutOfTime(ms);
}
