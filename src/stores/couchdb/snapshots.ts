import { stretches } from '../stretches.js';
import type { CouchDatabase } from './database.js';
import { partId, slotId, type Head } from './documents.js';

const CHARACTERS_AT_ONCE = 500_000;
const DELETED_AT_ONCE = 500;

/** Writes the parts of a snapshot, under ids that nobody else uses; says how many there were. */
export async function writeParts(
  database: CouchDatabase,
  instance: string,
  save: string,
  parts: AsyncIterable<string>,
  checkOwner: () => void,
): Promise<number> {
  let count = 0;
  for await (const texts of stretches(parts, CHARACTERS_AT_ONCE)) {
    checkOwner();
    await database.writeAll(texts.map((text, n) => ({ _id: partId(instance, save, count + n + 1), text })));
    count += texts.length;
  }
  return count;
}

/** Deletes what is before the slot at which a load begins, and the snapshots before the one that counts. */
export async function deleteBefore(database: CouchDatabase, { instance, from, snapshot }: Head): Promise<void> {
  // The slot itself stays: what follows it is written only while it is there.
  await deleteRange(database, slotId(instance, 0), slotId(instance, from.slot));
  if (snapshot !== null) await deleteRange(database, `part-${instance}-`, `part-${instance}-${snapshot.save}`);
}

async function deleteRange(database: CouchDatabase, start: string, end: string): Promise<void> {
  for (;;) {
    const rows = await database.range(start, end, DELETED_AT_ONCE);
    if (rows.length === 0) return;
    // Where none can be deleted, somebody else is at it; what is left goes the next time.
    if ((await database.deleteAll(rows)) === 0) return;
  }
}
