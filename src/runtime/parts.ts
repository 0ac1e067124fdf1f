import type { Store } from '../ports/store.js';
import { JOURNAL_VERSION, type Entry } from './migrations.js';

/** Of a store that names none: every one takes as much, and a text may be twice as long. */
const MAX_RECORD_BYTES = 2 ** 28;

/** What a record has beside its entries and the commas between them, at the most. */
const FRAME_BYTES = 64;

/** A character takes as many bytes at the most. */
export const CHARACTER_BYTES = 3;

/** The first entry of a record that is a part of what is kept as a whole. */
interface PartNote {
  readonly kind: 'part';
  /** Counted from 1. */
  readonly part: number;
  readonly of: number;
}

/**
 * What has happened by the end of a turn is kept as a whole or not at all: a batch, all that one cancellation brings about. Where that
 * is more than a store takes as one record, it is cut into several, each of which says which part it is. Until the last one
 * is kept, none of them counts.
 */
export function cut(texts: readonly string[], characters: number, store: Store): readonly (readonly string[])[] {
  const most = (store.maxRecordBytes ?? MAX_RECORD_BYTES) - FRAME_BYTES;
  // Most turns need not be measured.
  if (CHARACTER_BYTES * characters + texts.length <= most) return [texts];
  const parts: string[][] = [];
  let bytes = Infinity;
  for (const text of texts) {
    // One that is too long by its characters alone is as long as it may be, and goes by itself.
    const length = 1 + (text.length > most ? text.length : Buffer.byteLength(text));
    if (bytes + length > most) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1)?.push(text);
    bytes += length;
  }
  return parts;
}

/** The n-th of so many parts as a record, counted from 0; there is an end to how long that can be. */
export function recordText(texts: readonly string[], n: number, parts: number): string {
  const note: PartNote = { kind: 'part', part: n + 1, of: parts };
  return `[${JOURNAL_VERSION},${parts === 1 ? '' : `${JSON.stringify(note)},`}${texts.join(',')}]`;
}

/** Puts together again what was cut, record by record. */
export class Assembly {
  private held: (readonly Entry[])[] = [];
  /** Of what is held: how many parts it will have. */
  private of = 0;

  /**
   * What counts from this record on: nothing before the last part. Parts whose last one never came, as their process went down
   * or was deposed, are never to count; whoever comes next begins with a whole record or with a first part.
   */
  add(entries: readonly Entry[], missing: () => Error): readonly Entry[] {
    const note = entries[0] as PartNote | undefined;
    if (note?.kind !== 'part') {
      this.held = [];
      return entries;
    }
    if (note.part === 1) this.held = [];
    if (note.part !== this.held.length + 1 || (note.part > 1 && note.of !== this.of)) throw missing();
    this.of = note.of;
    this.held.push(entries.slice(1));
    if (note.part < note.of) return [];
    return this.held.splice(0).flat();
  }
}
