import { dirname, join } from 'node:path';
import { SeededRandom, type RandomSource } from '../model/index.js';
import type { Files, OpenFile } from '../stores/file/files.js';
import { SimulatedFile } from './simulated-file.js';

type Entry = SimulatedFile | 'directory';

/** A name that was given or taken away, at once. */
type NameChange = readonly (readonly [path: string, entry: Entry | undefined])[];

/**
 * A disk in memory, and the processes that use it. Without power it loses what was not synced: contents whole, torn or by the
 * sector, in any order across files, and names, also of directories with all that is in them. The same seed loses the same.
 *
 * @example
 * ```ts
 * const disk = new SimulatedDisk({ seed: 7 });
 * const store = new FileStore('/state', { files: disk.start() });
 * await fillWithRecords(store);
 * disk.losePower();
 * const again = new FileStore('/state', { files: disk.start() }); // finds what was acknowledged
 * ```
 */
export class SimulatedDisk {
  private readonly random: RandomSource;
  private names = new Map<string, Entry>();
  private syncedNames = new Map<string, Entry>();
  private unsyncedNames: NameChange[] = [];
  private readonly running: Process[] = [];

  constructor({ seed = 0 }: { readonly seed?: number } = {}) {
    this.random = new SeededRandom(seed);
  }

  /** A process that may use the disk. */
  start(): SimulatedProcess {
    const process = new Process(this, this.running.length + 1);
    this.running.push(process);
    return process;
  }

  /** Ends every process, and of what was not synced leaves what chance will. */
  losePower(): void {
    for (const process of this.running) process.kill();
    const { random } = this;
    const kept = Math.floor(random.next() * (this.unsyncedNames.length + 1));
    const isInOrder = random.next() < 0.5;
    const names = new Map(this.syncedNames);
    for (const [n, change] of this.unsyncedNames.entries()) {
      const isKept = isInOrder ? n < kept : random.next() < 0.5;
      if (isKept) rename(names, change);
    }
    for (const file of new Set(names.values())) if (file !== 'directory') file.losePower(random);
    this.names = new Map([...names].filter(([path]) => isReached(path, names)));
    this.syncedNames = new Map(this.names);
    this.unsyncedNames = [];
  }

  /** The content of a file. */
  read(path: string): Uint8Array {
    const file = this.find(path);
    const bytes = new Uint8Array(file.length);
    file.read(bytes, 0);
    return bytes;
  }

  /** Puts a file there, as somebody else might, and syncs it. */
  write(path: string, bytes: Uint8Array): void {
    const file = new SimulatedFile();
    file.write(bytes, 0);
    file.sync();
    for (const names of [this.names, this.syncedNames]) {
      for (let above = dirname(path); above !== dirname(above); above = dirname(above)) names.set(above, 'directory');
      names.set(path, file);
    }
  }

  /** The names in a directory, in order. */
  list(directory: string): readonly string[] {
    this.checkDirectory(directory);
    const names = [...this.names.keys()].filter((path) => dirname(path) === directory);
    return names.map((path) => path.slice(join(directory, '/').length)).sort();
  }

  /** @internal */
  find(path: string): SimulatedFile {
    const file = this.names.get(path);
    if (file === undefined) throw failing('ENOENT', path);
    if (file === 'directory') throw failing('EISDIR', path);
    return file;
  }

  /** @internal */
  has(path: string): boolean {
    return this.names.has(path);
  }

  /** @internal */
  giveName(path: string, entry: Entry): void {
    this.checkDirectory(dirname(path));
    if (this.has(path)) throw failing('EEXIST', path);
    this.rename([[path, entry]]);
  }

  /** @internal */
  rename(change: NameChange): void {
    rename(this.names, change);
    this.unsyncedNames.push(change);
  }

  /** @internal */
  syncNames(directory: string): void {
    this.checkDirectory(directory);
    const isOfIt = (change: NameChange): boolean => change.some(([path]) => dirname(path) === directory);
    for (const change of this.unsyncedNames.filter(isOfIt)) rename(this.syncedNames, change);
    this.unsyncedNames = this.unsyncedNames.filter((change) => !isOfIt(change));
  }

  /** @internal */
  isAtWork(mark: string): boolean {
    return this.running.some((process) => process.name === mark && process.state === 'running');
  }

  private checkDirectory(path: string): void {
    if (path !== dirname(path) && this.names.get(path) !== 'directory') throw failing('ENOENT', path);
  }
}

/** A file of a simulated disk that is open. */
export interface SimulatedOpenFile extends OpenFile {
  /** What a sync that fails makes of it. */
  loseUnsynced(): void;
}

/** A process on a simulated disk, and the files as it sees them. */
export interface SimulatedProcess extends Files {
  /** Ends it; what it has written is there for others. */
  kill(): void;
  /** Others take it for stopped from now on, while its calls go on as if it had just been woken. */
  stop(): void;
}

class Process implements SimulatedProcess {
  readonly name: string;
  state: 'running' | 'stopped' | 'ended' = 'running';

  constructor(
    private readonly disk: SimulatedDisk,
    number: number,
  ) {
    this.name = `process ${number}`;
  }

  kill(): void {
    this.state = 'ended';
  }

  stop(): void {
    this.state = 'stopped';
  }

  makeDirectory = (path: string): Promise<void> =>
    this.does(() => {
      this.disk.giveName(path, 'directory');
    });
  list = (directory: string): Promise<readonly string[]> => this.does(() => this.disk.list(directory));
  open = (path: string): Promise<OpenFile> => this.does(() => this.opened(this.disk.find(path)));
  openToWrite = this.open;
  create = (path: string): Promise<OpenFile> =>
    this.does(() => {
      const file = new SimulatedFile();
      this.disk.giveName(path, file);
      return this.opened(file);
    });
  rename = (from: string, to: string): Promise<void> =>
    this.does(() => {
      this.disk.rename([
        [from, undefined],
        [to, this.disk.find(from)],
      ]);
    });
  link = (from: string, to: string): Promise<void> =>
    this.does(() => {
      this.disk.giveName(to, this.disk.find(from));
    });
  remove = (path: string): Promise<void> =>
    this.does(() => {
      this.disk.find(path);
      this.disk.rename([[path, undefined]]);
    });
  exists = (path: string): Promise<boolean> => this.does(() => this.disk.has(path));
  syncDirectory = (path: string): Promise<void> =>
    this.does(() => {
      this.disk.syncNames(path);
    });
  mark = (): Promise<string> => this.does(() => this.name);
  isAtWork = (mark: string): Promise<boolean> => this.does(() => this.disk.isAtWork(mark));

  private opened(file: SimulatedFile): SimulatedOpenFile {
    return {
      read: (into, position) => this.does(() => file.read(into, position)),
      write: (bytes, position) =>
        this.does(() => {
          file.write(bytes, position);
          return bytes.length;
        }),
      truncate: (length) =>
        this.does(() => {
          file.truncate(length);
        }),
      sync: () =>
        this.does(() => {
          file.sync();
        }),
      loseUnsynced: () => {
        file.loseUnsynced();
      },
      size: () => this.does(() => file.length),
      close: () => this.does(() => undefined),
    };
  }

  /** Answers later, as a machine does. */
  private async does<Value>(act: () => Value): Promise<Value> {
    await Promise.resolve();
    if (this.state === 'ended') throw failing('ENDED', `${this.name} has ended`);
    return act();
  }
}

function rename(names: Map<string, Entry>, change: NameChange): void {
  for (const [path, entry] of change) {
    if (entry === undefined) names.delete(path);
    else names.set(path, entry);
  }
}

/** Whether all directories above are there. */
function isReached(path: string, names: ReadonlyMap<string, Entry>): boolean {
  for (let above = dirname(path); above !== dirname(above); above = dirname(above)) {
    if (!names.has(above)) return false;
  }
  return true;
}

function failing(code: string, what: string): Error {
  return Object.assign(new Error(`${code}: ${what}`), { code });
}
