// npm run soak -- [millions of tasks]: does what a scheduler keeps grow with how many tasks there were?
import { Scheduler } from '../src/index.js';

const million = 1_000_000;
const batch = 5_000;
const millions = Number(process.argv[2] ?? '10');
if (!(millions > 0)) throw new Error(`The number of millions must be above 0, got "${String(process.argv[2])}".`);

const scheduler = new Scheduler({ concurrency: 64, resources: { gpu: 8 }, retain: { count: 1_000 } });
scheduler.define('work', (input: number) => input);
const told = { failed: 0 };
scheduler.on('failed', () => (told.failed += 1));

/** Live bytes, after everything that can be collected was. */
function liveBytes(): number {
  if (!globalThis.gc) throw new Error('Run it with --expose-gc, as npm run soak does.');
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Tasks of many kinds: with ids, channels, needs, dependencies, retries, timeouts; some fail and some are taken back. */
async function run(from: number): Promise<void> {
  const results: Promise<unknown>[] = [];
  for (let i = from; i < from + batch; i += 5) {
    const first = scheduler.add('work', i, { id: `task ${String(i)}`, channel: `channel ${String(i % 5_003)}` });
    results.push(first.result, scheduler.add((task) => task.id, { after: [first], needs: { gpu: 1 } }).result);
    results.push(scheduler.add(() => Promise.reject(new Error('fails')), { retry: 2 }).result);
    results.push(scheduler.add(() => i, { priority: i % 5, timeout: '1m', metadata: { i } }).result);
    const taken = scheduler.add(() => i, { delay: '1h' });
    results.push(taken.result);
    taken.cancel();
  }
  await Promise.allSettled(results);
}

const points: { readonly tasks: number; readonly bytes: number }[] = [];
for (let done = 0; done < millions * million;) {
  await run(done);
  done += batch;
  if (done % (million / 4) > 0) continue;
  points.push({ tasks: done, bytes: liveBytes() });
  console.log(
    `${(done / million).toFixed(2)} million tasks: ${((points.at(-1)?.bytes ?? 0) / 1e6).toFixed(2)} MB live`,
  );
}
await scheduler.close();

// The first half is warm-up: pages, tables and compiled code grow to the size that they keep.
const warm = points.slice(points.length >> 1);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const [tasks, bytes] = [mean(warm.map((point) => point.tasks)), mean(warm.map((point) => point.bytes))];
const slope =
  warm.reduce((sum, point) => sum + (point.tasks - tasks) * (point.bytes - bytes), 0) /
  warm.reduce((sum, point) => sum + (point.tasks - tasks) ** 2, 0);
console.log(`${slope.toFixed(3)} bytes per task in the second half; ${String(told.failed)} failed, as they were to`);
