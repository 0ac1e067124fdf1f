import { CorruptJournalError } from '../model/index.js';
import type { Loaded } from '../ports/store.js';
import type { Query } from './postgres-connections.js';
import type { PostgresStatements } from './postgres-schema.js';

/** The snapshot and the records after it, asked for within one transaction. */
export async function* loadedFrom(query: Query, statements: PostgresStatements, source: string): AsyncIterable<Loaded> {
  const [row] = await query(statements.current);
  const { snapshot, snapshot_sequence, snapshot_parts } = row as Record<string, string>;
  const sequence = Number(snapshot_sequence);
  if (Number(snapshot) !== 0) {
    let known = 0;
    for await (const parts of stretches(query, statements.parts, -1, `${source}, snapshot`)) {
      known += parts.length;
      yield { kind: 'snapshot', sequence, parts };
    }
    if (known !== Number(snapshot_parts)) {
      const reason = `${String(snapshot_parts)} parts were saved, and ${known} are there`;
      throw new CorruptJournalError({ source: `${source}, snapshot`, position: known, reason });
    }
  }
  let first = sequence + 1;
  for await (const bodies of stretches(query, statements.records, sequence, `${source}, journal`)) {
    yield { kind: 'records', first, bodies };
    first += bodies.length;
  }
}

/** All rows after a number, in stretches that fit into memory; each must follow the one before. */
async function* stretches(
  query: Query,
  statement: string,
  after: number,
  source: string,
): AsyncIterable<readonly string[]> {
  for (let last = after; ;) {
    const rows = await query(statement, [last]);
    if (rows.length === 0) return;
    const bodies: string[] = [];
    for (const { number, body } of rows) {
      last += 1;
      if (Number(number) !== last) throw new CorruptJournalError({ source, position: last, reason: 'it is missing' });
      bodies.push(body as string);
    }
    yield bodies;
  }
}
