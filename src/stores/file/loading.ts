import { join } from 'node:path';
import { CorruptJournalError } from '../../model/index.js';
import type { Loaded } from '../../ports/store.js';
import type { Files } from './files.js';
import { partsOf } from './snapshot-file.js';
import type { Holdings, Segment } from './survey.js';
import { RecordWalk } from './walk.js';

/** Reads what was found, stretch by stretch. */
export async function* load(files: Files, directory: string, { snapshot, segments }: Holdings): AsyncGenerator<Loaded> {
  const sequence = snapshot?.sequence ?? 0;
  if (snapshot !== undefined) {
    for await (const parts of partsOf(files, directory, snapshot.name)) {
      yield { kind: 'snapshot', sequence, parts: parts.map(textOf) };
    }
    // A snapshot may have no parts at all, and is one still.
    yield { kind: 'snapshot', sequence, parts: [] };
  }
  for (const segment of segments) {
    if (segment.last > sequence) yield* recordsOf(files, directory, segment, sequence);
  }
}

/** The records of a segment after the one with that number. */
async function* recordsOf(
  files: Files,
  directory: string,
  { name, begin, first, end }: Segment,
  after: number,
): AsyncGenerator<Loaded> {
  const source = join(directory, name);
  const file = await files.open(source);
  try {
    const walk = new RecordWalk(file, { kind: 'fact', position: begin, number: first, end });
    for (;;) {
      const number = walk.number;
      const bodies = await walk.next();
      if (bodies.length === 0) break;
      const skipped = Math.max(0, after + 1 - number);
      if (skipped < bodies.length) {
        yield { kind: 'records', first: number + skipped, bodies: bodies.slice(skipped).map(textOf) };
      }
    }
    if (walk.damage === undefined) return;
    throw new CorruptJournalError({ source, position: walk.position, reason: walk.damage });
  } finally {
    await file.close();
  }
}

function textOf(bytes: Buffer): string {
  return bytes.toString();
}
