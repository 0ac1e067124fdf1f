import { UnsupportedVersionError } from '../model/index.js';

/** The version of the records and snapshots that this code writes. */
export const JOURNAL_VERSION = 1;

/** What is said in a record: facts, and what the runtime notes beside them. */
export type Entry = Readonly<Record<string, unknown>> & { readonly kind: string };

/** What is short of a snapshot, as it comes in its first part. */
export type Head = Readonly<Record<string, unknown>>;

/** What a version has to do to become the next one; what is not given stays as it is. */
export interface Migration {
  /** For what is said in a record. */
  readonly entry?: (entry: Entry) => Entry;
  /** For a snapshot without its lists; also for that of the empty core with which a journal begins. */
  readonly head?: (head: Head) => Head;
  /** For an entry in one of a snapshot's lists. */
  readonly listed?: (list: string, entry: unknown) => unknown;
}

/** By the version that they start from: one for each before the present one. */
export type Migrations = ReadonlyMap<number, Migration>;

/** There is nothing before the first version. */
export const MIGRATIONS: Migrations = new Map();

/** Refuses what a newer version has written; gives the version. */
export function checkVersion(
  source: string,
  version: unknown,
  corrupt: () => Error,
  supported: number = JOURNAL_VERSION,
): number {
  if (!Number.isSafeInteger(version) || (version as number) < 1) throw corrupt();
  if ((version as number) > supported) {
    throw new UnsupportedVersionError({ source, version: version as number, supported });
  }
  return version as number;
}

/** The entries of a record as this version would have written them. */
export function migrate(entries: readonly Entry[], version: number, migrations: Migrations): readonly Entry[] {
  let migrated = entries;
  for (const step of stepsFrom(version, migrations)) migrated = migrated.map((entry) => migrateEntry(entry, step));
  return migrated;
}

function migrateEntry(given: Entry, { entry, head }: Migration): Entry {
  const migrated = entry?.(given) ?? given;
  if (migrated.kind !== 'begun' || head === undefined) return migrated;
  return { ...migrated, snapshot: head(migrated['snapshot'] as Head) };
}

/** Makes of the parts of a snapshot, one by one, what this version would have written. */
export class SnapshotMigration {
  private steps: readonly Migration[] | undefined = undefined;

  constructor(private readonly migrations: Migrations) {}

  /** What was written first is a version; before all others stands the name of their list. */
  part([first, ...entries]: readonly unknown[]): readonly unknown[] {
    const isFirst = this.steps === undefined;
    this.steps ??= stepsFrom(first as number, this.migrations);
    let migrated = entries;
    for (const { head, listed } of this.steps) {
      const step = isFirst ? head : listed?.bind(undefined, first as string);
      if (step !== undefined) migrated = migrated.map((entry) => step(entry as Head));
    }
    return [isFirst ? JOURNAL_VERSION : first, ...migrated];
  }
}

function stepsFrom(version: number, migrations: Migrations): readonly Migration[] {
  const steps: Migration[] = [];
  for (let from = version; migrations.has(from); from += 1) steps.push(migrations.get(from) as Migration);
  return steps;
}
