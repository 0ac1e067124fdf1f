import type { Loaded } from '../../ports/store.js';
import type { CouchDatabase } from './database.js';
import { isSlot, partId, slotId, type Found, type Part, type Slot } from './documents.js';
import type { OpenedJournal } from './opening.js';

/** What should be there is not, or is something else. */
export class JournalLost extends Error {
  constructor(
    readonly position: number,
    message: string,
  ) {
    super(message);
  }
}

const FEWEST_AT_ONCE = 8;
const MOST_AT_ONCE = 1_000;
const CHARACTERS_AT_ONCE = 1_000_000;

/** The snapshot, then the records after it up to our own mark. */
export async function* loadJournal(database: CouchDatabase, { head, mark }: OpenedJournal): AsyncIterable<Loaded> {
  const { instance, snapshot, from } = head;
  if (snapshot !== null) {
    const { sequence, save, parts } = snapshot;
    if (parts === 0) yield { kind: 'snapshot', sequence, parts: [] };
    const ids = (part: number): string => partId(instance, save, part);
    for await (const some of documents(database, ids, 1, parts)) {
      yield { kind: 'snapshot', sequence, parts: some.map((part) => textOf(part)) };
    }
  }
  let { sequence } = from;
  let epoch = 0;
  const ids = (slot: number): string => slotId(instance, slot);
  for await (const some of documents(database, ids, from.slot + 1, mark.slot - 1)) {
    const bodies: string[] = [];
    for (const found of some) {
      const slot = slotIn(found);
      const isNext = slot.sequence === sequence + (slot.body === null ? 0 : 1) && slot.epoch >= epoch;
      if (!isNext) throw new JournalLost(sequence + 1, `${found._id} does not follow the one before`);
      ({ sequence, epoch } = slot);
      if (slot.body !== null && sequence > (snapshot?.sequence ?? 0)) bodies.push(slot.body);
    }
    if (bodies.length > 0) yield { kind: 'records', first: sequence - bodies.length + 1, bodies };
  }
  if (sequence !== mark.sequence) throw new JournalLost(sequence + 1, 'the last records are missing');
}

/** Documents with numbers in a row, as many at once as are not too large together. */
async function* documents(
  database: CouchDatabase,
  id: (number: number) => string,
  first: number,
  last: number,
): AsyncIterable<Found<object>[]> {
  let step = FEWEST_AT_ONCE;
  for (let next = first; next <= last;) {
    const count = Math.min(step, last - next + 1);
    const ids = Array.from({ length: count }, (_, n) => id(next + n));
    const rows = await database.rows(ids, 'documents');
    const found = ids.map((wanted, n) => wholeIn(rows[n]?.document, wanted, next + n));
    yield found;
    next += count;
    const characters = found.reduce((sum, document) => sum + lengthOf(document), 1);
    step = Math.ceil((CHARACTERS_AT_ONCE / characters) * count);
    step = Math.min(Math.max(FEWEST_AT_ONCE, step), 4 * count, MOST_AT_ONCE);
  }
}

function wholeIn(document: Found<object> | undefined, id: string, position: number): Found<object> {
  if (document === undefined) throw new JournalLost(position, `${id} is missing`);
  if (document._id !== id) throw new JournalLost(position, `${id} is missing`);
  // Two halves of a cluster have each let through a document of this id. Which of them was acknowledged, nobody can tell.
  if ((document._conflicts?.length ?? 0) > 0) throw new JournalLost(position, `${id} has conflicting revisions`);
  return document;
}

function slotIn(document: Found<object>): Found<Slot> {
  if (isSlot(document)) return document;
  throw new JournalLost(0, `${document._id} is of another kind`);
}

function textOf(document: Found<object>): string {
  const { text } = document as Partial<Part>;
  if (typeof text === 'string') return text;
  throw new JournalLost(0, `${document._id} is of another kind`);
}

function lengthOf(document: Found<object>): number {
  const { text, body } = document as { text?: string; body?: string | null };
  return (text ?? body ?? '').length;
}
