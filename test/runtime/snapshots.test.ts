import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MemoryStore, Scheduler } from '../../src/index.js';
import type { SnapshotToSave } from '../../src/ports/store.js';

/** Tells how each text of a snapshot came: what it begins with, and how long it is. */
class WatchingStore extends MemoryStore {
  readonly texts: { readonly head: string; readonly length: number }[] = [];
  /** Called when the next text is asked for. */
  asked: () => void = () => undefined;
  saved = 0;

  override async saveSnapshot({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> {
    await super.saveSnapshot({ sequence, parts: this.watched(parts) }, epoch);
    this.saved += 1;
  }

  private async *watched(parts: AsyncIterable<string>): AsyncIterable<string> {
    for await (const text of parts) {
      this.texts.push({ head: text.slice(0, 9), length: text.length });
      yield text;
      this.asked();
    }
  }
}

const NEVER = { facts: Infinity, bytes: Infinity };

test('B6.2 the event loop goes round between the texts of a snapshot, and what it brings is kept beside it', async () => {
  const store = new WatchingStore();
  const count = 5_000;
  const scheduler = new Scheduler({ store, concurrency: 0, snapshotEvery: { facts: 2 * count, bytes: Infinity } });
  const work = scheduler.define('work', (input: number) => input);
  let turns = 0;
  const turnsAt: number[] = [];
  store.asked = () => turnsAt.push(turns);
  const tasks = Array.from({ length: count }, (_, i) => scheduler.add(work, i, { id: `t${i}` }));
  await Promise.all(tasks.map((task) => task.accepted));
  while (store.saved === 0) {
    await setImmediate();
    turns += 1;
    // The last of them change before they are told; so does what is new.
    if (turns === 2) tasks.at(-1)?.setPriority(7);
    if (turns === 3) await scheduler.add(work, count, { id: 'late' }).accepted;
  }
  expect(store.texts.length).toBeGreaterThan(4);
  expect(new Set(turnsAt).size).toBe(turnsAt.length);
  await scheduler.close();

  const again = new Scheduler({ store, concurrency: 0, snapshotEvery: NEVER });
  again.define('work', (input: number) => input);
  await again.start();
  expect(again.size).toBe(count + 1);
  expect(again.get(`t${count - 1}`)?.priority).toBe(7);
  await again.close();
});

test('B6.2 a text of a snapshot is no longer than a quarter of a million characters and one task', async () => {
  const store = new WatchingStore();
  const scheduler = new Scheduler({ store, concurrency: 0, snapshotEvery: NEVER });
  const work = scheduler.define('work', (input: string) => input);
  const input = 'x'.repeat(100_000);
  await Promise.all(Array.from({ length: 20 }, () => scheduler.add(work, input).accepted));
  await scheduler.close();
  const tasks = store.texts.filter(({ head }) => head.startsWith('["tasks"'));
  expect(tasks.map(({ length }) => Math.round(length / 100_000))).toEqual([3, 3, 3, 3, 3, 3, 2]);
});

test('B6.2 what is asked for while the last snapshot is made begins no other one, and is kept', async () => {
  const store = new WatchingStore();
  const scheduler = new Scheduler({ store, concurrency: 0, snapshotEvery: { facts: 4, bytes: Infinity } });
  const work = scheduler.define('work', (input: number) => input);
  await scheduler.add(work, 1, { id: 'a' }).accepted;
  let level = 2;
  store.asked = () => {
    level += 1;
    for (const _ of [1, 2, 3, 4]) scheduler.setPriority('a', (level += 1));
  };
  await scheduler.close();
  expect(level).toBeGreaterThan(10);
  expect(store.saved).toBe(1);

  const again = new Scheduler({ store, concurrency: 0, snapshotEvery: NEVER });
  again.define('work', (input: number) => input);
  await again.start();
  expect(again.get('a')?.priority).toBeGreaterThan(2);
  await again.close();
});

test('B6.2 G8 what is steered while close() waits for a snapshot that is being made happens once, also for whoever starts next', async () => {
  const store = new WatchingStore();
  const scheduler = new Scheduler({ store, concurrency: 0, snapshotEvery: { facts: 3, bytes: Infinity } });
  const work = scheduler.define('work', (input: number) => input);
  const tasks = ['a', 'b', 'c', 'd'].map((id) => scheduler.add(work, 1, { id }));
  let closing: Promise<void> | undefined;
  store.asked = () => {
    if (closing !== undefined) return;
    closing = scheduler.close();
    for (const task of tasks) task.result.catch(() => undefined);
    void setImmediate().then(() => scheduler.cancel('b'));
  };
  await Promise.all(tasks.map(({ accepted }) => accepted));
  // The record after those that make a snapshot due is the last one that it stands for.
  scheduler.setPriority('a', 7);
  for (let turn = 0; closing === undefined; turn += 1) {
    expect(turn).toBeLessThan(50);
    await setImmediate();
  }
  await closing;

  const again = new Scheduler({ store, concurrency: 0, snapshotEvery: NEVER });
  again.define('work', (input: number) => input);
  await again.start();
  expect(again.get('b')?.state).toBe('cancelled');
  expect(again.size).toBe(3);
  await again.close();
});
