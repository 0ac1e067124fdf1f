import { fdatasync, fsyncSync, openSync, write, writeSync } from 'node:fs';
import { promisify } from 'node:util';

const writeAt = promisify(write);
const sync = promisify(fdatasync);
const ZEROS = Buffer.alloc(1 << 20);

/** A file that is appended to with one write and one sync for all that came meanwhile: the least that durability takes. */
export class GroupCommit {
  private readonly descriptor: number;
  private filled = 0;
  private position = 0;
  private bytes = Buffer.allocUnsafe(1 << 20);
  private spare = Buffer.allocUnsafe(1 << 20);
  private used = 0;
  private kept: Promise<void> | undefined = undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.descriptor = openSync(path, 'wx');
  }

  /** Fills the file with zeros that far beyond what is written, so that no write changes its length. */
  makeRoom(bytes: number): void {
    for (; this.filled < this.position + bytes; this.filled += ZEROS.length) {
      writeSync(this.descriptor, ZEROS, 0, ZEROS.length, this.filled);
    }
    fsyncSync(this.descriptor);
  }

  /** Resolves when it is on the disk. */
  append(text: string): Promise<void> {
    this.used += this.bytes.write(text, this.used, 'latin1');
    this.kept ??= this.next();
    return this.kept;
  }

  private async next(): Promise<void> {
    await this.writing;
    this.writing = this.commit();
    await this.writing;
  }

  private async commit(): Promise<void> {
    const { bytes, used, position } = this;
    [this.bytes, this.spare] = [this.spare, bytes];
    this.used = 0;
    this.kept = undefined;
    this.position += used;
    await writeAt(this.descriptor, bytes, 0, used, position);
    await sync(this.descriptor);
  }
}
