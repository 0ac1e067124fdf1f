import * as fs from 'node:fs';
import { promisify } from 'node:util';
import type { Files, OpenFile } from './files.js';
import { isAtWork, markOfProcess } from './process-mark.js';

/** What tasks are given may be nobody else's business. */
const OWNER_ONLY = 0o600;

/** The files of this machine. */
export const nodeFiles: Files = {
  makeDirectory: (path) => fs.promises.mkdir(path),
  list: (directory) => fs.promises.readdir(directory),
  open: (path) => openFile(path, 'r'),
  openToWrite: (path) => openFile(path, 'r+'),
  create: (path) => openFile(path, 'wx+'),
  rename: (from, to) => fs.promises.rename(from, to),
  link: (from, to) => fs.promises.link(from, to),
  remove: (path) => fs.promises.unlink(path),
  exists: (path) =>
    new Promise((resolve) => {
      // Asked at every append: a look at a name takes 2 µs, the way through a thread 40 µs.
      resolve(fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined);
    }),
  syncDirectory,
  async mark(directory) {
    return markOfProcess(await identityOf(directory));
  },
  async isAtWork(mark, directory) {
    return isAtWork(mark, await identityOf(directory));
  },
};

// By descriptor: a FileHandle costs more at each call, and closes by itself when nobody knows it any more.
const call = {
  open: promisify(fs.open),
  read: promisify(fs.read),
  write: promisify(fs.write),
  truncate: promisify(fs.ftruncate),
  syncData: promisify(fs.fdatasync),
  sync: promisify(fs.fsync),
  stat: promisify(fs.fstat),
  close: promisify(fs.close),
};

async function openFile(path: string, flags: string): Promise<OpenFile> {
  return new NodeFile(await call.open(path, flags, OWNER_ONLY));
}

class NodeFile implements OpenFile {
  constructor(private readonly descriptor: number) {}

  async read(into: Uint8Array, position: number): Promise<number> {
    return (await call.read(this.descriptor, into, 0, into.length, position)).bytesRead;
  }

  async write(bytes: Uint8Array, position: number): Promise<number> {
    return (await call.write(this.descriptor, bytes, 0, bytes.length, position)).bytesWritten;
  }

  truncate(length: number): Promise<void> {
    return call.truncate(this.descriptor, length);
  }

  sync(): Promise<void> {
    return call.syncData(this.descriptor);
  }

  async size(): Promise<number> {
    return (await call.stat(this.descriptor)).size;
  }

  close(): Promise<void> {
    return call.close(this.descriptor);
  }
}

async function syncDirectory(path: string): Promise<void> {
  // There a directory cannot be opened, and its names are written with the file.
  if (process.platform === 'win32') return;
  const descriptor = await call.open(path, 'r');
  try {
    await call.sync(descriptor);
  } finally {
    await call.close(descriptor);
  }
}

/** Stays when a directory is moved, and differs in a copy of it. */
async function identityOf(directory: string): Promise<string> {
  const { dev, ino } = await fs.promises.stat(directory, { bigint: true });
  return `${dev}:${ino}`;
}
