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

/** Saves its first snapshot when the test says so. */
class SlowStore extends MemoryStore {
  isSaving = false;
  goOn: () => void = () => undefined;
  private readonly told = new Promise<void>((resolve) => (this.goOn = resolve));

  override async saveSnapshot(snapshot: SnapshotToSave, epoch: number): Promise<void> {
    this.isSaving = true;
    await this.told;
    await super.saveSnapshot(snapshot, epoch);
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
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

test('F6 G8 B6.2 what happens while closing waits for a snapshot is in a record or in the last snapshot, and not in both', async () => {
  const store = new SlowStore();
  const scheduler = new Scheduler({ store, concurrency: 0, snapshotEvery: { facts: 8, bytes: Infinity } });
  const work = scheduler.define('work', (input: number) => input);
  for (let n = 0; !store.isSaving; n += 1) {
    const handle = scheduler.add(work, n, { id: `t${n}` });
    handle.result.catch(() => undefined);
    await handle.accepted;
  }
  const closed = scheduler.close();
  await turns(20);
  scheduler.cancel('t1');
  await turns(20);
  store.goOn();
  await closed;

  const again = new Scheduler({ store, concurrency: 0, snapshotEvery: NEVER });
  again.define('work', (input: number) => input);
  await again.start();
  expect([again.get('t0')?.state, again.get('t1')?.state]).toEqual(['ready', 'cancelled']);
  await again.close();
});

test('F6 B6.2 no other snapshot begins while the last one is saved, however much has happened', async () => {
  const store = new SlowStore();
  const scheduler = new Scheduler({ store, concurrency: 0, snapshotEvery: { facts: 3, bytes: Infinity } });
  scheduler.define('work', () => undefined);
  const handle = scheduler.add('work', undefined, { id: 'a' });
  handle.result.catch(() => undefined);
  await handle.accepted;
  const closed = scheduler.close();
  await turns(20);
  expect(store.isSaving).toBe(true);
  for (const priority of [3, 4, 5]) {
    handle.setPriority(priority);
    await turns(5);
  }
  store.goOn();
  await closed;
  const again = new Scheduler({ store, concurrency: 0 });
  again.define('work', () => undefined);
  await again.start();
  expect(again.get('a')?.priority).toBe(5);
  await again.close();
});
