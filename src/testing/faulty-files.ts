import type { Files, OpenFile } from '../stores/file/files.js';
import type { SimulatedOpenFile } from './simulated-disk.js';

/** One call to the machine, about to be made. */
export interface FileCall {
  /** Counted from 1. */
  readonly number: number;
  readonly operation: keyof Files | keyof OpenFile;
  /** The file or directory. */
  readonly path: string;
}

/** What goes wrong at a call. */
export type FileFault =
  /** It fails, and has done nothing. A simulated disk then takes for written what a sync should have written. */
  | { readonly kind: 'error'; readonly code: string }
  /** It writes so many bytes and no more; to anything but a write nothing happens. */
  | { readonly kind: 'short'; readonly bytes: number }
  /** The process ends, before or after the machine has done what was asked: nothing is answered any more. */
  | { readonly kind: 'end'; readonly when: 'before' | 'after' };

/**
 * Files that fail when they are told to, for tests of what a store makes of it.
 *
 * @example
 * ```ts
 * const files = new FaultyFiles(new SimulatedDisk().start(), ({ operation }) =>
 *   operation === 'sync' ? { kind: 'error', code: 'EIO' } : undefined,
 * );
 * const store = new FileStore('/state', { files });
 * ```
 */
export class FaultyFiles implements Files {
  /** How many calls there have been. */
  calls = 0;
  private hasEnded = false;

  constructor(
    private readonly files: Files,
    /** Asked at each call; what it waits for happens before the call is made. */
    private readonly faultAt: (call: FileCall) => FileFault | undefined | Promise<FileFault | undefined>,
  ) {}

  makeDirectory = (path: string): Promise<void> =>
    this.run('makeDirectory', path, () => this.files.makeDirectory(path));
  list = (path: string): Promise<readonly string[]> => this.run('list', path, () => this.files.list(path));
  open = (path: string): Promise<OpenFile> =>
    this.run('open', path, async () => this.wrap(await this.files.open(path), path));
  openToWrite = (path: string): Promise<OpenFile> =>
    this.run('openToWrite', path, async () => this.wrap(await this.files.openToWrite(path), path));
  create = (path: string): Promise<OpenFile> =>
    this.run('create', path, async () => this.wrap(await this.files.create(path), path));
  rename = (from: string, to: string): Promise<void> => this.run('rename', from, () => this.files.rename(from, to));
  link = (from: string, to: string): Promise<void> => this.run('link', from, () => this.files.link(from, to));
  remove = (path: string): Promise<void> => this.run('remove', path, () => this.files.remove(path));
  exists = (path: string): Promise<boolean> => this.run('exists', path, () => this.files.exists(path));
  syncDirectory = (path: string): Promise<void> =>
    this.run('syncDirectory', path, () => this.files.syncDirectory(path));
  mark = (path: string): Promise<string> => this.run('mark', path, () => this.files.mark(path));
  isAtWork = (mark: string, path: string): Promise<boolean> =>
    this.run('isAtWork', path, () => this.files.isAtWork(mark, path));

  private wrap(file: OpenFile, path: string): OpenFile {
    return {
      read: (into, position) => this.run('read', path, () => file.read(into, position)),
      write: (bytes, position) =>
        this.run(
          'write',
          path,
          () => file.write(bytes, position),
          (most) => file.write(bytes.subarray(0, most), position),
        ),
      truncate: (length) => this.run('truncate', path, () => file.truncate(length)),
      sync: async () => {
        try {
          await this.run('sync', path, () => file.sync());
        } catch (thrown) {
          if (!this.hasEnded) (file as Partial<SimulatedOpenFile>).loseUnsynced?.();
          throw thrown;
        }
      },
      size: () => this.run('size', path, () => file.size()),
      close: () => this.run('close', path, () => file.close()),
    };
  }

  private async run<Value>(
    operation: FileCall['operation'],
    path: string,
    call: () => Promise<Value>,
    cutShort: (bytes: number) => Promise<Value> = call,
  ): Promise<Value> {
    this.refuseEnded();
    this.calls += 1;
    const fault = await this.faultAt({ number: this.calls, operation, path });
    this.refuseEnded();
    switch (fault?.kind) {
      case undefined:
        break;
      case 'error':
        throw failing(fault.code, operation);
      case 'short':
        return cutShort(fault.bytes);
      case 'end': {
        this.hasEnded = true;
        if (fault.when === 'after') await call();
        break;
      }
    }
    this.refuseEnded();
    const value = await call();
    this.refuseEnded();
    return value;
  }

  private refuseEnded(): void {
    if (this.hasEnded) throw failing('ENDED', 'go on: the process has ended');
  }
}

function failing(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: it could not ${what}`), { code });
}
