import { crc32 } from 'node:zlib';

/*
 * A record on disk, numbers with the low byte first:
 *
 *   0   FF 'P' 'R' and the kind
 *   4   length of the body
 *   8   number, low and high half
 *   16  CRC-32 of the body
 *   20  CRC-32 of the 20 bytes before
 *   24  the body, UTF-8
 *       0A
 *
 * FF is in no UTF-8 text, so that a record can be found again after damage. First and last byte have more than one bit set,
 * and a body of JSON has no byte that is zero: a hole of zeros in a record is a piece that was never written, and
 * nothing that one flipped bit can make.
 */

/** What a record is: the head of a file, a fact of the journal, a part of a snapshot, or the end of one. */
export type RecordKind = 'head' | 'fact' | 'part' | 'end';

export const HEADER_BYTES = 24;
/** What a record takes beside its body. */
const FRAME_BYTES = HEADER_BYTES + 1;

export const FIRST_BYTE = 0xff;
const LAST_BYTE = 0x0a;
const MARKS: Readonly<Record<RecordKind, number>> = {
  head: markOf('H'),
  fact: markOf('F'),
  part: markOf('P'),
  end: markOf('E'),
};
const KINDS: ReadonlyMap<number, RecordKind> = new Map(
  (Object.entries(MARKS) as [RecordKind, number][]).map(([kind, mark]) => [mark, kind]),
);
const HALF = 2 ** 32;
/** A text takes at most three bytes for each of its units. */
const BYTES_PER_UNIT = 3;

function markOf(letter: string): number {
  return Buffer.from([FIRST_BYTE, ...Buffer.from(`PR${letter}`)]).readUInt32LE();
}

/** What the head of a record says. */
export interface RecordHeader {
  readonly kind: RecordKind;
  readonly number: number;
  /** The length of the whole record. */
  readonly bytes: number;
  readonly bodyCheck: number;
}

/** Room for records on their way to a file, used over and over. */
export class RecordBuffer {
  private bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  private used = 0;

  get length(): number {
    return this.used;
  }

  add(kind: RecordKind, number: number, body: string): void {
    const at = this.used;
    // Counting the bytes of a long text is cheaper than room for the most that it could take.
    const most = body.length < SHORT_UNITS ? body.length * BYTES_PER_UNIT : Buffer.byteLength(body);
    this.reserve(at + FRAME_BYTES + most);
    const { bytes } = this;
    const length = bytes.write(body, at + HEADER_BYTES);
    const end = at + HEADER_BYTES + length;
    bytes.writeUInt32LE(MARKS[kind], at);
    bytes.writeUInt32LE(length, at + 4);
    bytes.writeUInt32LE(number % HALF, at + 8);
    bytes.writeUInt32LE(Math.floor(number / HALF), at + 12);
    bytes.writeUInt32LE(crc32(bytes.subarray(at + HEADER_BYTES, end)), at + 16);
    bytes.writeUInt32LE(crc32(bytes.subarray(at, at + 20)), at + 20);
    bytes[end] = LAST_BYTE;
    this.used = end + 1;
  }

  addText(text: string): void {
    this.reserve(this.used + Buffer.byteLength(text));
    this.used += this.bytes.write(text, this.used);
  }

  /** What was added; it holds until more is. */
  get content(): Buffer {
    return this.bytes.subarray(0, this.used);
  }

  clear(): void {
    this.used = 0;
    // One record of a hundred megabytes should not be remembered for ever.
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  }

  private reserve(length: number): void {
    if (length <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.bytes.length));
    this.bytes.copy(larger, 0, 0, this.used);
    this.bytes = larger;
  }
}

const INITIAL_BYTES = 1 << 14;
const KEPT_BYTES = 1 << 22;
const SHORT_UNITS = 1 << 12;

/** The head of the record that begins there, if one does; whether its body is whole is another question. */
export function headerAt(bytes: Buffer, at: number): RecordHeader | undefined {
  if (at + HEADER_BYTES > bytes.length) return undefined;
  const kind = KINDS.get(bytes.readUInt32LE(at));
  if (kind === undefined || crc32(bytes.subarray(at, at + 20)) !== bytes.readUInt32LE(at + 20)) return undefined;
  return {
    kind,
    number: bytes.readUInt32LE(at + 8) + HALF * bytes.readUInt32LE(at + 12),
    bytes: FRAME_BYTES + bytes.readUInt32LE(at + 4),
    bodyCheck: bytes.readUInt32LE(at + 16),
  };
}

/** The body of the record that begins there and is there to its end, if it is whole. */
export function bodyAt(bytes: Buffer, at: number, header: RecordHeader): Buffer | undefined {
  const end = at + header.bytes - 1;
  const body = bytes.subarray(at + HEADER_BYTES, end);
  return bytes[end] === LAST_BYTE && crc32(body) === header.bodyCheck ? body : undefined;
}
