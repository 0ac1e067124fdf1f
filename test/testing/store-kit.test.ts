import { describe, expect, test } from 'vitest';
import { DeposedError, MemoryStore, StoreError, type Loaded, type SnapshotToSave } from '../../src/index.js';
import { storeChecks, type StoreCheckName } from '../../src/testing/index.js';

describe('the store in memory conforms', () => {
  const place = (): { store: () => MemoryStore } => {
    const store = new MemoryStore();
    return { store: () => store };
  };
  for (const { name, run } of storeChecks({ place })) test(name, run);
});

/** The names of the checks that stores of a class do not pass. */
async function failedChecks(Kind: new () => MemoryStore): Promise<StoreCheckName[]> {
  const failed: string[] = [];
  const place = (): { store: () => MemoryStore } => {
    const store = new Kind();
    return { store: () => store };
  };
  for (const { name, run } of storeChecks({ place, patienceMs: 100, many: 20 })) {
    await run().catch(() => failed.push(name));
  }
  return failed as StoreCheckName[];
}

/** Loads what is right, each piece altered. */
async function* altered(
  pieces: AsyncIterable<Loaded>,
  alter: (piece: Loaded) => Loaded | undefined,
): AsyncIterable<Loaded> {
  for await (const piece of pieces) {
    const other = alter(piece);
    if (other !== undefined) yield other;
  }
}

const drain = async (parts: AsyncIterable<string>): Promise<string[]> => {
  const all: string[] = [];
  for await (const part of parts) all.push(part);
  return all;
};

async function* partsOf(parts: readonly string[]): AsyncIterable<string> {
  await Promise.resolve();
  yield* parts;
}

const normalised = (body: string): string => JSON.stringify(JSON.parse(body));

const AS_GIVEN = 'gives back records as they were given';
const ORDER = 'keeps thousands of records in order';
const EPOCH = 'refuses an epoch that is not the current one';
const OWNERS = 'lets only one of two owners write';
const OWN_CLOSE = 'is closed by nobody but its owner';
const NEXT = 'refuses a number that is not the next';
const TAKEN_OVER = 'gives whoever takes over all that it has acknowledged';
const RACE = 'shows whoever opens it each append that gets through';
const CLOSED = 'can be closed more than once, and takes nothing afterwards';
const BESIDE = 'takes records while a snapshot is being saved';
const COMPACT = 'changes nothing by compacting';

const WRONG: readonly (readonly [fault: string, wrong: new () => MemoryStore, caught: StoreCheckName])[] = [
  [
    'promises what nobody knows',
    class extends MemoryStore {
      override readonly durability = 'best effort' as 'os';
    },
    'says what it is and what it keeps',
  ],
  [
    'counts epochs from 0',
    class extends MemoryStore {
      override open = async (): ReturnType<MemoryStore['open']> => ({ ...(await super.open()), epoch: 0 });
    },
    'begins with nothing',
  ],
  [
    'takes a record for a value',
    class extends MemoryStore {
      override append = (after: number, epoch: number, body: string): Promise<void> =>
        super.append(after, epoch, normalised(body));
    },
    AS_GIVEN,
  ],
  [
    'takes less than it says',
    class extends MemoryStore {
      readonly maxRecordBytes = 2_000_000;
      override append = (after: number, epoch: number, body: string): Promise<void> =>
        Buffer.byteLength(body) < 1_999_999
          ? super.append(after, epoch, body)
          : Promise.reject(new StoreError({ operation: 'append', cause: 'it is too long' }));
    },
    'keeps a record as long as it says',
  ],
  [
    'cuts long records',
    class extends MemoryStore {
      override append = (after: number, epoch: number, body: string): Promise<void> =>
        super.append(after, epoch, body.slice(0, 65_536));
    },
    'keeps a record of a megabyte',
  ],
  [
    'sorts records as texts',
    class extends MemoryStore {
      override load = (): AsyncIterable<Loaded> =>
        altered(super.load(), (piece) =>
          piece.kind === 'records' ? { ...piece, bodies: piece.bodies.toSorted() } : piece,
        );
    },
    ORDER,
  ],
  [
    'loses the last record',
    class extends MemoryStore {
      override load = (): AsyncIterable<Loaded> =>
        altered(super.load(), (piece) =>
          piece.kind === 'records' ? { ...piece, bodies: piece.bodies.slice(0, -1) } : piece,
        );
    },
    ORDER,
  ],
  [
    'writes first and looks then',
    class extends MemoryStore {
      private last = 0;
      override append = async (after: number, epoch: number, body: string): Promise<void> => {
        await super.append(this.last, epoch, body);
        this.last += 1;
        if (after !== this.last - 1) throw new DeposedError({ epoch, currentEpoch: epoch });
      };
    },
    NEXT,
  ],
  [
    'says something else than that it was deposed',
    class extends MemoryStore {
      override append = (after: number, epoch: number, body: string): Promise<void> =>
        super.append(after, epoch, body).catch((cause: unknown) => {
          throw new StoreError({ operation: 'append a record', cause });
        });
    },
    NEXT,
  ],
  [
    'looks at the number too early',
    class extends MemoryStore {
      private last = 0;
      override append = async (after: number, epoch: number, body: string): Promise<void> => {
        if (after !== this.last) throw new DeposedError({ epoch, currentEpoch: epoch });
        await new Promise(setImmediate);
        await super.append(this.last, epoch, body);
        this.last += 1;
      };
    },
    'lets one of two appends through that claim the same number',
  ],
  [
    'gives everybody the same epoch',
    class extends MemoryStore {
      private earliest: Awaited<ReturnType<MemoryStore['open']>> | undefined;
      override open = async (): ReturnType<MemoryStore['open']> => {
        const opening = await super.open();
        return { ...opening, epoch: (this.earliest ??= opening).epoch };
      };
    },
    'gives a larger epoch at each opening',
  ],
  [
    'appends for anybody',
    class extends MemoryStore {
      private current = 0;
      override open = async (): ReturnType<MemoryStore['open']> => {
        const opening = await super.open();
        this.current = opening.epoch;
        return opening;
      };
      override append = (after: number, _epoch: number, body: string): Promise<void> =>
        super.append(after, this.current, body);
    },
    OWNERS,
  ],
  [
    'saves snapshots for anybody',
    class extends MemoryStore {
      private current = 0;
      override open = async (): ReturnType<MemoryStore['open']> => {
        const opening = await super.open();
        this.current = opening.epoch;
        return opening;
      };
      override saveSnapshot = (snapshot: SnapshotToSave): Promise<void> => super.saveSnapshot(snapshot, this.current);
    },
    EPOCH,
  ],
  [
    'refuses a rival without saying why',
    class extends MemoryStore {
      private isTaken = false;
      override open = async (): ReturnType<MemoryStore['open']> => {
        if (this.isTaken) throw new StoreError({ operation: 'open' });
        this.isTaken = true;
        return super.open();
      };
      override close = (): Promise<void> => {
        this.isTaken = false;
        return super.close();
      };
    },
    OWNERS,
  ],
  [
    'keeps snapshots in memory until it is closed',
    class extends MemoryStore {
      private waiting: (() => Promise<void>) | undefined;
      override saveSnapshot = async ({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> => {
        const all = await drain(parts);
        const save = (): Promise<void> => super.saveSnapshot({ sequence, parts: partsOf(all) }, epoch);
        this.waiting = save;
      };
      override close = async (epoch?: number): Promise<void> => {
        await this.waiting?.();
        this.waiting = undefined;
        await super.close(epoch);
      };
    },
    TAKEN_OVER,
  ],
  [
    'looks at the epoch too early',
    class extends MemoryStore {
      private current = 0;
      override open = async (): ReturnType<MemoryStore['open']> => {
        const opening = await super.open();
        this.current = opening.epoch;
        return opening;
      };
      override append = async (after: number, epoch: number, body: string): Promise<void> => {
        if (epoch !== this.current) throw new DeposedError({ epoch, currentEpoch: this.current });
        await new Promise(setImmediate);
        await super.append(after, this.current, body);
      };
    },
    RACE,
  ],
  [
    'puts the parts of all snapshots that are being saved in one place',
    class extends MemoryStore {
      private parts: string[] = [];
      override saveSnapshot = async ({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> => {
        try {
          for await (const part of parts) this.parts.push(part);
          await super.saveSnapshot({ sequence, parts: partsOf(this.parts) }, epoch);
        } finally {
          this.parts = [];
        }
      };
    },
    'keeps a snapshot apart from that of a deposed owner',
  ],
  [
    'loads the records that are in the snapshot too',
    class extends MemoryStore {
      private readonly all: string[] = [];
      override append = async (after: number, epoch: number, body: string): Promise<void> => {
        await super.append(after, epoch, body);
        this.all.push(body);
      };
      override load = (): AsyncIterable<Loaded> =>
        altered(super.load(), (piece) => (piece.kind === 'records' ? { ...piece, first: 1, bodies: this.all } : piece));
    },
    'keeps a snapshot and the records after it',
  ],
  [
    'joins the parts of a snapshot',
    class extends MemoryStore {
      override saveSnapshot = async ({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> => {
        await super.saveSnapshot({ sequence, parts: partsOf([(await drain(parts)).join('')]) }, epoch);
      };
    },
    'keeps the parts of a snapshot in order and apart',
  ],
  [
    'takes nothing while a snapshot is being saved',
    class extends MemoryStore {
      private busy: Promise<void> = Promise.resolve();
      override saveSnapshot = (snapshot: SnapshotToSave, epoch: number): Promise<void> => {
        const saved = super.saveSnapshot(snapshot, epoch);
        this.busy = saved.catch(() => undefined);
        return saved;
      };
      override append = async (after: number, epoch: number, body: string): Promise<void> => {
        await this.busy;
        await super.append(after, epoch, body);
      };
    },
    BESIDE,
  ],
  [
    'takes the records beside a snapshot for part of it',
    class extends MemoryStore {
      private last = 0;
      override append = async (after: number, epoch: number, body: string): Promise<void> => {
        await super.append(after, epoch, body);
        this.last = after + 1;
      };
      override saveSnapshot = async ({ parts }: SnapshotToSave, epoch: number): Promise<void> => {
        const all = await drain(parts);
        await super.saveSnapshot({ sequence: this.last, parts: partsOf(all) }, epoch);
      };
    },
    BESIDE,
  ],
  [
    'keeps half a snapshot',
    class extends MemoryStore {
      override saveSnapshot = async ({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> => {
        const all: string[] = [];
        try {
          for await (const part of parts) all.push(part);
        } finally {
          await super.saveSnapshot({ sequence, parts: partsOf(all) }, epoch);
        }
      };
    },
    'keeps the snapshot before one that breaks off',
  ],
  [
    'keeps the latest snapshot, whatever it stands for',
    class extends MemoryStore {
      private latest: { sequence: number; parts: string[] } | undefined;
      override saveSnapshot = async ({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> => {
        const all = await drain(parts);
        await super.saveSnapshot({ sequence, parts: partsOf(all) }, epoch);
        this.latest = { sequence, parts: all };
      };
      override load = (): AsyncIterable<Loaded> =>
        altered(super.load(), (piece) =>
          piece.kind === 'snapshot' && this.latest !== undefined ? { kind: 'snapshot', ...this.latest } : piece,
        );
    },
    'keeps the newer of two snapshots',
  ],
  [
    'compacts what is still needed',
    class extends MemoryStore {
      private isCompacted = false;
      override compact = async (epoch: number): Promise<void> => {
        await super.compact(epoch);
        this.isCompacted = true;
      };
      override load = (): AsyncIterable<Loaded> =>
        altered(super.load(), (piece) => (this.isCompacted && piece.kind === 'records' ? undefined : piece));
    },
    COMPACT,
  ],
  [
    'counts from 1 again where only a snapshot is left',
    class extends MemoryStore {
      override open = async (): ReturnType<MemoryStore['open']> => {
        const opening = await super.open();
        let hasRecords = false;
        for await (const { kind } of super.load()) hasRecords ||= kind === 'records';
        return hasRecords ? opening : { ...opening, sequence: 0 };
      };
    },
    'goes on after compacting',
  ],
  [
    'is closed by whoever had it before',
    class extends MemoryStore {
      override close = (): Promise<void> => super.close();
    },
    OWN_CLOSE,
  ],
  [
    'is never closed where it is said for whom',
    class extends MemoryStore {
      override close = (epoch?: number): Promise<void> => (epoch === undefined ? super.close() : Promise.resolve());
    },
    OWN_CLOSE,
  ],
  [
    'cannot be closed again',
    class extends MemoryStore {
      private isClosed = false;
      override open = (): ReturnType<MemoryStore['open']> => {
        this.isClosed = false;
        return super.open();
      };
      override close = (): Promise<void> => {
        if (this.isClosed) return Promise.reject(new Error('closed already'));
        this.isClosed = true;
        return super.close();
      };
    },
    CLOSED,
  ],
  [
    'takes records when closed',
    class extends MemoryStore {
      override close = (): Promise<void> => Promise.resolve();
    },
    CLOSED,
  ],
];

test('B5.2: the kit passes a store that is right', async () => {
  expect(await failedChecks(MemoryStore)).toEqual([]);
});

test.each(WRONG)('B5.2: the kit finds a store that %s', async (_, wrong, caught) => {
  expect(await failedChecks(wrong)).toContain(caught);
});

test('what does not apply is skipped with its reason', () => {
  const place = (): { store: () => MemoryStore } => ({ store: () => new MemoryStore() });
  const checks = storeChecks({ place, skip: { [OWNERS]: 'nobody else can reach it' } });
  const skipped = checks.filter((check) => check.skipped !== undefined);
  expect(skipped.map(({ name, skipped: reason }) => [name, reason])).toEqual([[OWNERS, 'nobody else can reach it']]);
});
