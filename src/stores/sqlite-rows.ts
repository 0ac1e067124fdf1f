import { crc32 } from 'node:zlib';
import { CorruptJournalError } from '../model/index.js';
import type { Loaded } from '../ports/store.js';
import { SQLITE_STATEMENTS } from './sqlite-schema.js';

/** An open database, as far as it is read here. */
export interface SqliteReader {
  get(statement: string): unknown;
  iterate(statement: string, after: number): Iterable<unknown>;
}

/** How much of it is in memory at once, give or take a record. */
const LOADED_CHARACTERS = 4_000_000;

interface Current {
  readonly epoch: number;
  readonly snapshot: number;
  readonly sequence: number;
  readonly parts: number;
}

interface Row {
  readonly number: number;
  readonly checksum: number;
  readonly body: string;
}

/** The snapshot and the records after it. */
export function* loadedFrom(reader: SqliteReader, path: string): Iterable<Loaded> {
  const { snapshot, sequence, parts } = reader.get(SQLITE_STATEMENTS.current) as Current;
  if (snapshot !== 0) {
    let known = 0;
    for (const bodies of stretches(reader, SQLITE_STATEMENTS.parts, -1, `${path}, snapshot`)) {
      known += bodies.length;
      yield { kind: 'snapshot', sequence, parts: bodies };
    }
    if (known !== parts) {
      const reason = `${parts} parts were saved, and ${known} are there`;
      throw new CorruptJournalError({ source: `${path}, snapshot`, position: known, reason });
    }
  }
  let first = sequence + 1;
  for (const bodies of stretches(reader, SQLITE_STATEMENTS.records, sequence, `${path}, journal`)) {
    yield { kind: 'records', first, bodies };
    first += bodies.length;
  }
}

/** All rows after a number, in stretches that fit into memory; each must follow the one before and be as it was written. */
function* stretches(
  reader: SqliteReader,
  statement: string,
  after: number,
  source: string,
): Iterable<readonly string[]> {
  let bodies: string[] = [];
  let characters = 0;
  let next = after + 1;
  for (const row of reader.iterate(statement, after) as Iterable<Row>) {
    const position = row.number;
    if (position !== next) throw new CorruptJournalError({ source, position: next, reason: 'it is missing' });
    if (crc32(row.body) !== row.checksum) {
      throw new CorruptJournalError({ source, position, reason: 'its checksum does not fit' });
    }
    next += 1;
    bodies.push(row.body);
    characters += row.body.length;
    if (characters < LOADED_CHARACTERS) continue;
    yield bodies;
    bodies = [];
    characters = 0;
  }
  if (bodies.length > 0) yield bodies;
}
