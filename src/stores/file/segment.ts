import { join } from 'node:path';
import { createAnew, removeIfThere } from './directory.js';
import { fatal, UnknownStateError } from './failure.js';
import { writeFully, type Files, type OpenFile } from './files.js';
import { addHead, type JournalHead } from './head.js';
import { journalName, unfinishedName } from './names.js';
import { RecordBuffer } from './record.js';

/** How far ahead of the records a file is filled with zeros. */
const AHEAD = Buffer.alloc(1 << 18);

/** Whether a file is filled with zeros ahead of what is written: an append that changes no length is synced in two thirds of the time. */
export type Room = 'ahead' | 'as needed';

/** The segment of the journal that is being written. */
export class SegmentWriter {
  /** Where the next record goes. */
  private position: number;
  private filled: number;

  private constructor(
    readonly name: string,
    readonly head: JournalHead,
    private readonly file: OpenFile,
    private readonly room: Room,
    /** Where the records begin. */
    readonly begin: number,
  ) {
    this.position = begin;
    this.filled = begin;
  }

  /** Makes one that is found whole or not at all, also after a loss of power. */
  static async create(files: Files, directory: string, head: JournalHead, room: Room): Promise<SegmentWriter> {
    const name = journalName(head.epoch, head.index);
    const draft = join(directory, unfinishedName(name, head.epoch));
    const file = await createAnew(files, draft);
    try {
      const buffer = new RecordBuffer();
      addHead(buffer, 'journal', head);
      await writeFully(file, buffer.content, 0);
      await file.sync().catch(fatal);
      await files.rename(draft, join(directory, name)).catch(fatal);
      await files.syncDirectory(directory).catch(fatal);
      return new SegmentWriter(name, head, file, room, buffer.length);
    } catch (thrown) {
      await file.close().catch(() => undefined);
      await removeIfThere(files, draft).catch(() => undefined);
      throw thrown;
    }
  }

  get end(): number {
    return this.position;
  }

  /** Writes a record. Where it cannot be written whole, nothing of it is left. */
  async append(record: Buffer): Promise<void> {
    const end = this.position + record.length;
    try {
      if (this.room === 'ahead' && end > this.filled) await this.fill(end);
      await writeFully(this.file, record, this.position);
    } catch (thrown) {
      await this.cut(thrown);
      throw thrown;
    }
    this.position = end;
  }

  async sync(): Promise<void> {
    await this.file.sync().catch(fatal);
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private async fill(end: number): Promise<void> {
    while (this.filled < end) {
      await writeFully(this.file, AHEAD, this.filled);
      this.filled += AHEAD.length;
    }
  }

  private async cut(cause: unknown): Promise<void> {
    if (cause instanceof UnknownStateError) return;
    await this.file.truncate(this.position).catch(fatal);
    this.filled = this.position;
  }
}
