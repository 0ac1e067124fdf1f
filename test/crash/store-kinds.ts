import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { FileStore, type Files, type Logger, type Store } from '../../src/index.js';
import { SqliteStore } from '../../src/sqlite.js';

/** The stores that keep everything in files of this machine. */
export const STORE_KINDS = ['file', 'sqlite'] as const;
export type StoreKind = (typeof STORE_KINDS)[number];

// A torn tail is cut off with a warning, and torn tails are what happens here.
const silent = (): void => undefined;
const quiet: Logger = { debug: silent, info: silent, warn: silent, error: silent };

/** The store in that directory, which exists. */
export function storeAt(kind: StoreKind, directory: string, files?: Files): Store {
  switch (kind) {
    case 'file':
      return new FileStore(directory, { logger: quiet, files });
    case 'sqlite':
      return new SqliteStore(join(directory, 'tasks.db'));
  }
}

/** Looking opens a store, which changes it: so a copy is looked at. */
export function copyOf(directory: string, copy: string): string {
  mkdirSync(copy);
  cpSync(directory, copy, { recursive: true });
  return copy;
}
