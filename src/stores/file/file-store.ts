import { join, resolve } from 'node:path';
import { DeposedError, refuseConfig, StoreError } from '../../model/index.js';
import { checkLogger, type Logger } from '../../ports/logger.js';
import type { Loaded, Opening, SnapshotToSave, Store } from '../../ports/store.js';
import { Claim } from './claim.js';
import { makeDirectories, removeAll, withEach } from './directory.js';
import { asStoreError, fatal } from './failure.js';
import type { Files } from './files.js';
import { laterVersionIn } from './head.js';
import { Journal } from './journal.js';
import { load } from './loading.js';
import { parseName } from './names.js';
import { nodeFiles } from './node-files.js';
import { SnapshotDraft } from './snapshot-file.js';
import { Snapshots } from './snapshots.js';
import { survey, type Holdings } from './survey.js';

/** What a file store can be told. */
export interface FileStoreOptions {
  /** `fsync`, unless given: what is acknowledged survives a loss of power. `os`: it survives the end of the process. */
  readonly durability?: 'fsync' | 'os' | undefined;
  /** Told of a record that was cut off when the process before went down, and of a snapshot that had to be passed over. */
  readonly logger?: Logger | undefined;
  /** The machine that it writes to; replaced in tests. */
  readonly files?: Files | undefined;
}

/** What is there between opening and closing. */
interface Opened {
  readonly claim: Claim;
  readonly holdings: Holdings;
  readonly journal: Journal;
  readonly snapshots: Snapshots;
}

/**
 * Keeps everything in a directory, with nothing else to install or to run.
 *
 * One process at a time writes there. The directory of a process that has died is taken over; one that was only stopped, or
 * that runs where it cannot be seen, finds itself deposed and writes nothing more.
 *
 * @example
 * ```ts
 * const scheduler = new Scheduler({ store: new FileStore('./state', { durability: 'fsync' }) });
 * ```
 */
export class FileStore implements Store {
  readonly name: string;
  readonly durability: 'fsync' | 'os';
  private readonly directory: string;
  private readonly files: Files;
  private readonly logger: Logger | undefined;
  private epoch = 0;
  private opened: Opened | undefined = undefined;
  /** Why nothing may be written any more. */
  private failure: StoreError | DeposedError | undefined = undefined;
  /** Ends when the append before has. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(directory: string, { durability = 'fsync', logger, files = nodeFiles }: FileStoreOptions = {}) {
    const isPath = typeof directory === 'string' && directory !== '' && !directory.includes('\0');
    if (!isPath) refuseConfig('directory', directory, 'a path that is not empty');
    // Compared as a text, since what comes from plain JavaScript may be anything.
    if (!['fsync', 'os'].includes(durability)) refuseConfig('durability', durability, '"fsync" or "os"');
    this.logger = logger === undefined ? undefined : checkLogger(logger);
    this.durability = durability;
    this.files = files;
    // What the process takes for its directory may change later.
    this.directory = resolve(directory);
    this.name = `file ${directory}`;
  }

  async open(): Promise<Opening> {
    const { directory, files } = this;
    const operation = `open ${directory}`;
    if (this.opened !== undefined) throw new StoreError({ operation, kind: 'busy', cause: 'it is open already' });
    try {
      await makeDirectories(files, directory);
      await this.refuseLater();
      const claim = await Claim.take(files, directory);
      this.opened = await this.takeOver(claim);
      this.epoch = claim.epoch;
      this.failure = undefined;
    } catch (thrown) {
      throw asStoreError(operation, thrown);
    }
    const { holdings } = this.opened;
    for (const warning of holdings.warnings) this.warn(warning);
    return { epoch: this.epoch, sequence: holdings.sequence };
  }

  async *load(): AsyncIterable<Loaded> {
    const { opened } = this;
    const operation = 'load what it holds';
    if (opened === undefined) throw new StoreError({ operation, cause: 'it is not open' });
    try {
      yield* load(this.files, this.directory, opened.holdings);
    } catch (thrown) {
      throw asStoreError(operation, thrown);
    }
  }

  append(expectedSequence: number, epoch: number, body: string): Promise<void> {
    const appended = this.turn.then(() => this.appendNow(expectedSequence, epoch, body));
    this.turn = appended.catch(() => undefined);
    return appended;
  }

  async saveSnapshot({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> {
    const operation = 'save a snapshot';
    const opened = this.mine(epoch, operation);
    const { snapshots } = opened;
    if (sequence < snapshots.sequence) return;
    const draft = await this.attempt(operation, () => SnapshotDraft.begin(this.files, this.directory, epoch, sequence));
    try {
      for await (const part of parts) {
        this.mine(epoch, operation);
        await this.attempt(operation, () => draft.add(part));
      }
      await this.attempt(operation, () => draft.end());
      await this.checkClaim(opened, operation);
      snapshots.add(await this.attempt(operation, () => draft.publish()));
    } catch (thrown) {
      await draft.discard();
      throw thrown;
    }
  }

  async compact(epoch: number): Promise<void> {
    const operation = 'compact the journal';
    const opened = this.mine(epoch, operation);
    const { snapshots, journal, holdings } = opened;
    await this.checkClaim(opened, operation);
    await this.attempt(operation, async () => {
      // As long as there is one snapshot, damage to it must leave the whole journal.
      if (snapshots.former === undefined) return;
      await journal.forget(snapshots.former.sequence);
      await snapshots.forget();
      await removeAll(this.files, this.directory, holdings.strays);
    });
  }

  async close(epoch = this.epoch): Promise<void> {
    if (epoch !== this.epoch) return;
    const { opened } = this;
    this.opened = undefined;
    await this.turn;
    if (opened === undefined) return;
    try {
      await opened.journal.close().finally(() => opened.claim.release());
    } catch (thrown) {
      throw asStoreError(`close ${this.directory}`, thrown);
    }
  }

  /** Before anything is written: a directory of a later version is left as it is. */
  private async refuseLater(): Promise<void> {
    const names = await this.files.list(this.directory);
    const kept = names.filter((name) => ['journal', 'snapshot'].includes(parseName(name)?.kind ?? ''));
    const found = await withEach(kept, (name) => laterVersionIn(this.files, join(this.directory, name)));
    const later = found.find((error) => error !== undefined);
    if (later !== undefined) throw later;
  }

  private async takeOver(claim: Claim): Promise<Opened> {
    const { files, directory, durability } = this;
    let journal: Journal | undefined;
    try {
      const holdings = await survey(files, directory);
      journal = await Journal.begin(files, directory, durability, claim.epoch, holdings);
      if (!(await claim.isHeld())) throw await deposed(claim);
      await this.removeUnfinished(claim.epoch);
      return { claim, holdings, journal, snapshots: new Snapshots(files, directory, holdings) };
    } catch (thrown) {
      await journal?.close().catch(() => undefined);
      await claim.release().catch(() => undefined);
      throw thrown;
    }
  }

  private async removeUnfinished(epoch: number): Promise<void> {
    const names = await this.files.list(this.directory);
    const unfinished = names.filter((name) => {
      const parsed = parseName(name);
      // Those of the same and of later epochs are being written by whoever comes next.
      return parsed?.kind === 'unfinished' && parsed.epoch < epoch;
    });
    await removeAll(this.files, this.directory, unfinished);
  }

  private async appendNow(expectedSequence: number, epoch: number, body: string): Promise<void> {
    const operation = 'append a record';
    const opened = this.mine(epoch, operation);
    const { journal } = opened;
    if (expectedSequence !== journal.sequence) throw new DeposedError({ epoch, currentEpoch: this.epoch });
    await this.attempt(operation, () => journal.write(body));
    // A successor looks at the journal after it has removed the claim. So what was written while the claim stood, it has seen;
    // and whoever finds it gone may have written beyond what counts.
    const settled = this.attempt(operation, () => journal.settle());
    for (const end of await Promise.allSettled([settled, this.checkClaim(opened, operation)])) {
      if (end.status === 'rejected') throw this.failure ?? end.reason;
    }
  }

  /** What the caller may write to; refuses anybody who may not. */
  private mine(epoch: number, operation: string): Opened {
    if (epoch !== this.epoch) throw new DeposedError({ epoch, currentEpoch: this.epoch });
    if (this.opened === undefined) throw new StoreError({ operation, cause: 'it is closed' });
    if (this.failure !== undefined) throw this.failure;
    return this.opened;
  }

  private async checkClaim({ claim }: Opened, operation: string): Promise<void> {
    // Asked when something was written, of which nobody would know any more whether it counts.
    if (await this.attempt(operation, () => claim.isHeld().catch(fatal))) return;
    this.failure = await deposed(claim);
    throw this.failure;
  }

  /** Does something on the disk. What fails for another reason than want of space is not tried again. */
  private async attempt<Value>(operation: string, act: () => Promise<Value>): Promise<Value> {
    try {
      return await act();
    } catch (thrown) {
      const error = asStoreError(operation, thrown);
      if (!(error instanceof StoreError) || error.kind !== 'failed') throw error;
      const { opened } = this;
      // A successor clears away what was not finished, so that it may be the reason.
      const isDeposed = opened !== undefined && !(await opened.claim.isHeld().catch(() => true));
      this.failure ??= isDeposed ? await deposed(opened.claim) : error;
      throw this.failure;
    }
  }

  private warn(message: string): void {
    if (this.logger === undefined) process.emitWarning(message, { code: 'PRECEDENCE_STORE' });
    else this.logger.warn({ directory: this.directory }, message);
  }
}

async function deposed(claim: Claim): Promise<DeposedError> {
  return new DeposedError({ epoch: claim.epoch, currentEpoch: await claim.successor() });
}
