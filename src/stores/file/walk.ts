import { readFully, type OpenFile } from './files.js';
import { bodyAt, HEADER_BYTES, headerAt, type RecordKind } from './record.js';

const WINDOW_BYTES = 1 << 18;

/** Where a walk begins, and what it expects there. */
export interface WalkStart {
  readonly kind: RecordKind;
  readonly position: number;
  /** The number of the first record. */
  readonly number: number;
  /** Where the walk is to end; nothing beyond is looked at. */
  readonly end: number;
}

/** Goes from record to record through a file, and stops at the first that is not whole. */
export class RecordWalk {
  /** Where the next record begins. */
  position: number;
  /** The number that it has. */
  number: number;
  /** What is wrong with what begins there; undefined while nothing is. */
  damage: string | undefined = undefined;
  private readonly kind: RecordKind;
  private end: number;
  private window: Buffer = Buffer.alloc(0);
  private windowAt: number;

  constructor(
    private readonly file: OpenFile,
    { kind, position, number, end }: WalkStart,
  ) {
    this.kind = kind;
    this.position = position;
    this.windowAt = position;
    this.number = number;
    this.end = end;
  }

  /** The bodies of the next records, which hold until more are asked for; none at the end and at damage. */
  async next(): Promise<readonly Buffer[]> {
    const bodies: Buffer[] = [];
    while (this.damage === undefined && this.position < this.end) {
      const missing = this.take(bodies);
      if (missing === undefined) continue;
      if (bodies.length > 0) break;
      await this.read(missing);
    }
    return bodies;
  }

  /** Takes the next record from the window, or tells how many bytes it takes to do so. */
  private take(bodies: Buffer[]): number | undefined {
    const { window } = this;
    const at = this.position - this.windowAt;
    if (at + HEADER_BYTES > window.length) return HEADER_BYTES;
    const header = headerAt(window, at);
    if (header === undefined) {
      this.stopped('no record begins here');
      return;
    }
    const { kind, number, bytes } = header;
    if (kind !== this.kind) {
      this.stopped(`it is a record of another kind, ${kind}`);
      return;
    }
    if (number !== this.number) {
      this.stopped(`it is record ${number} where ${this.number} was to come`);
      return;
    }
    if (at + bytes > window.length) return bytes;
    const body = bodyAt(window, at, header);
    if (body === undefined) {
      this.stopped(`record ${number} is not what was written`);
      return;
    }
    bodies.push(body);
    this.position += bytes;
    this.number += 1;
    return undefined;
  }

  private stopped(damage: string): undefined {
    this.damage = damage;
    return undefined;
  }

  /** Reads on from the next record. The head of a record is checked, so that its length can be believed; still the file bounds it. */
  private async read(missing: number): Promise<void> {
    const left = this.end - this.position;
    if (missing <= left) {
      // What was given out lies in the window before.
      const room = Buffer.allocUnsafe(Math.min(left, Math.max(missing, WINDOW_BYTES)));
      this.window = room.subarray(0, await readFully(this.file, room, this.position));
      this.windowAt = this.position;
      if (this.window.length >= missing) return;
    }
    this.damage = 'it ends in the middle of a record';
  }
}
