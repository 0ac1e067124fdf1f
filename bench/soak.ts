// npm run soak -- [millions of tasks] [--publish]: tasks of many kinds through the public API, kept in files. Does what a
// scheduler keeps grow with how many tasks there were, does everything hold meanwhile, and is nothing lost?
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileStore, Scheduler } from '../src/index.js';
import { circumstances } from './publish.js';
import { publishSoak, type SoakReading } from './soak-report.js';
import { SoakWork } from './soak-work.js';

const MILLION = 1_000_000;
const BATCH = 5_000;
/** Readings are so many tasks apart. */
const APART = MILLION / 4;

const millions = Number(process.argv[2] ?? '10');
if (!(millions > 0)) throw new Error(`The number of millions must be above 0, got "${String(process.argv[2])}".`);
const loadAtStart = loadavg()[0] ?? 0;
const directory = mkdtempSync(join(tmpdir(), 'precedence-soak-'));
const work = new SoakWork();

function open(): Scheduler {
  const store = new FileStore(directory, { durability: 'os' });
  const scheduler = new Scheduler({ ...SoakWork.limits, store, retain: { count: 1_000 } });
  work.defineFor(scheduler);
  return scheduler;
}

/** Live bytes, after everything that can be collected was. */
function liveBytes(): number {
  if (!globalThis.gc) throw new Error('Run it with --expose-gc, as npm run soak does.');
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function bytesOnDisk(): number {
  return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
}

/** Bytes for each further task, by least squares. */
function slopeOf(readings: readonly SoakReading[]): number {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const tasks = mean(readings.map((reading) => reading.tasks));
  const bytes = mean(readings.map((reading) => reading.liveBytes));
  return (
    readings.reduce((sum, reading) => sum + (reading.tasks - tasks) * (reading.liveBytes - bytes), 0) /
    readings.reduce((sum, reading) => sum + (reading.tasks - tasks) ** 2, 0)
  );
}

async function runAll(): Promise<readonly SoakReading[]> {
  const scheduler = open();
  const readings: SoakReading[] = [];
  for (let done = 0; done < millions * MILLION;) {
    const groups = Array.from({ length: BATCH / SoakWork.groupSize }, (_, at) => work.add(scheduler, done + at));
    await Promise.all(groups);
    done += BATCH;
    if (done % APART > 0) continue;
    const reading = { tasks: done, liveBytes: liveBytes(), fileBytes: bytesOnDisk() };
    readings.push(reading);
    const [tasks, live, files] = [done, reading.liveBytes, reading.fileBytes].map((value) =>
      (value / MILLION).toFixed(2),
    );
    console.log(`${tasks} million tasks: ${live} MB live, ${files} MB in files`);
  }
  await scheduler.close();
  return readings;
}

/** What another scheduler finds unfinished in the same files. */
async function leftOver(): Promise<number> {
  const scheduler = open();
  await scheduler.start();
  const { size, running } = scheduler;
  await scheduler.close();
  return size + running;
}

try {
  const started = performance.now();
  const readings = await runAll();
  const seconds = (performance.now() - started) / 1_000;
  const left = await leftOver();
  const { completed, failed, cancelled } = work.ended;
  const tasks = millions * MILLION;
  work.check(completed + failed + cancelled === tasks, `${String(completed + failed + cancelled)} tasks have ended`);
  work.check(left === 0, `${String(left)} tasks are left over after a restart`);
  // The first half is warm-up: pages, tables and compiled code grow to the size that they keep.
  const slope = slopeOf(readings.slice(readings.length >> 1));
  const report = {
    tasks,
    seconds,
    slope,
    readings,
    ended: work.ended,
    checks: work.checks,
    broken: work.broken.length,
  };
  for (const line of work.broken) console.log(`BROKEN: ${line}`);
  console.log(
    `${String(tasks)} tasks in ${seconds.toFixed(0)} s; ${slope.toFixed(3)} bytes per task in the second half; ` +
      `${String(completed)} completed, ${String(failed)} failed, ${String(cancelled)} cancelled, as they were to; ` +
      `${String(work.checks)} checks, ${String(report.broken)} broken`,
  );
  if (process.argv.includes('--publish'))
    await publishSoak({ ...report, measured: circumstances('soak', loadAtStart) });
  process.exitCode = work.broken.length > 0 ? 1 : 0;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
