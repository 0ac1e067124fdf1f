import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { CorruptJournalError, FileStore, salvage, UnsupportedVersionError } from '../../src/index.js';
import { SimulatedDisk } from '../../src/testing/index.js';
import { Account, begin, contentsOf, DIRECTORY, logger, warnings, type Contents } from './file-history.js';

/** The files of a directory by name. */
type Image = ReadonlyMap<string, Uint8Array>;

/** With little of the room that a journal has ahead, so that thousands of copies of it are made soon. */
function imageOf(disk: SimulatedDisk): Image {
  return new Map(
    disk.list(DIRECTORY).map((name) => {
      const bytes = disk.read(`${DIRECTORY}/${name}`);
      return [name, bytes.subarray(0, used(bytes) + 3_000)];
    }),
  );
}

/** What a directory holds, in a form that is compared quickly. */
function digestOf(image: Image): readonly string[] {
  return [...image].map(([name, bytes]) => `${name} ${createHash('sha1').update(bytes).digest('hex')}`).sort();
}

function diskWith(image: Image): SimulatedDisk {
  const disk = new SimulatedDisk();
  for (const [name, bytes] of image) disk.write(`${DIRECTORY}/${name}`, bytes);
  return disk;
}

function altered(image: Image, name: string, alter: (bytes: Buffer) => Uint8Array): Image {
  return new Map(image).set(name, alter(Buffer.from(image.get(name)!)));
}

const flipped = (at: number, bit: number) => (bytes: Buffer) => {
  bytes[at]! ^= 1 << bit;
  return bytes;
};

async function open(disk: SimulatedDisk): Promise<Contents> {
  const store = new FileStore(DIRECTORY, { files: disk.start(), logger });
  const contents = await contentsOf(store);
  await store.close();
  return contents;
}

/** A journal without a snapshot. */
async function journalOf(...bodies: readonly string[]): Promise<{ readonly image: Image; readonly name: string }> {
  const disk = new SimulatedDisk();
  const session = await begin(disk.start());
  for (const body of bodies) await session.append(body);
  await session.store.close();
  return { image: imageOf(disk), name: 'journal-000001-000001' };
}

/** The bytes in use: what follows is room for more. */
function used(bytes: Uint8Array): number {
  return bytes.findLastIndex((byte) => byte !== 0) + 1;
}

/** Two snapshots, records between and after them, and two epochs. */
async function twoSnapshots(): Promise<{ readonly image: Image; readonly account: Account }> {
  const disk = new SimulatedDisk();
  const account = new Account();
  const first = await begin(disk.start(), account);
  await first.append('["a"]');
  await first.append('["b"]');
  await first.save();
  await first.append('["c"]');
  await first.store.close();
  const second = await begin(disk.start(), account);
  await second.append('["d"]');
  await second.save();
  await second.compact();
  await second.append('["e"]');
  await second.store.close();
  return { image: imageOf(disk), account };
}

const NEWEST = 'snapshot-000000000004-000002';
const FORMER = 'snapshot-000000000002-000001';

beforeEach(() => {
  warnings.length = 0;
});

describe('row 2: a torn tail', () => {
  const bodies = ['["first"]', '["second"]', `["${'third '.repeat(200)}"]`];

  test('cut at every byte of the last record, it is left out with a warning, and the records before it are there', async () => {
    const { image, name } = await journalOf(...bodies);
    const whole = used(image.get(name)!);
    const before = used((await journalOf(...bodies.slice(0, 2))).image.get(name)!);
    for (let length = before; length < whole; length++) {
      const shorter = altered(image, name, (bytes) => bytes.subarray(0, length));
      const zeroed = altered(image, name, (bytes) => bytes.fill(0, length));
      for (const cut of [shorter, zeroed]) {
        warnings.length = 0;
        const disk = diskWith(cut);
        expect((await open(disk)).records).toEqual(bodies.slice(0, 2));
        expect(warnings).toHaveLength(length === before ? 0 : 1);
        // It is cut off for good: the next one neither finds nor mentions it.
        expect((await open(disk)).records).toEqual(bodies.slice(0, 2));
        expect(warnings).toHaveLength(length === before ? 0 : 1);
      }
    }
  });

  test('a sector that was not written tears the last record, and damages any other', async () => {
    const { image, name } = await journalOf(...bodies);
    const torn = altered(image, name, (bytes) => bytes.fill(0, 512, 1024));
    expect((await open(diskWith(torn))).records).toEqual(bodies.slice(0, 2));
    expect(warnings[0]).toContain(`/state/${name} ends in a record that was not written to its end`);
    const more = await journalOf(...bodies, '["fourth"]');
    const hole = altered(more.image, name, (bytes) => bytes.fill(0, 512, 1024));
    await expect(open(diskWith(hole))).rejects.toThrow(CorruptJournalError);
  });

  test('a record whose head is gone is damaged, not torn, when whole ones follow it', async () => {
    const { image, name } = await journalOf(...bodies);
    const at = Buffer.from(image.get(name)!).indexOf(bodies[1]!) - 24;
    const headless = altered(image, name, (bytes) => bytes.fill(0, at, at + 24));
    await expect(open(diskWith(headless))).rejects.toMatchObject({ code: 'CORRUPT_JOURNAL', position: at });
  });

  test('without a logger it is a warning of the process', async () => {
    const { image, name } = await journalOf(...bodies);
    const disk = diskWith(altered(image, name, (bytes) => bytes.subarray(0, used(bytes) - 1)));
    const told = new Promise<Error>((resolve) => process.once('warning', resolve));
    await new FileStore(DIRECTORY, { files: disk.start() }).open();
    await expect(told).resolves.toMatchObject({ code: 'PRECEDENCE_STORE' });
  });
});

describe('rows 3 and 4: a flipped bit', () => {
  test('in any byte of a journal is refused with file and offset, and nothing is changed', async () => {
    const bodies = ['["a  @"]', '["b"]', '["c"]'];
    const { image, name } = await journalOf(...bodies);
    const end = used(image.get(name)!);
    for (let at = 0; at < end; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const damaged = altered(image, name, flipped(at, bit));
        const disk = diskWith(damaged);
        const thrown: unknown = await open(disk).catch((error: unknown) => error);
        if (thrown instanceof UnsupportedVersionError) continue;
        expect(thrown).toBeInstanceOf(CorruptJournalError);
        expect(thrown).toMatchObject({ source: `/state/${name}` });
        expect((thrown as CorruptJournalError).position).toBeLessThanOrEqual(at);
        const ownerless = new Map([...damaged].filter(([file]) => !file.startsWith('owner')));
        expect(digestOf(imageOf(disk))).toEqual(digestOf(ownerless));
      }
    }
  });

  test('in what is not used yet is refused, or of no consequence', async () => {
    const { image, name } = await journalOf('["a"]', '["b"]');
    const end = used(image.get(name)!);
    for (let at = end; at < end + 2_000; at += 7) {
      const found = await open(diskWith(altered(image, name, flipped(at, at % 8)))).catch((error: unknown) => error);
      if (found instanceof CorruptJournalError) continue;
      expect(found).toMatchObject({ records: ['["a"]', '["b"]'] });
    }
  });

  test('in any byte of a segment that was sealed is refused', async () => {
    const { image } = await twoSnapshots();
    const name = 'journal-000001-000001';
    const without = new Map([...image].filter(([file]) => !file.startsWith('snapshot')));
    for (let at = 0; at < used(image.get(name)!); at++) {
      await expect(open(diskWith(altered(without, name, flipped(at, at % 8))))).rejects.toThrow(/damaged|version/);
    }
  });

  test('row 4: a length beyond the end of the file is not believed', async () => {
    const { image, name } = await journalOf('["a"]', '["b"]');
    for (let bit = 0; bit < 32; bit++) {
      const at =
        image
          .get(name)!
          .findIndex((_, n, bytes) =>
            Buffer.from(bytes.subarray(n, n + 4)).equals(Buffer.from([0xff, 0x50, 0x52, 0x46])),
          ) + 4;
      const damaged = altered(image, name, flipped(at + (bit >> 3), bit & 7));
      await expect(open(diskWith(damaged))).rejects.toMatchObject({ code: 'CORRUPT_JOURNAL', position: at - 4 });
    }
  });
});

describe('row 5: a snapshot that is damaged', () => {
  test('cut anywhere or empty, the one before it and a longer tail give the same state', async () => {
    const { image, account } = await twoSnapshots();
    for (let length = 0; length < image.get(NEWEST)!.length; length++) {
      warnings.length = 0;
      const found = await open(diskWith(altered(image, NEWEST, (bytes) => bytes.subarray(0, length))));
      expect(found).toMatchObject({ sequence: 5, snapshot: { sequence: 2 }, records: ['["c"]', '["d"]', '["e"]'] });
      account.matches(found);
      expect(warnings[0]).toContain(NEWEST);
    }
  });

  test('a flipped bit in any byte of it is found', async () => {
    const { image, account } = await twoSnapshots();
    for (let at = 0; at < image.get(NEWEST)!.length; at++) {
      const found = await open(diskWith(altered(image, NEWEST, flipped(at, at % 8)))).catch((error: unknown) => error);
      if (found instanceof UnsupportedVersionError) continue;
      expect(found).toMatchObject({ sequence: 5, snapshot: { sequence: 2 } });
      account.matches(found as Contents);
    }
  });

  test('with no snapshot that is whole the whole journal serves, as long as it is there', async () => {
    const { image } = await twoSnapshots();
    const empty = altered(
      altered(image, NEWEST, () => Buffer.alloc(0)),
      FORMER,
      () => Buffer.alloc(0),
    );
    await expect(open(diskWith(empty))).resolves.toMatchObject({ snapshot: undefined, records: { length: 5 } });
  });

  test('where nothing is left to go back to it is refused: a state is never empty', async () => {
    const { image } = await later();
    const names = [...image.keys()].filter((name) => name.startsWith('snapshot'));
    const empty = names.reduce((all, name) => altered(all, name, () => Buffer.alloc(0)), image);
    await expect(open(diskWith(empty))).rejects.toThrow(CorruptJournalError);
    const gone = new Map([...image].filter(([name]) => !name.startsWith('snapshot')));
    await expect(open(diskWith(gone))).rejects.toThrow(/records from 1 to \d+ are missing/);
    const alone = new Map([...image].filter(([name]) => name.startsWith('snapshot')));
    await expect(open(diskWith(alone))).rejects.toThrow('its journal is missing');
  });

  test('a segment that is missing between others is refused', async () => {
    const { image } = await twoSnapshots();
    const holed = new Map([...image].filter(([name]) => name !== 'journal-000001-000001' && name !== NEWEST));
    await expect(open(diskWith(holed))).rejects.toThrow(/are missing before it/);
  });
});

/** A directory in which two snapshots have let go of the beginning of the journal. */
async function later(): Promise<{ readonly image: Image; readonly account: Account }> {
  const { image, account } = await twoSnapshots();
  const disk = diskWith(image);
  const session = await begin(disk.start(), account);
  await session.save();
  await session.compact();
  await session.append('["f"]');
  await session.store.close();
  return { image: imageOf(disk), account };
}

describe('row 10: a later version', () => {
  test.each(['journal-000002-000001', NEWEST])('in %s is refused with its number, and left as it is', async (name) => {
    const { image } = await twoSnapshots();
    const newer = altered(image, name, (bytes) =>
      Buffer.from(bytes.toString('latin1').replace(/ 1\n/, ' 2\n'), 'latin1'),
    );
    const disk = diskWith(newer);
    await expect(open(disk)).rejects.toMatchObject({
      code: 'UNSUPPORTED_VERSION',
      source: `/state/${name}`,
      version: 2,
      supported: 1,
    });
    expect(digestOf(imageOf(disk))).toEqual(digestOf(newer));
  });
});

describe('salvage', () => {
  const salvaged = async (image: Image) => {
    const disk = diskWith(image);
    const report = await salvage(DIRECTORY, '/new', { files: disk.start() });
    expect(digestOf(imageOf(disk))).toEqual(digestOf(image));
    const contents = await contentsOf(new FileStore('/new', { files: disk.start(), logger }));
    expect(contents.sequence).toBe(report.sequence);
    return { report, contents };
  };

  test('of a directory that is whole loses nothing', async () => {
    const { image, account } = await later();
    const { report, contents } = await salvaged(image);
    expect(report).toEqual({ sequence: 6, snapshot: 5, losses: [], unusable: 0 });
    account.matches(contents);
  });

  test('row 3: goes up to the damage, and says where that is and what follows it', async () => {
    const bodies = ['["a"]', '["b"]', '["c"]', '["d"]'];
    const { image, name } = await journalOf(...bodies);
    const at = Buffer.from(image.get(name)!).indexOf('["b"]');
    const { report, contents } = await salvaged(altered(image, name, flipped(at, 0)));
    expect(contents.records).toEqual(['["a"]']);
    expect(report).toMatchObject({ sequence: 1, snapshot: 0, unusable: 2 });
    expect(report.losses).toMatchObject([{ source: `/state/${name}`, position: at - 24 }]);
  });

  test('takes the snapshot from which it gets furthest', async () => {
    const { image, account } = await twoSnapshots();
    const at = Buffer.from(image.get('journal-000001-000001')!).indexOf('["c"]');
    const holed = await salvaged(altered(image, 'journal-000001-000001', flipped(at, 0)));
    expect(holed.report).toMatchObject({ sequence: 5, snapshot: 4, losses: { length: 1 } });
    account.matches(holed.contents);
    const short = await salvaged(altered(image, NEWEST, (bytes) => bytes.subarray(0, -3)));
    expect(short.report).toMatchObject({ sequence: 5, snapshot: 2, losses: [{ source: `/state/${NEWEST}` }] });
    account.matches(short.contents);
  });

  test('gets past damage in the head of a segment', async () => {
    const { image, name } = await journalOf('["a"]', '["b"]');
    const { report } = await salvaged(altered(image, name, flipped(30, 0)));
    expect(report).toMatchObject({ sequence: 2, losses: [{ position: 0 }] });
  });

  test('does not make an empty state of one that cannot be read, nor write into a place that is used', async () => {
    const { image, name } = await journalOf('["a"]');
    const nothing = diskWith(altered(image, name, (bytes) => bytes.fill(1)));
    await expect(salvage(DIRECTORY, '/new', { files: nothing.start() })).rejects.toThrow(CorruptJournalError);
    await expect(salvage(DIRECTORY, DIRECTORY, { files: diskWith(image).start() })).rejects.toMatchObject({
      code: 'STORE',
    });
  });
});
