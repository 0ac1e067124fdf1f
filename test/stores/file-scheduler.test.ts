import { expect, test } from 'vitest';
import { FileStore, Scheduler } from '../../src/index.js';
import {
  FaultyFiles,
  SimulatedDisk,
  VirtualClock,
  type FileCall,
  type FileFault,
  type SimulatedProcess,
} from '../../src/testing/index.js';
import { DIRECTORY, logger } from './file-history.js';

const TASKS = 8;

/** Lets the disk do what it is asked, and time pass where nothing comes of that any more. */
async function passing<Value>(clock: VirtualClock, promise: Promise<Value>): Promise<Value> {
  const ends: string[] = [];
  const over = (): unknown => ends.push('over');
  promise.then(over, over);
  for (let turn = 1; ends.length === 0; turn += 1) {
    expect(turn).toBeLessThan(10_000);
    if (turn % 20 === 0) await clock.advance(100);
    else await clock.settle();
  }
  return promise;
}

/** A scheduler on a disk, and what was seen of it from outside. */
class Life {
  readonly scheduler: Scheduler;
  readonly accepted: string[] = [];
  readonly finished: string[] = [];
  readonly refused: unknown[] = [];
  readonly told: unknown[] = [];

  constructor(
    files: FaultyFiles | SimulatedProcess,
    private readonly clock: VirtualClock,
  ) {
    const store = new FileStore(DIRECTORY, { files, logger });
    this.scheduler = new Scheduler({ store, clock, concurrency: 2, snapshotEvery: { facts: 12 } });
    this.scheduler.define('work', (n: number) => ({ done: n }));
    this.scheduler.on('error', ({ error }) => this.told.push(error));
  }

  /** Adds some tasks, one after another, each after one before it, and waits until they have ended or cannot. */
  async work(): Promise<void> {
    await passing(this.clock, this.scheduler.start());
    for (let n = 1; n <= TASKS; n += 1) {
      const id = `t${n}`;
      const handle = this.scheduler.add('work', n, { id, after: n > 2 ? [`t${n - 2}`] : [] });
      const failed = (error: unknown): unknown => this.refused.push(error);
      await passing(
        this.clock,
        handle.accepted.then(() => this.accepted.push(id), failed),
      );
      handle.result.then(() => this.finished.push(id), failed);
    }
    await passing(
      this.clock,
      this.scheduler.onIdle().catch(() => undefined),
    );
    await passing(this.clock, this.scheduler.close());
  }
}

/** A life in which something goes wrong, and what is there when the power has been lost after it. */
async function lived(fault: (call: FileCall) => FileFault | undefined, seed: number): Promise<Life> {
  const disk = new SimulatedDisk({ seed });
  const clock = new VirtualClock();
  const process = disk.start();
  const files = new FaultyFiles(process, fault);
  const life = new Life(files, clock);
  // Where it cannot even be opened, nothing is acknowledged.
  await life.work().catch((error: unknown) => life.refused.push(error));
  process.kill();
  disk.losePower();
  const next = new Life(disk.start(), clock);
  await passing(clock, next.scheduler.start());
  for (const id of life.finished) expect(next.scheduler.get(id)?.state).toBe('completed');
  for (const id of life.accepted) {
    const result = await passing(clock, Promise.resolve(next.scheduler.handle(id)));
    expect(result).toEqual({ done: Number(id.slice(1)) });
  }
  await passing(clock, next.scheduler.close());
  return life;
}

const calls: FileCall[] = [];
const whole = await lived((call) => {
  calls.push(call);
  return undefined;
}, 0);
const numbersOf = (operation: string): number[] =>
  calls.filter((call) => call.operation.startsWith(operation)).map(({ number }) => number);

test('the life is long enough to mean something, and ends well when nothing goes wrong', () => {
  expect(whole).toMatchObject({ refused: [], told: [], accepted: { length: TASKS }, finished: { length: TASKS } });
  expect(calls.length).toBeGreaterThan(60);
});

test('G1 G13 row 7 whenever a disk is full for a while, the scheduler on it goes on afterwards, and nothing is refused', async () => {
  let waited = 0;
  for (const n of numbersOf('write')) {
    let failures = 0;
    const { refused, told, finished } = await lived(({ number, operation }) => {
      if (number < n || operation !== 'write' || failures >= 3) return undefined;
      failures += 1;
      return { kind: 'error', code: 'ENOSPC' };
    }, n);
    for (const error of [...told, ...refused]) expect(error).toMatchObject({ kind: 'full' });
    if (told.length > 0) waited += 1;
    // Only opening is not tried again.
    const hasOpened = !refused.some((error) => (error as Error).message.includes('open'));
    if (hasOpened) expect(finished).toHaveLength(TASKS);
  }
  expect(waited).toBeGreaterThan(10);
});

test('G1 G13 row 8 whenever a sync fails once, nothing more is acknowledged, and what was acknowledged is done by the next', async () => {
  let stopped = 0;
  for (const n of numbersOf('sync')) {
    const failed: FileCall[] = [];
    let written = 0;
    const { refused, accepted, told } = await lived((call) => {
      // Part of a snapshot may be on its way; it is never finished.
      if (failed.length > 0 && call.operation === 'write' && call.path.includes('/journal')) written += 1;
      if (call.number !== n || !call.operation.startsWith('sync')) return undefined;
      failed.push(call);
      return { kind: 'error', code: 'EIO' };
    }, n);
    if (failed.length === 0) continue;
    expect(written).toBe(0);
    if (accepted.length < TASKS) expect(refused.length).toBeGreaterThan(0);
    expect(told).toMatchObject([{ code: 'STORE', kind: 'failed' }]);
    stopped += 1;
  }
  expect(stopped).toBeGreaterThan(10);
});
