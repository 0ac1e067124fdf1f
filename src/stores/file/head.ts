import { CorruptJournalError, UnsupportedVersionError } from '../../model/index.js';
import { readFully, type Files, type OpenFile } from './files.js';
import { bodyAt, headerAt, type RecordBuffer } from './record.js';

/*
 * A file begins with a line of text that names its format, so that any later version can be told from damage, and a record
 * that says what the file holds.
 */

/** The newest format that this code reads, and the one that it writes. */
const VERSION = 1;
const LINE = /^precedence (journal|snapshot) ([1-9]\d{0,8})\n/;
/** More than the line takes. */
const LINE_BYTES = 64;
/** More than the line and the record take. */
const HEAD_BYTES = 1024;

/** What a segment of the journal says of itself. */
export interface JournalHead {
  readonly epoch: number;
  readonly index: number;
  /** The number of the first record that it may hold. */
  readonly first: number;
  /** The segment before it, sealed: what stands beyond its end was written by somebody who no longer had the right to. */
  readonly previous: { readonly name: string; readonly end: number; readonly last: number } | null;
}

export interface SnapshotHead {
  readonly epoch: number;
  readonly sequence: number;
}

interface Heads {
  readonly journal: JournalHead;
  readonly snapshot: SnapshotHead;
}

/** Appends the head of a file to what is to be written. */
export function addHead<Kind extends keyof Heads>(buffer: RecordBuffer, kind: Kind, head: Heads[Kind]): void {
  buffer.addText(`precedence ${kind} ${VERSION}\n`);
  buffer.add('head', 0, JSON.stringify(head));
}

/** What a file says of itself, and where that ends. Refuses one of a later version, and one that is damaged there. */
export async function readHead<Kind extends keyof Heads>(
  file: OpenFile,
  source: string,
  kind: Kind,
): Promise<{ readonly head: Heads[Kind]; readonly end: number }> {
  const room = Buffer.allocUnsafe(HEAD_BYTES);
  const bytes = room.subarray(0, await readFully(file, room, 0));
  const [line, written, version] = LINE.exec(bytes.toString('latin1')) ?? [];
  if (line === undefined || written !== kind) {
    throw new CorruptJournalError({ source, position: 0, reason: `it does not begin as a ${kind} does` });
  }
  if (Number(version) > VERSION) {
    throw new UnsupportedVersionError({ source, version: Number(version), supported: VERSION });
  }
  const header = headerAt(bytes, line.length);
  const body = header?.kind === 'head' ? bodyAt(bytes, line.length, header) : undefined;
  if (header === undefined || body === undefined) {
    throw new CorruptJournalError({ source, position: line.length, reason: 'its head is not whole' });
  }
  const head = parsed(body.toString());
  if (!isHead(kind, head)) {
    throw new CorruptJournalError({ source, position: line.length, reason: `its head is none of a ${kind}` });
  }
  return { head: head as Heads[Kind], end: line.length + header.bytes };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Its check says that it was written so; this, that whoever wrote it meant a head. */
function isHead(kind: keyof Heads, head: unknown): boolean {
  if (kind === 'snapshot') return hasNumbers(head, 'epoch', 'sequence');
  if (!hasNumbers(head, 'epoch', 'index', 'first')) return false;
  const { previous } = head as { readonly previous?: unknown };
  if (previous === null) return true;
  return hasNumbers(previous, 'end', 'last') && typeof (previous as { readonly name?: unknown }).name === 'string';
}

function hasNumbers(value: unknown, ...names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  return names.every((name) => Number.isSafeInteger(fields[name]) && (fields[name] as number) >= 0);
}

/** Opens a file for as long as it takes to look at it. */
export async function lookInto<Value>(
  files: Files,
  path: string,
  look: (file: OpenFile) => Promise<Value>,
): Promise<Value> {
  const file = await files.open(path);
  try {
    return await look(file);
  } finally {
    await file.close();
  }
}

/** Says whether a later version wrote a file, going by its first line. */
export async function laterVersionIn(files: Files, source: string): Promise<UnsupportedVersionError | undefined> {
  const line = await lookInto(files, source, async (file) => {
    const room = Buffer.allocUnsafe(LINE_BYTES);
    return room.toString('latin1', 0, await readFully(file, room, 0));
  });
  const version = Number(LINE.exec(line)?.[2] ?? 0);
  return version > VERSION ? new UnsupportedVersionError({ source, version, supported: VERSION }) : undefined;
}
