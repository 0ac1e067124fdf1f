/**
 * All that the file store asks of the machine below it. Another one can be given in its place: one that fails when it is told to,
 * or a disk in memory that loses what was not synced.
 *
 * What fails, fails with an error that has a `code`, such as `ENOSPC`.
 */
export interface Files {
  /** Makes a directory in one that exists; it is `EEXIST` when there is one. */
  makeDirectory(path: string): Promise<void>;
  /** The names of what is in a directory, in any order. */
  list(directory: string): Promise<readonly string[]>;
  /** Opens a file that exists for reading. */
  open(path: string): Promise<OpenFile>;
  /** Opens a file that exists for reading and writing. */
  openToWrite(path: string): Promise<OpenFile>;
  /** Makes a file; it is `EEXIST` when there is one. */
  create(path: string): Promise<OpenFile>;
  /** Puts a file in the place of another, or where there was none. */
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name; it is `EEXIST` when the name is taken. */
  link(from: string, to: string): Promise<void>;
  /** Takes a name away, and the file with its last one. */
  remove(path: string): Promise<void>;
  /** Whether there is anything of that name. */
  exists(path: string): Promise<boolean>;
  /** From now on the names in a directory survive a loss of power. */
  syncDirectory(path: string): Promise<void>;
  /** A text that tells this process, at work on this directory, from all others there are or were. */
  mark(directory: string): Promise<string>;
  /** Whether the process of such a text is known to be there still and at work on this directory. */
  isAtWork(mark: string, directory: string): Promise<boolean>;
}

/** A file that is open. */
export interface OpenFile {
  /** How many bytes were read; fewer than there is room for at the end of the file, or when it pleases the machine. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** How many bytes were written; may be fewer than were given. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /** Cuts the file to that length. */
  truncate(length: number): Promise<void>;
  /** From now on what was written survives a loss of power. */
  sync(): Promise<void>;
  /** How many bytes it has. */
  size(): Promise<number>;
  /** Lets go of it; nothing is synced by that. */
  close(): Promise<void>;
}

/** Reads until the place is full or the file is at its end, and tells how much was read. */
export async function readFully(file: OpenFile, into: Uint8Array, position: number): Promise<number> {
  let filled = 0;
  while (filled < into.length) {
    const count = await file.read(into.subarray(filled), position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

/** Writes all of it; where a write is cut short, what follows says why. */
export async function writeFully(file: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const count = await file.write(bytes.subarray(written), position + written);
    if (count === 0) throw Object.assign(new Error('ENOSPC: nothing more can be written'), { code: 'ENOSPC' });
    written += count;
  }
}
