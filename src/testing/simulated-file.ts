import type { RandomSource } from '../model/index.js';

/** What a disk writes as a whole. */
const SECTOR_BYTES = 512;

type Change =
  | { readonly kind: 'write'; readonly position: number; readonly bytes: Uint8Array }
  | { readonly kind: 'truncate'; readonly length: number };

/** The content of a file, and what of it would be lost with the power. */
export class SimulatedFile {
  private content = new Content();
  private unsynced: Change[] = [];
  /** What survives. */
  private synced = new Content();

  get length(): number {
    return this.content.length;
  }

  read(into: Uint8Array, position: number): number {
    return this.content.read(into, position);
  }

  write(bytes: Uint8Array, position: number): void {
    this.change({ kind: 'write', position, bytes: bytes.slice() });
  }

  truncate(length: number): void {
    this.change({ kind: 'truncate', length });
  }

  sync(): void {
    for (const change of this.unsynced) this.synced.apply(change);
    this.unsynced = [];
  }

  /**
   * A sync has failed: the machine gives up what it could not write, and takes it for written. Everybody still reads it, and
   * no sync will write it, until the power goes.
   */
  loseUnsynced(): void {
    this.unsynced = [];
  }

  /** Of what was not synced all, nothing, a beginning that ends anywhere, or any of its sectors are left. */
  losePower(random: RandomSource): void {
    const left = this.synced;
    for (const change of survivors(this.unsynced, random)) left.apply(change);
    this.content = left.copy();
    this.unsynced = [];
  }

  private change(change: Change): void {
    this.content.apply(change);
    this.unsynced.push(change);
  }
}

function survivors(changes: readonly Change[], random: RandomSource): readonly Change[] {
  const kept = Math.floor(random.next() * (changes.length + 1));
  switch (Math.floor(random.next() * 4)) {
    case 0:
      return [];
    case 1:
      return changes;
    case 2: {
      const torn = changes[kept];
      const whole = changes.slice(0, kept);
      if (torn?.kind !== 'write') return whole;
      return [...whole, { ...torn, bytes: torn.bytes.subarray(0, Math.floor(random.next() * torn.bytes.length)) }];
    }
    default:
      return changes
        .flatMap((change) => (change.kind === 'write' ? sectorsOf(change) : [change]))
        .filter(() => random.next() < 0.5);
  }
}

function sectorsOf({ position, bytes }: Extract<Change, { kind: 'write' }>): Change[] {
  const sectors: Change[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + SECTOR_BYTES - ((position + at) % SECTOR_BYTES);
    sectors.push({ kind: 'write', position: position + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return sectors;
}

/** Bytes that grow. */
class Content {
  length = 0;
  private bytes = new Uint8Array(0);

  read(into: Uint8Array, position: number): number {
    const found = this.bytes.subarray(Math.min(position, this.length), Math.min(position + into.length, this.length));
    into.set(found);
    return found.length;
  }

  apply(change: Change): void {
    switch (change.kind) {
      case 'write': {
        const end = change.position + change.bytes.length;
        if (end > this.length) this.resize(end);
        this.bytes.set(change.bytes, change.position);
        return;
      }
      case 'truncate':
        this.resize(change.length);
        return;
    }
  }

  copy(): Content {
    const copy = new Content();
    copy.bytes = this.bytes.slice();
    copy.length = this.length;
    return copy;
  }

  private resize(length: number): void {
    if (length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, this.length));
      this.bytes = larger;
    }
    // What is cut off is zeros when the file grows again.
    if (length < this.length) this.bytes.fill(0, length, this.length);
    this.length = length;
  }
}
