import { FACTS_PER_RECORD, tasksQuery } from './tasks-view.js';

/** The version of the tables made by this code; a newer one is refused. */
export const SQLITE_SCHEMA_VERSION = 1;

/** Later versions keep the table `precedence_store` with its column `version`, so that older code can tell. */
export const SQLITE_SCHEMA = `
  CREATE TABLE precedence_store (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    version INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    -- The snapshot that counts: parts of any other one are on their way, or left behind.
    snapshot INTEGER NOT NULL,
    snapshot_sequence INTEGER NOT NULL,
    snapshot_parts INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE precedence_journal (
    sequence INTEGER PRIMARY KEY,
    checksum INTEGER NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE TABLE precedence_snapshot (
    snapshot INTEGER NOT NULL,
    part INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (snapshot, part)
  ) STRICT;
  INSERT INTO precedence_store VALUES (1, ${SQLITE_SCHEMA_VERSION}, 0, 0, 0, 0);
`;

// The number of the last record is not kept beside the journal: that would be one more page to write for each append.
const LAST = `max((SELECT snapshot_sequence FROM precedence_store),
  coalesce((SELECT max(sequence) FROM precedence_journal), 0))`;

const IS_OWNER = '(SELECT epoch FROM precedence_store) = :epoch';

/** Each is one transaction, or part of one, that looks and writes: SQLite lets nobody write in between. */
export const SQLITE_STATEMENTS = {
  isInstalled: `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'precedence_store'`,
  view: `SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = 'precedence_tasks'`,
  version: 'SELECT version FROM precedence_store',
  takeOver: `UPDATE precedence_store SET epoch = epoch + 1
    RETURNING epoch, ${LAST} AS sequence`,
  epoch: 'SELECT epoch FROM precedence_store',
  append: `INSERT INTO precedence_journal (sequence, checksum, body)
    SELECT :expected + 1, :checksum, :body WHERE ${IS_OWNER} AND ${LAST} = :expected`,
  nextSnapshot: `SELECT 1 + max(snapshot, coalesce((SELECT max(snapshot) FROM precedence_snapshot), 0)) AS next
    FROM precedence_store`,
  addPart: `INSERT INTO precedence_snapshot (snapshot, part, checksum, body)
    SELECT :snapshot, :part, :checksum, :body WHERE ${IS_OWNER}`,
  useSnapshot: `UPDATE precedence_store
    SET snapshot = :snapshot, snapshot_sequence = :sequence, snapshot_parts = :parts
    WHERE epoch = :epoch AND snapshot_sequence <= :sequence`,
  dropRecords: `DELETE FROM precedence_journal WHERE ${IS_OWNER} AND sequence IN (
    SELECT sequence FROM precedence_journal WHERE sequence <= (SELECT snapshot_sequence FROM precedence_store)
    ORDER BY sequence LIMIT :limit)`,
  dropParts: `DELETE FROM precedence_snapshot WHERE ${IS_OWNER} AND rowid IN (
    SELECT rowid FROM precedence_snapshot WHERE snapshot <> (SELECT snapshot FROM precedence_store)
    ORDER BY snapshot, part LIMIT :limit)`,
  current: 'SELECT epoch, snapshot, snapshot_sequence AS sequence, snapshot_parts AS parts FROM precedence_store',
  records: 'SELECT sequence AS number, checksum, body FROM precedence_journal WHERE sequence > ? ORDER BY sequence',
  parts: `SELECT part AS number, checksum, body FROM precedence_snapshot
    WHERE snapshot = (SELECT snapshot FROM precedence_store) AND part > ? ORDER BY part`,
} as const;

const COUNTED_PARTS = '(SELECT snapshot FROM precedence_store)';

const VIEW_QUERY = tasksQuery({
  facts: `SELECT journal.sequence * ${FACTS_PER_RECORD} + each_fact.key AS position, each_fact.value AS fact
    FROM precedence_journal AS journal, json_each(journal.body) AS each_fact
    WHERE journal.sequence > (SELECT snapshot_sequence FROM precedence_store) AND each_fact.type = 'object'`,
  head: `SELECT body -> 1 AS head FROM precedence_snapshot WHERE part = 0 AND snapshot = ${COUNTED_PARTS}`,
  list: (name) => `SELECT each_entry.value AS entry, row_number() OVER (ORDER BY part.part, each_entry.key) - 1 AS place
    FROM precedence_snapshot AS part, json_each(part.body) AS each_entry
    WHERE part.snapshot = ${COUNTED_PARTS} AND part.body LIKE '["${name}",%' AND each_entry.key > 0`,
  text: (value, ...path) => `(${value} ->> '$.${path.join('.')}')`,
  number: (value, ...path) => {
    return `(${value} ->> '$${path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}')`;
  },
  moment: (milliseconds) => `strftime('%Y-%m-%dT%H:%M:%fZ', (${milliseconds}) / 1000.0, 'unixepoch')`,
});

/** The view as SQLite notes it down; it holds nothing, and another version may see tasks in another way. */
export const SQLITE_VIEW = `CREATE VIEW precedence_tasks AS ${VIEW_QUERY.trim()}`;
