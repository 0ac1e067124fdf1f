import { randomUUID } from 'node:crypto';
import {
  CorruptJournalError,
  DeposedError,
  SchedulerError,
  StoreError,
  parsePositiveDuration,
  refuseConfig,
  type Duration,
} from '../../model/index.js';
import type { Durability, Loaded, Opening, SnapshotToSave, Store } from '../../ports/store.js';
import { oneOf } from '../one-of.js';
import { CouchDatabase } from './database.js';
import { saveName, slotId, type Found, type Head } from './documents.js';
import { JournalLost, loadJournal } from './loading.js';
import { openJournal, checkWelcome, type OpenedJournal, type Place } from './opening.js';
import { CouchServer, parseUrl, storeError } from './server.js';
import { deleteBefore, writeParts } from './snapshots.js';

/** How a store uses a CouchDB server. */
export interface CouchStoreOptions {
  /** What an acknowledged write survives; `fsync` unless given. A server that is not CouchDB is refused for more than `none`. */
  readonly durability?: Durability | undefined;
  /**
   * `checked` (the default) asks the server whether it is CouchDB, which has everything on disk before it answers 201. With
   * `trusted` it is not asked: you declare that it keeps what the durability says.
   */
  readonly settings?: 'checked' | 'trusted' | undefined;
  /**
   * How long a record may be; 7,900,000 unless given, which suits the `max_document_size` that a server has by default.
   * A server that takes larger or smaller documents needs another one.
   */
  readonly maxRecordBytes?: number | undefined;
  /** How long a call may take, trying again included; 10 seconds unless given. */
  readonly timeout?: Duration | undefined;
  /** Sent with every request, such as an `authorization` other than the name and password of the URL. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/**
 * Keeps everything in a database of CouchDB (or what speaks its protocol), over HTTP, without any package.
 *
 * How two owners are kept apart, although only one document can be changed at a time. The journal is a row of slots, each a
 * document whose id is its number. CouchDB makes a document with a given id once (a second attempt is answered with 409),
 * so whoever makes the document of the next slot has written there, and slots are filled one after another.
 *
 * - **Opening** changes the head, with its revision: of two who try, one is answered with 409 and reads it again. So each gets an
 *   epoch of its own. Then it fills the next free slot with its mark. A record that the owner before got in first counts,
 *   and the mark goes one further; after the mark, the owner before finds the slot taken that it would write to, reads the
 *   higher epoch in it, and is deposed. There is no moment in which both could write.
 * - **Snapshots** become valid by a change of the head with its revision, which the opening of another owner has changed. Parts have
 *   ids that nobody else uses.
 * - **Compacting** deletes only slots and parts before those that the head of the one who compacts speaks of. The head of a later
 *   owner speaks of the same or of later ones, so a deposed owner deletes nothing that counts.
 * - **Deleted documents can be made again**, so an owner that was deposed, stood still and wakes up could fill a slot that was
 *   compacted meanwhile. But the revision that it gets goes on counting where the deleted one stopped: a record whose first
 *   revision is not the first of its document is refused. What it left there is before the head's first slot: no load looks
 *   at it, and the next compaction takes it away. (Purging takes the count away too: purge only while nobody has it open.)
 * - **A database that was made anew, or put back**, lacks the slot before, as it was written: it is looked at after each append.
 *
 * @example
 * ```ts
 * const scheduler = new Scheduler({ store: new CouchStore('http://admin:secret@localhost:5984/crawler') });
 * ```
 */
export class CouchStore implements Store {
  readonly name: string;
  readonly durability: Durability;
  readonly maxRecordBytes: number;
  private readonly server: CouchServer;
  private readonly database: CouchDatabase;
  private readonly settings: 'checked' | 'trusted';
  private journal: OpenedJournal | undefined = undefined;
  private isOpen = false;
  private writes = 0;
  private saves = 0;
  /** Why nothing may be written any more. */
  private failure: SchedulerError | undefined = undefined;

  constructor(url: string | URL, options: CouchStoreOptions = {}) {
    const { durability = 'fsync', settings = 'checked', timeout = '10s', maxRecordBytes = RECORD_BYTES } = options;
    const parsed = parseUrl(url, options.headers);
    this.name = `couchdb ${parsed.url.href}`;
    this.durability = oneOf(['none', 'os', 'fsync'], durability, 'durability');
    this.settings = oneOf(['checked', 'trusted'], settings, 'settings');
    this.maxRecordBytes = maxRecordBytes;
    this.server = new CouchServer(parsed.url, parsed.headers, parsePositiveDuration(timeout, 'timeout', refuseConfig));
    this.database = new CouchDatabase(this.server);
  }

  async open(): Promise<Opening> {
    this.server.open();
    return this.told('open the journal', async () => {
      if (this.settings === 'checked') checkWelcome(await this.server.welcome(), this.durability);
      if (!(await this.database.exists())) await this.database.create();
      const journal = await openJournal(this.database, this.name, randomUUID());
      this.journal = journal;
      this.writes = 0;
      this.saves = 0;
      this.failure = undefined;
      this.isOpen = true;
      return { epoch: journal.head.epoch, sequence: journal.last.sequence };
    });
  }

  async *load(): AsyncIterable<Loaded> {
    const operation = 'load the journal';
    const journal = this.opened(operation);
    try {
      yield* loadJournal(this.database, journal);
    } catch (error) {
      if (!(error instanceof JournalLost)) throw error instanceof SchedulerError ? error : storeError(operation, error);
      // Whoever took over may have compacted meanwhile.
      await this.told(operation, () => this.checkHead(journal));
      throw new CorruptJournalError({ source: this.name, position: error.position, reason: error.message });
    }
  }

  async append(expectedSequence: number, epoch: number, body: string): Promise<void> {
    const operation = 'append a record';
    const journal = this.owned(operation, epoch);
    const before = journal.last;
    // As long as nobody else has opened it, what is known here is what is there; where somebody has, the slot is taken.
    if (expectedSequence !== before.sequence) throw new DeposedError({ epoch, currentEpoch: epoch });
    await this.told(operation, async () => {
      const place = await this.fill(journal, before, body);
      const [row] = await this.database.rows([slotId(journal.head.instance, before.slot)], 'revisions');
      if (row?.rev !== before.rev && row?.isDeleted !== true) throw new Error(LOST);
      journal.last = place;
    }).catch((error: unknown) => {
      const isKnown = error instanceof DeposedError || (error instanceof StoreError && error.kind === 'full');
      // Where nobody knows whether it happened, nothing may be built on either.
      if (!isKnown && error instanceof SchedulerError) this.failure ??= error;
      throw error;
    });
  }

  async saveSnapshot({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> {
    const operation = 'save a snapshot';
    const journal = this.owned(operation, epoch);
    await this.told(operation, async () => {
      await this.checkHead(journal);
      if (sequence > journal.last.sequence) throw new Error('the journal ends before the record it stands for');
      this.saves += 1;
      const save = saveName(epoch, this.saves);
      const count = await writeParts(this.database, journal.head.instance, save, parts, () => {
        this.owned(operation, epoch);
      });
      if (sequence < (journal.head.snapshot?.sequence ?? 0)) return;
      await this.changeHead(journal, {
        from: journal.startAfter(sequence),
        snapshot: { save, sequence, parts: count },
      });
    });
  }

  async compact(epoch: number): Promise<void> {
    const operation = 'compact the journal';
    const journal = this.owned(operation, epoch);
    await this.told(operation, async () => {
      await this.checkHead(journal);
      await deleteBefore(this.database, journal.head);
    });
  }

  close(epoch = this.journal?.head.epoch): Promise<void> {
    if (epoch !== this.journal?.head.epoch) return Promise.resolve();
    this.isOpen = false;
    this.server.close();
    return Promise.resolve();
  }

  /** Fills the next slot, unless somebody else has. */
  private async fill(journal: OpenedJournal, before: Place, body: string): Promise<Place> {
    const { instance, epoch } = journal.head;
    const slot = before.slot + 1;
    const sequence = before.sequence + 1;
    const content = { epoch, sequence, write: this.nextWrite(journal), body };
    const written = await this.database.write(slotId(instance, slot), content);
    if (written.kind === 'taken') {
      // Taken, and gone again: a later owner has compacted it.
      if (written.found === undefined) await this.checkHead(journal);
      const { epoch: theirs = epoch } = (written.found ?? {}) as { epoch?: number };
      throw new DeposedError({ epoch, currentEpoch: theirs });
    }
    if (!written.isNew) {
      await this.checkHead(journal);
      throw new Error(LOST);
    }
    return { slot, sequence, rev: written.rev };
  }

  private async changeHead(journal: OpenedJournal, change: Pick<Head, 'from' | 'snapshot'>): Promise<void> {
    const { _rev: rev, ...head } = journal.head;
    const changed = { ...head, ...change, write: this.nextWrite(journal) };
    const written = await this.database.write(head._id, changed, rev);
    if (written.kind === 'taken') this.refuseAsOther(journal, written.found);
    else journal.head = { ...changed, _rev: written.rev };
  }

  /** Rejects where somebody else has opened the journal, or it is not there any more. */
  private async checkHead(journal: OpenedJournal): Promise<void> {
    const found = await this.database.get(journal.head._id);
    if (found?._rev !== journal.head._rev) this.refuseAsOther(journal, found);
  }

  private refuseAsOther(journal: OpenedJournal, found: object | undefined): never {
    const { epoch, instance } = journal.head;
    const theirs = found as Partial<Found<Head>> | undefined;
    if (theirs?.instance === instance && (theirs.epoch ?? 0) > epoch) {
      throw new DeposedError({ epoch, currentEpoch: theirs.epoch ?? 0 });
    }
    throw new Error(LOST);
  }

  private nextWrite(journal: OpenedJournal): string {
    this.writes += 1;
    return `${journal.owner}-${this.writes}`;
  }

  private async told<Value>(operation: string, act: () => Promise<Value>): Promise<Value> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof SchedulerError) throw error;
      const told = storeError(operation, error);
      if (error instanceof Error && error.message === LOST) this.failure ??= told;
      throw told;
    }
  }

  private opened(operation: string): OpenedJournal {
    if (this.failure !== undefined) throw this.failure;
    if (!this.isOpen || this.journal === undefined) throw new StoreError({ operation, cause: 'it is not open' });
    return this.journal;
  }

  private owned(operation: string, epoch: number): OpenedJournal {
    const journal = this.opened(operation);
    if (epoch !== journal.head.epoch) throw new DeposedError({ epoch, currentEpoch: journal.head.epoch });
    return journal;
  }
}

/** Of the 8,000,000 bytes of a document some are for what stands beside the record. */
const RECORD_BYTES = 7_900_000;

const LOST = 'the server has lost what it acknowledged';
