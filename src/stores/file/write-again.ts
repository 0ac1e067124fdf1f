import { join } from 'node:path';
import { fatal } from './failure.js';
import { readFully, writeFully, type Files } from './files.js';
import type { Segment } from './survey.js';

const BYTES_AT_ONCE = 1 << 18;

/**
 * Sees to it that what was read of a segment is on the disk. It may be on its way there still. Or it may never get there: where a sync
 * has failed, the machine takes what it could not write for written, and shows it to everybody until the power goes. A
 * sync alone would then say that all is well. What is written once more is synced for certain.
 */
export async function writeAgain(files: Files, directory: string, { name, begin, end }: Segment): Promise<void> {
  const room = Buffer.allocUnsafe(Math.min(BYTES_AT_ONCE, end - begin));
  const file = await files.openToWrite(join(directory, name));
  try {
    for (let at = begin; at < end; at += room.length) {
      const bytes = room.subarray(0, Math.min(room.length, end - at));
      const length = await readFully(file, bytes, at);
      await writeFully(file, bytes.subarray(0, length), at);
    }
    await file.sync().catch(fatal);
  } finally {
    await file.close();
  }
}
