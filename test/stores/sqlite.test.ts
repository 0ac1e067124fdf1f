import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { SqliteStore, type SqliteStoreOptions } from '../../src/sqlite.js';
import { storeChecks, type StorePlace } from '../../src/testing/index.js';

function place(options: SqliteStoreOptions): StorePlace {
  const folder = mkdtempSync(join(tmpdir(), 'precedence-sqlite-'));
  return {
    store: () => new SqliteStore(join(folder, 'tasks.db'), options),
    remove: () => {
      rmSync(folder, { recursive: true });
    },
  };
}

describe.each(['fsync', 'os'] as const)('the store in an SQLite file conforms (%s)', (durability) => {
  for (const { name, run } of storeChecks({ place: () => place({ durability }) })) test(name, run);
});
