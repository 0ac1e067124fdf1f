import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { FileStore, type Files } from '../../src/index.js';
import { HEADER_BYTES, RecordBuffer, headerAt } from '../../src/stores/file/record.js';
import { SimulatedDisk } from '../../src/testing/index.js';
import { expectTyped, inherited, textOf } from './claims.js';
import { noting, recovered, statesOf, work, type Left } from './history.js';
import { runsOf, timeFor } from './hostile.js';

const DIRECTORY = '/state';

/** The files of a directory by name. */
type Image = ReadonlyMap<string, Buffer>;

/** One change of the bytes of a file; places are taken by what there is. */
interface Damage {
  readonly file: number;
  readonly kind: 'flip' | 'set' | 'zero' | 'cut' | 'insert' | 'remove' | 'copy' | 'number';
  readonly at: number;
  readonly length: number;
  readonly value: number;
}

const damages: fc.Arbitrary<Damage> = fc.record({
  file: fc.nat(20),
  kind: fc.constantFrom('flip', 'flip', 'set', 'zero', 'cut', 'insert', 'remove', 'copy', 'number'),
  at: fc.nat(1_000_000),
  length: fc.oneof(fc.nat(30), fc.nat(3_000)),
  value: fc.nat(0xffffffff),
});

const left: Left = { bodies: [], snapshots: [] };
const warnings: string[] = [];
const logger = {
  ...{ debug: () => undefined, info: () => undefined, error: () => undefined },
  warn: (_: object, message: string) => warnings.push(message),
};
let states: readonly string[] = [];
let image: Image = new Map();

beforeAll(async () => {
  const disk = new SimulatedDisk();
  for (const rounds of [3, 3]) {
    const process = disk.start();
    await work(noting(new FileStore(DIRECTORY, { files: process }), left), rounds);
    process.kill();
  }
  states = await statesOf(left);
  image = new Map(disk.list(DIRECTORY).map((name) => [name, trimmed(disk.read(`${DIRECTORY}/${name}`))]));
});

beforeEach(() => {
  warnings.length = 0;
});

/** With little of the room that a segment has ahead. */
function trimmed(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.subarray(0, usedIn(bytes) + 600));
}

function usedIn(bytes: Uint8Array): number {
  return bytes.findLastIndex((byte) => byte !== 0) + 1;
}

function damaged(bytes: Buffer, { kind, at, length, value }: Damage): Buffer {
  const from = at % (bytes.length + 1);
  const to = Math.min(bytes.length, from + length);
  const copy = Buffer.from(bytes);
  switch (kind) {
    case 'flip':
      if (from < copy.length) copy[from]! ^= 1 << (value % 8);
      return copy;
    case 'set':
      return copy.fill(value % 256, from, Math.min(to, from + 4));
    case 'zero':
      return copy.fill(0, from, to);
    case 'cut':
      return copy.subarray(0, from);
    case 'insert':
      return Buffer.concat([copy.subarray(0, from), Buffer.alloc(length % 50, value % 256), copy.subarray(from)]);
    case 'remove':
      return Buffer.concat([copy.subarray(0, from), copy.subarray(to)]);
    case 'copy':
      return Buffer.concat([copy.subarray(0, to), copy.subarray(from)]);
    case 'number':
      if (from + 4 <= copy.length) copy.writeUInt32LE(value, from);
      return copy;
  }
}

/** The same files; what is read at once is noted. */
function measured(files: Files, reads: number[]): Files {
  const open = files.open.bind(files);
  files.open = async (path) => {
    const file = await open(path);
    const read = file.read.bind(file);
    file.read = (into, position) => {
      reads.push(into.length);
      return read(into, position);
    };
    return file;
  };
  return files;
}

/** What a directory leads to, or why it is refused; no more is read at once than there is, or than a window takes. */
async function openedOn(files: Image): Promise<{ readonly state: string } | { readonly error: unknown }> {
  const disk = new SimulatedDisk();
  for (const [name, bytes] of files) disk.write(`${DIRECTORY}/${name}`, bytes);
  const reads: number[] = [];
  const store = new FileStore(DIRECTORY, { files: measured(disk.start(), reads), logger });
  try {
    await store.open();
    return { state: textOf((await recovered(store)).snapshot()) };
  } catch (error) {
    return { error };
  } finally {
    await store.close().catch(() => undefined);
    const most = Math.max(1 << 18, ...[...files.values()].map(({ length }) => length));
    expect(Math.max(0, ...reads)).toBeLessThanOrEqual(most);
  }
}

test('what was left is there as it was', async () => {
  expect(await openedOn(image)).toEqual({ state: states.at(-1) });
  expect([...image.keys()].filter((name) => name.startsWith('journal')).length).toBeGreaterThan(1);
  expect([...image.keys()].filter((name) => name.startsWith('snapshot')).length).toBeGreaterThan(1);
});

const runs = runsOf(400);

test(
  'rows 2, 3, 4 and 5: damaged bytes lead to the same state, to an earlier one with a warning, or to a typed refusal; never to another',
  async () => {
    const counts = { same: 0, earlier: 0, refused: 0 };
    const property = fc.asyncProperty(fc.array(damages, { minLength: 1, maxLength: 2 }), async (todo) => {
      warnings.length = 0;
      const files = new Map(image);
      const names = [...files.keys()];
      for (const each of todo) {
        const name = names[each.file % names.length]!;
        files.set(name, damaged(files.get(name)!, each));
      }
      const opened = await openedOn(files);
      if ('error' in opened) {
        counts.refused += 1;
        expectTyped(opened.error);
        expect(['CORRUPT_JOURNAL', 'UNSUPPORTED_VERSION']).toContain(opened.error.code);
      } else if (opened.state === states.at(-1)) counts.same += 1;
      else {
        counts.earlier += 1;
        expect(states).toContain(opened.state);
        // A cut between two records leaves what a journal looks like that was never longer.
        if (warnings.length === 0) expect(endsBetweenRecords(files)).toBe(true);
      }
    });
    await fc.assert(property, { numRuns: runs });
    if (process.env['FUZZ_RUNS'] !== undefined) console.log(counts);
    expect(Math.min(counts.same, counts.earlier, counts.refused)).toBeGreaterThan(0);
  },
  timeFor(runs),
);

/** Whether nothing follows the last whole record of the newest segment. */
function endsBetweenRecords(files: Image): boolean {
  const newest = [...files.keys()]
    .filter((name) => name.startsWith('journal'))
    .sort()
    .at(-1)!;
  const bytes = files.get(newest)!;
  let at = bytes.indexOf(0xff);
  for (let header = headerAt(bytes, at); header !== undefined; header = headerAt(bytes, at)) at += header.bytes;
  return usedIn(bytes.subarray(at)) === 0;
}

/** A file that somebody has made up: whole records, or what says that it is one, of anything. */
const pieces = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom('head', 'fact', 'part', 'end'),
      number: fc.oneof(fc.nat(5), fc.constantFrom(2 ** 32, 2 ** 53 - 1)),
      body: fc.oneof(fc.json(), fc.constantFrom(...heads()), fc.string()),
      length: fc.constantFrom(undefined, undefined, 0, 0xffffffff, 0x7fffffff),
    }),
    fc.uint8Array({ maxLength: 60 }),
  ),
  { maxLength: 6 },
);

function heads(): string[] {
  const previous = { name: 'journal-000001-000001', end: 2 ** 40, last: 9 };
  const told = { epoch: 1, index: 1, first: 1, sequence: 1 };
  return [
    ...['null', '{}', '7', '{"epoch":1,"index":1,"first":1}', '{"epoch":1,"sequence":1}', '{"__proto__":{"first":1}}'],
    ...[
      { ...told, previous },
      { ...told, previous: null },
      { ...told, first: '1', previous: null },
    ].map((head) => JSON.stringify(head)),
    ...[
      { ...told, previous: { ...previous, name: '../../etc/passwd' } },
      { ...told, previous: 7 },
    ].map((head) => JSON.stringify(head)),
  ];
}

type Pieces = typeof pieces extends fc.Arbitrary<infer Made> ? Made : never;

function fileOf(line: string, made: Pieces): Buffer {
  const files: Uint8Array[] = [Buffer.from(line)];
  for (const piece of made) files.push(piece instanceof Uint8Array ? piece : recordOf(piece));
  return Buffer.concat(files);
}

function recordOf({ kind, number, body, length }: Exclude<Pieces[number], Uint8Array>): Buffer {
  const buffer = new RecordBuffer();
  buffer.add(kind, number, body);
  const bytes = Buffer.from(buffer.content);
  if (length === undefined) return bytes;
  bytes.writeUInt32LE(length, 4);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, HEADER_BYTES - 4)), HEADER_BYTES - 4);
  return bytes;
}

test(
  'row 4 files that somebody has made up are refused with a typed error, and take neither room nor time',
  async () => {
    const lines = fc.constantFrom(
      ...[
        'precedence journal 1\n',
        'precedence snapshot 1\n',
        'precedence journal 2\n',
        'precedence journal 999999999\n',
      ],
      '',
    );
    const names = ['journal-000001-000001', 'journal-000002-000001', 'snapshot-000000000001-000001', 'owner-000001'];
    const file = fc.tuple(fc.constantFrom(...names), lines, pieces);
    const property = fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 3 }), async (made) => {
      const prototypes = inherited();
      const opened = await openedOn(new Map(made.map(([name, line, each]) => [name, fileOf(line, each)])));
      if ('error' in opened) expectTyped(opened.error);
      expect(inherited()).toBe(prototypes);
    });
    await fc.assert(property, { numRuns: runs });
  },
  timeFor(runs),
);
