import { UnsupportedVersionError } from '../model/index.js';

/** The version of the records and snapshots that this code writes. */
export const JOURNAL_VERSION = 1;

/** What is said in a record: facts, and what the runtime notes beside them. */
export type Entry = Readonly<Record<string, unknown>> & { readonly kind: string };

/** What a version has to do to become the next one. */
export type Migration = (entry: Entry) => Entry;

/** By the version that they start from; there is none before the first. */
const MIGRATIONS: ReadonlyMap<number, Migration> = new Map();

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
export function migrate(
  entries: readonly Entry[],
  version: number,
  migrations: ReadonlyMap<number, Migration> = MIGRATIONS,
): readonly Entry[] {
  let migrated = entries;
  for (let from = version; migrations.has(from); from += 1) migrated = migrated.map(migrations.get(from) as Migration);
  return migrated;
}
