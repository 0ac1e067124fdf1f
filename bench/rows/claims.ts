import { loadedCore, now } from '../core-load.js';
import { strategies } from './p10.js';
import type { Row } from '../row.js';

const batch = 1_000;
const batches = 20;

/** Claims per second with 100,000 tasks ready; what was claimed is replaced outside the clock. */
async function claimsPerSecond(strategy: string): Promise<number> {
  const { core, worker, add } = await loadedCore({ strategy, ready: 100_000, channels: 10, blocked: 0 });
  let elapsedMs = 0;
  // The first batches build the order and warm up.
  for (let i = -3; i < batches; i++) {
    const startedAt = performance.now();
    const attempts = Array.from({ length: batch }, () => core.claim(now, worker)!);
    if (i >= 0) elapsedMs += performance.now() - startedAt;
    attempts.forEach((attempt, at) => {
      core.settle(now, attempt, { kind: 'succeeded', value: undefined });
      add(at);
    });
    core.outbox.settled.splice(0);
  }
  return (batch * batches) / (elapsedMs / 1e3);
}

const claims: Row = {
  id: 'CLAIMS',
  group: 'core',
  work: 'claims from 100k ready tasks over 10 channels, by strategy',
  unit: 'claims/s',
  better: 'higher',
  candidates: strategies.map((name) => ({ name, against: name, measure: () => claimsPerSecond(name) })),
};

export const rows = [claims];
