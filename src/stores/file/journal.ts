import { join } from 'node:path';
import type { Durability } from '../../ports/store.js';
import { removeIfThere } from './directory.js';
import type { Files } from './files.js';
import { RecordBuffer } from './record.js';
import { SegmentWriter, type Room } from './segment.js';
import type { Holdings, Segment } from './survey.js';
import { writeAgain } from './write-again.js';

/** A segment that has come to this is sealed, and another one is begun. */
const SEGMENT_BYTES = 1 << 24;

/** The journal as one owner writes it. */
export class Journal {
  private readonly buffer = new RecordBuffer();

  private constructor(
    private readonly files: Files,
    private readonly directory: string,
    private readonly durability: Durability,
    /** Those that are sealed, oldest first. */
    private readonly sealed: Segment[],
    private current: SegmentWriter,
    private last: number,
  ) {}

  /** Begins a segment of its own: what earlier owners have written ends where it was found to end. */
  static async begin(
    files: Files,
    directory: string,
    durability: Durability,
    epoch: number,
    { segments, sequence }: Holdings,
  ): Promise<Journal> {
    const latest = segments.at(-1);
    const previous = latest === undefined ? null : { name: latest.name, end: latest.end, last: latest.last };
    // From now on what was read of it counts.
    if (latest !== undefined) await writeAgain(files, directory, latest);
    const head = { epoch, index: 1, first: sequence + 1, previous };
    const current = await SegmentWriter.create(files, directory, head, roomFor(durability));
    return new Journal(files, directory, durability, [...segments], current, sequence);
  }

  /** The number of the last record. */
  get sequence(): number {
    return this.last;
  }

  /** Writes the next record; it is kept as well as this journal promises once `settle` has resolved too. */
  async write(body: string): Promise<void> {
    if (this.current.end >= SEGMENT_BYTES) await this.beginAnother();
    this.buffer.clear();
    this.buffer.add('fact', this.last + 1, body);
    await this.current.append(this.buffer.content);
    this.last += 1;
  }

  async settle(): Promise<void> {
    if (this.durability === 'fsync') await this.current.sync();
  }

  /** Removes the segments of which everything stands in a snapshot. */
  async forget(sequence: number): Promise<void> {
    while (this.sealed[0] !== undefined && this.sealed[0].last <= sequence) {
      await removeIfThere(this.files, join(this.directory, this.sealed[0].name));
      this.sealed.shift();
    }
  }

  async close(): Promise<void> {
    await this.current.close();
  }

  private async beginAnother(): Promise<void> {
    const { current } = this;
    const { name, head, end } = current;
    // The next one says where this one ends, so that it has to be there by then.
    await current.sync();
    const next = {
      epoch: head.epoch,
      index: head.index + 1,
      first: this.last + 1,
      previous: { name, end, last: this.last },
    };
    this.current = await SegmentWriter.create(this.files, this.directory, next, roomFor(this.durability));
    this.sealed.push({ name, first: head.first, last: this.last, begin: current.begin, end });
    await current.close();
  }
}

function roomFor(durability: Durability): Room {
  return durability === 'fsync' ? 'ahead' : 'as needed';
}
