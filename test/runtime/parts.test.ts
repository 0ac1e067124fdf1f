import { describe, expect, test } from 'vitest';
import {
  CorruptJournalError,
  MemoryStore,
  PayloadError,
  Scheduler,
  type SnapshotOptions,
  type SnapshotToSave,
} from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { ControlledStore, factsOf } from './controlled-store.js';

const MAX_BYTES = 10_000;

interface Bench {
  readonly store: ControlledStore;
  readonly clock: VirtualClock;
  readonly scheduler: Scheduler;
}

/** A scheduler that starts nothing, on a store that takes no long records. */
async function bench(given?: ControlledStore, snapshotEvery?: SnapshotOptions): Promise<Bench> {
  const store = given ?? new ControlledStore();
  store.maxRecordBytes = MAX_BYTES;
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ store, clock, concurrency: 0, snapshotEvery });
  scheduler.define('work', (input: unknown) => input);
  await scheduler.start();
  return { store, clock, scheduler };
}

/** Lets so many records be kept, one after the other. */
async function keep({ store, clock }: Bench, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await clock.settle();
    expect(store.held).toHaveLength(1);
    store.letGo();
  }
  await clock.settle();
}

const batchOf = (count: number): { name: string; input: number; id: string; after: string[] }[] =>
  Array.from({ length: count }, (_, n) => ({ name: 'work', input: n, id: `t${n}`, after: n === 0 ? [] : ['t0'] }));

describe('what has happened in a turn, and is more than a store takes as one record', () => {
  test('B6 goes into several, in order, none longer than it takes, and is acknowledged with the last', async () => {
    const b = await bench();
    const { store, clock, scheduler } = b;
    const before = store.bodies.length;
    store.holds = true;
    // Two bytes a character.
    const handles = Array.from({ length: 100 }, (_, n) => scheduler.add('work', 'ö'.repeat(200), { id: `t${n}` }));
    let accepted = 0;
    for (const handle of handles) void handle.accepted.then(() => (accepted += 1));
    await clock.settle();
    const kept = store.bodies.length - before;
    while (store.held.length > 0) {
      expect(accepted).toBe(0);
      await keep(b, 1);
    }
    expect(accepted).toBe(100);
    const bodies = store.bodies.slice(before + kept);
    // 100 of them have some 80,000 bytes.
    expect(bodies.length).toBeGreaterThan(7);
    expect(bodies.length).toBeLessThan(13);
    for (const body of bodies) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BYTES);
    const submitted = bodies.flatMap(factsOf).filter(({ kind }) => kind === 'task.submitted');
    expect(submitted.map(({ task }) => task)).toEqual(handles.map(({ id }) => id));
    store.holds = false;
    await scheduler.close();
    const again = await bench(await store.crash('lost'));
    expect(again.scheduler.pending()).toHaveLength(100);
    await again.scheduler.close();
  });

  test('row 1: a batch is there as a whole or not at all, wherever its process goes down, and for whoever comes later', async () => {
    for (const unanswered of ['kept', 'lost'] as const) {
      for (let records = 0; ; records += 1) {
        const b = await bench();
        b.store.holds = true;
        const handles = b.scheduler.addAll(batchOf(100));
        await keep(b, records);
        const accepted: unknown[] = [];
        void handles[0]?.accepted.then((told) => accepted.push(told));
        await b.clock.settle();
        const isWhole = accepted.length > 0 || (unanswered === 'kept' && isLastPart(b.store));
        let store = await b.store.crash(unanswered);
        // The second one also finds what the first one has written.
        for (let round = 0; round < 2; round += 1) {
          const next = await bench(store);
          expect(next.scheduler.pending()).toHaveLength((isWhole ? 100 : 0) + round);
          await next.scheduler.add('work', 'more', { id: `more ${round}` }).accepted;
          store = await store.crash('lost');
        }
        if (accepted.length > 0) {
          expect(records).toBeGreaterThan(2);
          break;
        }
      }
    }
  });

  test('row 1: all that one cancellation brings about is, too', async () => {
    const b = await bench();
    for (const handle of b.scheduler.addAll(batchOf(100))) handle.result.catch(() => undefined);
    await b.clock.settle();
    expect(b.scheduler.pending()).toHaveLength(100);
    b.store.holds = true;
    b.scheduler.cancel('t0', { cascade: true });
    await keep(b, 1);
    expect(b.store.held.length).toBe(1);
    const next = await bench(await b.store.crash('lost'));
    expect(next.scheduler.pending()).toHaveLength(100);
    await next.scheduler.close();
  });

  test('G8 a snapshot of it stands for all of its records', async () => {
    const b = await bench(undefined, { facts: 10 });
    for (let round = 1; b.store.snapshots === 0; round += 1) {
      expect(round).toBeLessThan(10);
      const batch = batchOf(100).map((entry) => ({ ...entry, id: `${round} ${entry.id}`, after: [] }));
      await b.scheduler.addAll(batch)[0]?.accepted;
      for (let turn = 0; turn < 20; turn += 1) await b.clock.settle();
    }
    const { length } = b.scheduler.pending();
    const next = await bench(await b.store.crash('lost'));
    expect(next.scheduler.pending()).toHaveLength(length);
    await next.scheduler.close();
  });

  test('a part that is not there is damage', async () => {
    const b = await bench();
    b.scheduler.addAll(batchOf(100));
    await b.clock.settle();
    const store = new MemoryStore();
    const { epoch } = await store.open();
    const bodies = b.store.bodies.filter((_, n) => n !== 2);
    for (const [n, body] of bodies.entries()) await store.append(n, epoch, body);
    await expect(new Scheduler({ store }).start()).rejects.toThrow(CorruptJournalError);
  });
});

/** Whether what waits to be kept is all that is missing. */
function isLastPart(store: ControlledStore): boolean {
  const [note] = factsOf(store.held[0]?.body ?? '[1]') as unknown as { part: number; of: number }[];
  return note?.part === note?.of;
}

describe('what a task carries', () => {
  const withLimit = (maxRecordBytes: unknown): MemoryStore => Object.assign(new MemoryStore(), { maxRecordBytes });

  test('may take a fifth of a record, so that all of it fits into one', async () => {
    const scheduler = new Scheduler({ store: withLimit(5_000) });
    scheduler.define('work', (length: number) => 'x'.repeat(length));
    expect(() => scheduler.add('work', 'x'.repeat(999))).toThrow(PayloadError);
    await scheduler.add('work', 'x'.repeat(900), { delay: '1h' }).accepted;
    await expect(scheduler.add('work', 999).result).rejects.toMatchObject({ code: 'PAYLOAD' });
    expect(await scheduler.add('work', 900)).toHaveLength(900);
    await scheduler.close();
  });

  test('is refused a limit of which the store knows that it cannot be kept, and so is a store that says nothing sensible', () => {
    const make = (store: MemoryStore, maxPayloadBytes?: number) => () => new Scheduler({ store, maxPayloadBytes });
    expect(make(withLimit(5_000), 1_001)).toThrow(/from 1 to 1000, as the store takes no longer records/);
    for (const fine of [make(withLimit(5_000), 1_000), make(withLimit(5_000), Infinity)]) expect(fine).not.toThrow();
    for (const wrong of [0, -1, NaN, '8 MB', null]) {
      expect(make(withLimit(wrong))).toThrow(
        expect.objectContaining({ code: 'INVALID_CONFIG', field: 'maxRecordBytes' }),
      );
    }
  });
});

test('B6.2 no part of a snapshot is longer than a record may be', async () => {
  const lengths: number[] = [];
  class Watching extends MemoryStore {
    readonly maxRecordBytes = 20_000;
    override saveSnapshot({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> {
      return super.saveSnapshot({ sequence, parts: watched(parts) }, epoch);
    }
  }
  async function* watched(parts: AsyncIterable<string>): AsyncIterable<string> {
    for await (const part of parts) {
      lengths.push(Buffer.byteLength(part));
      yield part;
    }
  }
  const store = new Watching();
  const scheduler = new Scheduler({ store, concurrency: 0 });
  scheduler.define('work', () => undefined);
  const metadata = { text: '漢'.repeat(1_300) };
  for (let n = 0; n < 20; n += 1) scheduler.add('work', '漢'.repeat(n % 2 === 0 ? 1_300 : 10), { metadata });
  await scheduler.close();
  expect(lengths.length).toBeGreaterThan(10);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(20_000);
});
