import { readFully, type Files } from './files.js';
import { lookInto, type JournalHead } from './head.js';
import { bodyAt, FIRST_BYTE, HEADER_BYTES, headerAt, type RecordHeader } from './record.js';

/** Something that could not be read. */
export interface Loss {
  readonly source: string;
  /** Where in it. */
  readonly position: number;
  readonly reason: string;
}

/** A record that is whole, wherever it stands. */
export interface FoundRecord {
  readonly source: string;
  readonly number: number;
  /** Where its body begins, and how long that is. */
  readonly position: number;
  readonly length: number;
}

/** What a segment holds that can be read. */
interface Found {
  readonly found: readonly FoundRecord[];
  readonly losses: readonly Loss[];
  /** The number of the first record that it may hold. */
  readonly first: number;
}

/** Looks for records in a whole segment, past what is damaged. */
export async function findRecords(files: Files, source: string): Promise<Found> {
  const bytes = await lookInto(files, source, async (file) => {
    const all = Buffer.allocUnsafe(await file.size());
    return all.subarray(0, await readFully(file, all, 0));
  });
  const found: FoundRecord[] = [];
  const losses: Loss[] = [];
  let first: number | undefined;
  let read = 0;
  for (let at = 0; at < bytes.length;) {
    const header = wholeAt(bytes, at);
    if (header === undefined) {
      at = nextFirstByte(bytes, at);
      continue;
    }
    losses.push(...lost(bytes, read, at, source));
    if (header.kind === 'fact') {
      const length = header.bytes - HEADER_BYTES - 1;
      found.push({ source, number: header.number, position: at + HEADER_BYTES, length });
    }
    if (header.kind === 'head') first = (JSON.parse(String(bodyAt(bytes, at, header))) as JournalHead).first;
    at += header.bytes;
    read = at;
  }
  losses.push(...lost(bytes, read, bytes.length, source));
  return { found, losses, first: first ?? found[0]?.number ?? Infinity };
}

function wholeAt(bytes: Buffer, at: number): RecordHeader | undefined {
  const header = headerAt(bytes, at);
  return header !== undefined && bodyAt(bytes, at, header) !== undefined ? header : undefined;
}

function nextFirstByte(bytes: Buffer, at: number): number {
  const next = bytes.indexOf(FIRST_BYTE, at + 1);
  return next < 0 ? bytes.length : next;
}

/** What stands between records: the line at the beginning and zeros at the end are as they should be. */
function lost(bytes: Buffer, from: number, to: number, source: string): Loss[] {
  if (
    from >= to ||
    (from === 0 && to < bytes.length && /^precedence journal \d+\n$/.test(bytes.toString('latin1', 0, to)))
  )
    return [];
  const isUnused = bytes.subarray(from, to).every((byte) => byte === 0);
  if (isUnused) return [];
  return [{ source, position: from, reason: `no whole record in the ${to - from} bytes up to ${to}` }];
}
