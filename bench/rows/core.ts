import { now } from '../core-load.js';
import { loadCore } from '../ours.js';
import { randomIntegers } from '../random.js';
import { growth, type Row } from '../row.js';

/** Submit + claim + settle per second with so many pending, whether anybody reads the facts or not. */
async function throughput(pending: number, facts: 'read' | 'unread'): Promise<number> {
  const run = await prepare(facts);
  run(30_000);
  run(30_000);
  const startedAt = performance.now();
  run(pending);
  return pending / ((performance.now() - startedAt) / 1e3);
}

async function prepare(facts: 'read' | 'unread') {
  const { Core, parseTaskOptions } = await loadCore();
  const specs = Array.from({ length: 10 }, (_, priority) => parseTaskOptions({ priority }, ''));
  const done = { kind: 'succeeded', value: undefined } as const;
  return (count: number): void => {
    const core = new Core({ origin: now });
    const levels = randomIntegers(count, 10);
    let seen = 0;
    if (facts === 'read') core.observe(() => (seen += 1));
    const worker = core.attach(now, {
      id: 'bench',
      slots: 16,
      capabilities: new Map(),
      strategy: undefined,
      filter: undefined,
      leaseMs: Infinity,
      retries: 0,
    });
    for (let i = 0; i < count; i++) core.submit(now, specs[levels[i]!]!, undefined);
    for (let attempt = core.claim(now, worker); attempt !== undefined; attempt = core.claim(now, worker)) {
      core.settle(now, attempt, done);
      core.outbox.settled.pop();
    }
    if (core.state.pending > 0 || (facts === 'read' && seen < 4 * count)) throw new Error('Not everything has run.');
  };
}

const measure = (pending: number, facts: 'read' | 'unread') => () => throughput(pending, facts);

export const rows: readonly Row[] = [
  {
    id: 'CORE',
    group: 'core',
    work: 'submit + claim + settle in the bare core, random priority',
    unit: 'tasks/s',
    better: 'higher',
    candidates: [
      { name: '100k, facts unread', measure: measure(100_000, 'unread') },
      { name: '100k, facts read', measure: measure(100_000, 'read') },
      { name: '10k, facts unread', measure: measure(10_000, 'unread') },
      { name: '10k, facts read', measure: measure(10_000, 'read') },
      { name: '1M, facts unread', measure: measure(1_000_000, 'unread'), bars: [growth('100k, facts unread', 1.5)] },
      { name: '1M, facts read', measure: measure(1_000_000, 'read') },
    ],
  },
];
