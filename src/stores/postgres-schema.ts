import { FACTS_PER_RECORD, tasksQuery } from './tasks-view.js';
import type { PostgresNames } from './postgres-names.js';

/** The version of the tables made by this code; a newer one is refused. */
export const POSTGRES_SCHEMA_VERSION = 1;

/** Whoever makes tables waits for whoever is at it already. */
export const INSTALL_LOCK = 'SELECT pg_advisory_xact_lock(7093154236641)';

/** What a server says of itself, and of what the connection was set to. */
export const SERVER_SETTINGS = `SELECT current_setting('synchronous_commit') AS synchronous,
  current_setting('fsync') AS fsync, current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby`;

/** What is made where it is missing. Later versions keep the table `store` with its column `version`, so that older code can tell. */
export function schemaOf({ store, journal, snapshot }: PostgresNames): string {
  return `
    CREATE TABLE ${store} (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      version integer NOT NULL,
      epoch bigint NOT NULL,
      -- Whoever has lost a connection is another writer from then on: what still comes from the former one is refused.
      writer bigint NOT NULL,
      sequence bigint NOT NULL,
      -- The snapshot that counts: parts of any other one are on their way, or left behind.
      snapshot bigint NOT NULL,
      snapshot_sequence bigint NOT NULL,
      snapshot_parts bigint NOT NULL
    );
    CREATE TABLE ${journal} (sequence bigint PRIMARY KEY, epoch bigint NOT NULL, body text NOT NULL);
    CREATE TABLE ${snapshot} (
      snapshot bigint NOT NULL, part bigint NOT NULL, body text NOT NULL, PRIMARY KEY (snapshot, part)
    );
    INSERT INTO ${store} VALUES (true, ${POSTGRES_SCHEMA_VERSION}, 0, 0, 0, 0, 0, 0);`;
}

/** Each statement is one transaction, and compares and sets while it has the row of the store locked. */
export type PostgresStatements = ReturnType<typeof statementsOf>;

export function statementsOf(names: PostgresNames, durability: 'os' | 'fsync') {
  const { store, journal, snapshot } = names;
  // An append that need not be on the disk does not wait for it. One that must says under which setting it was made.
  const setting =
    durability === 'os' ? `set_config('synchronous_commit', 'off', true)` : `current_setting('synchronous_commit')`;
  const isOwner = `EXISTS (SELECT FROM ${store} WHERE epoch = $1)`;
  return {
    takeOver: `UPDATE ${store} SET epoch = epoch + 1 RETURNING epoch, writer, sequence`,
    append: `WITH owner AS (
        UPDATE ${store} SET sequence = sequence + 1 WHERE epoch = $1 AND writer = $2 AND sequence = $3 RETURNING sequence
      )
      INSERT INTO ${journal} (sequence, epoch, body) SELECT sequence, $1, $4 FROM owner
      RETURNING ${setting} AS synchronous`,
    changeWriter: `UPDATE ${store} SET writer = writer + 1 WHERE epoch = $1 RETURNING writer, sequence`,
    isRecordOf: `SELECT FROM ${journal} WHERE epoch = $1 AND sequence = $2`,
    current: `SELECT epoch, snapshot, snapshot_sequence, snapshot_parts FROM ${store}`,
    nextSnapshot: `SELECT 1 + greatest(snapshot, (SELECT max(snapshot) FROM ${snapshot})) AS next FROM ${store}`,
    addPart: `INSERT INTO ${snapshot} (snapshot, part, body) SELECT $2, $3, $4 WHERE ${isOwner}
      ON CONFLICT (snapshot, part) DO UPDATE SET body = excluded.body`,
    useSnapshot: `UPDATE ${store}
      SET snapshot = CASE WHEN snapshot_sequence <= $3 THEN $2 ELSE snapshot END,
        snapshot_parts = CASE WHEN snapshot_sequence <= $3 THEN $4 ELSE snapshot_parts END,
        snapshot_sequence = greatest(snapshot_sequence, $3)
      WHERE epoch = $1`,
    dropRecords: `DELETE FROM ${journal} WHERE ${isOwner} AND sequence <= (SELECT snapshot_sequence FROM ${store})
      AND sequence < (SELECT min(sequence) FROM ${journal}) + 1000`,
    dropParts: `DELETE FROM ${snapshot} WHERE ${isOwner} AND (snapshot, part) IN (
      SELECT snapshot, part FROM ${snapshot} WHERE snapshot <> (SELECT snapshot FROM ${store}) LIMIT 100)`,
    records: stretch(
      `SELECT sequence AS number, body FROM ${journal} WHERE sequence > $1 ORDER BY sequence LIMIT 1000`,
    ),
    parts: stretch(`SELECT part AS number, body FROM ${snapshot}
      WHERE part > $1 AND snapshot = (SELECT snapshot FROM ${store}) ORDER BY part LIMIT 1000`),
  };
}

/** As many of the rows as make four megabytes, and at least one. */
function stretch(rows: string): string {
  return `SELECT number, body FROM (
      SELECT number, body, sum(octet_length(body)) OVER (ORDER BY number) - octet_length(body) AS before FROM (${rows}) AS row
    ) AS counted WHERE before < 4000000 ORDER BY number`;
}

/** The view in which people see tasks; made with the tables. A version that sees them in another way has to replace it. */
export function viewOf({ store, journal, snapshot, tasks }: PostgresNames): string {
  const query = tasksQuery({
    facts: `SELECT journal.sequence * ${FACTS_PER_RECORD} + each_fact.place AS position, each_fact.fact
      FROM ${journal} AS journal, jsonb_array_elements(${readable('journal.body')}) WITH ORDINALITY AS each_fact (fact, place)
      WHERE journal.sequence > (SELECT snapshot_sequence FROM ${store}) AND jsonb_typeof(each_fact.fact) = 'object'`,
    head: `SELECT ${readable('body')} -> 1 AS head FROM ${snapshot}
      WHERE part = 0 AND snapshot = (SELECT snapshot FROM ${store})`,
    list: (name) => `SELECT each_entry.entry, row_number() OVER (ORDER BY part.part, each_entry.place) - 1 AS place
      FROM ${snapshot} AS part, jsonb_array_elements(${readable('part.body')}) WITH ORDINALITY AS each_entry (entry, place)
      WHERE part.snapshot = (SELECT snapshot FROM ${store}) AND starts_with(part.body, '["${name}",') AND each_entry.place > 1`,
    text: (value, ...path) => `(${value} #>> '{${path.join(',')}}')`,
    number: (value, ...path) => `(${value} #>> '{${path.join(',')}}')::double precision`,
    moment: (milliseconds) => `to_timestamp((${milliseconds}) / 1000.0)`,
  });
  return `CREATE OR REPLACE VIEW ${tasks} AS ${query}`;
}

/** PostgreSQL reads no text with a NUL or half a character in it, and one such text would be the end of the whole view. */
function readable(body: string): string {
  return String.raw`regexp_replace(${body}, E'\\\\u(0000|d[89a-f][0-9a-f]{2})', E'\\\\ufffd', 'g')::jsonb`;
}
