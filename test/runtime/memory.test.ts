import { channel } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { Scheduler } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

/** Everything that an object leads to and that keeps things by number: its path, and how many there are. */
function sizes(root: object): Map<string, number> {
  const found = new Map<string, number>();
  const seen = new Set<object>([root, process, channel]);
  const look: [path: string, value: object][] = [['', root]];
  for (let next = look.pop(); next !== undefined; next = look.pop()) {
    const [path, value] = next;
    const held = value instanceof Map || value instanceof Set ? value.size : Array.isArray(value) ? value.length : -1;
    if (held > 40) found.set(path, held);
    const inside =
      value instanceof Map ? [...value.values()] : value instanceof Set ? [...value] : Object.values(value);
    const names = value instanceof Map || value instanceof Set || Array.isArray(value) ? undefined : Object.keys(value);
    inside.forEach((each: unknown, at) => {
      if (typeof each !== 'object' || each === null || seen.has(each) || ArrayBuffer.isView(each)) return;
      seen.add(each);
      look.push([names === undefined ? `${path}[]` : `${path}.${names[at] ?? ''}`, each]);
    });
  }
  return found;
}

test('F5.1 G14 row 38 nothing that a scheduler keeps grows with how many tasks there were', async () => {
  const clock = new VirtualClock();
  const logger = Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, () => undefined]));
  const scheduler = new Scheduler({
    clock,
    logger: logger as never,
    timeline: { limit: 30 },
    retain: { count: 30, age: '1m' },
    // Windows of aging leave groups behind up to a number that is not reached here.
    aging: false,
    resources: { gpu: 2, rated: { rate: 1e9, per: '1s', burst: 1e9 } },
    maxPending: 64,
    whenFull: 'wait',
    maxWaiting: Infinity,
  });
  scheduler.define('render', (input: number) => input);
  const signal = new AbortController().signal;
  const worker = scheduler.worker();
  const some = async (from: number): Promise<void> => {
    const round = [];
    for (let i = from; i < from + 24; i += 1) {
      const options = { id: `t${String(i)}`, channel: `c${String(i % 9)}`, metadata: { i } };
      round.push(
        scheduler.add('render', i, { ...options, signal, needs: { gpu: 1, rated: 1 }, deadline: clock.now().wall + 1 }),
      );
      round.push(
        scheduler.add(
          (task) => {
            task.progress(1);
          },
          { after: [options.id], eta: clock.now().wall + 5 },
        ),
      );
      round.push(scheduler.add(() => Promise.reject(new Error('no')), { retry: 2, timeout: '1s' }));
    }
    const claims = await worker.claimBatch(4);
    const series = scheduler.repeat(() => undefined, { every: 3, id: `s${String(from)}`, count: 2 });
    for (const each of claims) void each.run();
    for (const each of round) each.result.catch(() => undefined);
    round[1]?.cancel();
    await clock.advance('5s');
    expect([scheduler.size, scheduler.running, series.state]).toEqual([0, 0, 'ended']);
  };
  const { engine } = scheduler as unknown as { engine: object };
  for (let i = 0; i < 30; i += 1) await some(i * 24);
  const before = sizes(engine);
  for (let i = 30; i < 60; i += 1) await some(i * 24);
  const after = sizes(engine);
  const grown = [...after].filter(([path, held]) => held > (before.get(path) ?? 40) * 1.25);
  // Tombstones are bounded by a number that is not reached here.
  expect(grown.map(([path]) => path).filter((path) => !path.endsWith('.tombstones'))).toEqual([]);
  await scheduler.close();
});
