import { join } from 'node:path';
import { CorruptJournalError } from '../../model/index.js';
import { createAnew, removeIfThere } from './directory.js';
import { fatal } from './failure.js';
import { writeFully, type Files, type OpenFile } from './files.js';
import { addHead, readHead } from './head.js';
import { snapshotName, unfinishedName } from './names.js';
import { RecordBuffer } from './record.js';
import { RecordWalk } from './walk.js';

/** Parts are written together until they are this many bytes. */
const WRITE_BYTES = 1 << 18;
/** The disk is given its share every so many bytes, so that records do not wait behind a whole snapshot. */
const SYNC_BYTES = 1 << 23;

/** A snapshot that was written to its end. */
export interface SnapshotFile {
  readonly name: string;
  readonly epoch: number;
  readonly sequence: number;
}

/** A snapshot on its way: it has another name until it is complete and on the disk. */
export class SnapshotDraft {
  private readonly buffer = new RecordBuffer();
  private written = 0;
  private synced = 0;
  private parts = 0;
  private isClosed = false;

  private constructor(
    private readonly files: Files,
    private readonly directory: string,
    private readonly draft: string,
    private readonly file: OpenFile,
    readonly snapshot: SnapshotFile,
  ) {
    addHead(this.buffer, 'snapshot', { epoch: snapshot.epoch, sequence: snapshot.sequence });
  }

  static async begin(files: Files, directory: string, epoch: number, sequence: number): Promise<SnapshotDraft> {
    const name = snapshotName(sequence, epoch);
    const draft = join(directory, unfinishedName(name, epoch));
    return new SnapshotDraft(files, directory, draft, await createAnew(files, draft), { name, epoch, sequence });
  }

  async add(part: string): Promise<void> {
    this.parts += 1;
    this.buffer.add('part', this.parts, part);
    if (this.buffer.length >= WRITE_BYTES) await this.flush();
  }

  /** Writes the rest; after this only the name is not yet its own. */
  async end(): Promise<void> {
    this.buffer.add('end', this.parts, '');
    await this.flush();
    await this.file.sync().catch(fatal);
    await this.close();
  }

  async publish(): Promise<SnapshotFile> {
    await this.files.rename(this.draft, join(this.directory, this.snapshot.name));
    await this.files.syncDirectory(this.directory).catch(fatal);
    return this.snapshot;
  }

  async discard(): Promise<void> {
    await this.close().catch(() => undefined);
    // What is left of it is removed when the directory is opened again.
    await removeIfThere(this.files, this.draft).catch(() => undefined);
  }

  /** Once: by the second time the machine may have given its number to somebody else's file. */
  private async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.file.close();
  }

  private async flush(): Promise<void> {
    await writeFully(this.file, this.buffer.content, this.written);
    this.written += this.buffer.length;
    this.buffer.clear();
    if (this.written - this.synced < SYNC_BYTES) return;
    await this.file.sync().catch(fatal);
    this.synced = this.written;
  }
}

/** Reads a snapshot part by part. Damage is a `CorruptJournalError`, which may come after parts that are whole. */
export async function* partsOf(files: Files, directory: string, name: string): AsyncGenerator<readonly Buffer[]> {
  const source = join(directory, name);
  const file = await files.open(source);
  try {
    const { end: position } = await readHead(file, source, 'snapshot');
    const walk = new RecordWalk(file, { kind: 'part', position, number: 1, end: await file.size() });
    for (let parts = await walk.next(); parts.length > 0; parts = await walk.next()) yield parts;
    const last = new RecordWalk(file, {
      kind: 'end',
      position: walk.position,
      number: walk.number - 1,
      end: await file.size(),
    });
    const isComplete = (await last.next()).length === 1;
    if (!isComplete) {
      throw new CorruptJournalError({ source, position: walk.position, reason: walk.damage ?? 'its end is missing' });
    }
  } finally {
    await file.close();
  }
}

/** What is wrong with a snapshot, if anything is. */
export async function damageIn(
  files: Files,
  directory: string,
  name: string,
): Promise<CorruptJournalError | undefined> {
  try {
    const parts = partsOf(files, directory, name);
    while ((await parts.next()).done !== true);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof CorruptJournalError) return thrown;
    throw thrown;
  }
}
