import { refuseConfig } from '../model/index.js';

/** The tables and the view, each as it is written in a statement. */
export interface PostgresNames {
  readonly schema: string;
  /** The name of the schema and of the store's table, as the catalogue has them. */
  readonly catalogued: readonly [schema: string, store: string];
  readonly store: string;
  readonly journal: string;
  readonly snapshot: string;
  readonly tasks: string;
}

/** What PostgreSQL keeps of a name; it cuts what is longer, without a word. */
const LONGEST_NAME = 63;
const LONGEST_SUFFIX = 'snapshot'.length;

/** Every name may have any character: all of them are quoted. */
export function readNames(schema: unknown, prefix: unknown): PostgresNames {
  const quotedSchema = quoted(checked(schema, 'schema', LONGEST_NAME));
  if (schema === '') refuseConfig('schema', schema, 'the name of a schema');
  if ((schema as string).startsWith('pg_')) {
    refuseConfig('schema', schema, 'a name that does not begin with "pg_", which PostgreSQL keeps for itself');
  }
  const known = checked(prefix, 'prefix', LONGEST_NAME - LONGEST_SUFFIX);
  const of = (table: string): string => `${quotedSchema}.${quoted(known + table)}`;
  return {
    schema: quotedSchema,
    catalogued: [schema as string, `${known}store`],
    store: of('store'),
    journal: of('journal'),
    snapshot: of('snapshot'),
    tasks: of('tasks'),
  };
}

function checked(name: unknown, field: string, longest: number): string {
  if (typeof name !== 'string' || name.includes('\0') || /\p{Cs}/u.test(name) || Buffer.byteLength(name) > longest) {
    return refuseConfig(field, name, `a text of at most ${longest} bytes, with neither NUL nor half a character in it`);
  }
  return name;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
