import { randomBytes } from 'node:crypto';
import { CorruptJournalError, DeposedError, UnsupportedVersionError, refuseConfig } from '../../model/index.js';
import type { Durability } from '../../ports/store.js';
import type { CouchDatabase } from './database.js';
import { FORMAT, HEAD_ID, isHead, isSlot, slotId, slotOf, type Found, type Head, type Slot } from './documents.js';
import type { Answer } from './server.js';

/** A slot that is filled, as it was written. */
export interface Place {
  readonly slot: number;
  /** The number of the last record up to there. */
  readonly sequence: number;
  readonly rev: string;
}

/** A journal of which we are the owner. */
export class OpenedJournal {
  constructor(
    readonly owner: string,
    public head: Found<Head>,
    /** Our own mark: all after it is ours. */
    readonly mark: Place,
    public last: Place = mark,
  ) {}

  /** Where to begin for what comes after a record: right there if it is one of ours, else as early as before. */
  startAfter(sequence: number): Head['from'] {
    const { mark, head } = this;
    return sequence < mark.sequence ? head.from : { slot: mark.slot + sequence - mark.sequence, sequence };
  }
}

/** Refuses a server of which nobody knows whether it waits for the disk. */
export function checkWelcome(answer: Answer, durability: Durability): void {
  if (durability === 'none') return;
  const { couchdb, version } = (answer.body ?? {}) as { couchdb?: unknown; version?: unknown };
  if (answer.status === 200 && couchdb === 'Welcome' && typeof version === 'string') return;
  refuseConfig(
    'durability',
    durability,
    'none, as the server does not say that it is CouchDB. If it keeps what it acknowledges, declare it with settings: "trusted"',
  );
}

/** Makes the caller the owner, under a new epoch; how that keeps others out is told at `CouchStore`. */
export async function openJournal(database: CouchDatabase, source: string, owner: string): Promise<OpenedJournal> {
  const head = await takeHead(database, source, owner);
  let before = await lastPlace(database, source, head);
  for (;;) {
    const slot = before.slot + 1;
    const mark = { epoch: head.epoch, sequence: before.sequence, write: `${owner}-mark`, body: null } satisfies Slot;
    const written = await database.write(slotId(head.instance, slot), mark);
    if (written.kind === 'written') {
      const place = { slot, sequence: mark.sequence, rev: written.rev };
      if (written.isNew) return new OpenedJournal(owner, head, place);
      throw new CorruptJournalError({ source, position: slot, reason: 'this slot was deleted' });
    }
    const { found } = written;
    if (!isSlot(found)) throw new CorruptJournalError({ source, position: slot, reason: 'this slot is unreadable' });
    if (found.epoch > head.epoch) throw new DeposedError({ epoch: head.epoch, currentEpoch: found.epoch });
    before = { slot, sequence: found.sequence, rev: found._rev };
  }
}

async function takeHead(database: CouchDatabase, source: string, owner: string): Promise<Found<Head>> {
  let found = await database.get(HEAD_ID);
  for (let taking = 1; ; taking++) {
    if (found !== undefined) checkFormat(found, source);
    const { _rev: rev, ...before } = (found as Found<Head> | undefined) ?? {
      ...newHead(),
      _id: HEAD_ID,
      _rev: undefined,
    };
    const head = { ...before, epoch: before.epoch + 1, write: `${owner}-head-${taking}` };
    const written = await database.write(HEAD_ID, head, rev);
    if (written.kind === 'written') return { ...head, _rev: written.rev };
    found = written.found;
  }
}

function newHead(): Head {
  const instance = randomBytes(8).toString('hex');
  return { format: FORMAT, instance, epoch: 0, write: '', from: { slot: 0, sequence: 0 }, snapshot: null };
}

function checkFormat(found: object, source: string): void {
  if (!isHead(found)) {
    throw new CorruptJournalError({ source, position: 0, reason: `its document "${HEAD_ID}" is of another kind` });
  }
  if (found.format === FORMAT) return;
  throw new UnsupportedVersionError({ source: `journal in ${source}`, version: found.format, supported: FORMAT });
}

async function lastPlace(database: CouchDatabase, source: string, { instance, from }: Head): Promise<Place> {
  const range = [slotId(instance, from.slot), slotId(instance, Number.MAX_SAFE_INTEGER)] as const;
  // The end of a range that is read backwards is left out; that is the slot to begin at, which stays.
  const [last] = await database.range(...range, 1, 'descending');
  const slot = last === undefined ? from.slot : slotOf(last.id);
  if (slot === 0) return { slot, sequence: 0, rev: '' };
  const found = await database.get(slotId(instance, slot));
  if (!isSlot(found ?? {})) throw new CorruptJournalError({ source, position: slot, reason: 'this slot is missing' });
  const { sequence, _rev: rev } = found as Found<Slot>;
  return { slot, sequence, rev };
}
