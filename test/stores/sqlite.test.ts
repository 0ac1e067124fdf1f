import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { SqliteStore, type SqliteStoreOptions } from '../../src/sqlite.js';
import { storeChecks, type StorePlace } from '../../src/testing/index.js';
import { expectRestart, expectTakeover } from './restart-story.js';

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

test('B4.1 B5.1 a scheduler goes on in an SQLite file where the one before was', async () => {
  await expectRestart(place({ durability: 'os' }));
});

test('B5.1 G5 a scheduler that another one has deposed does not close the store that both were given', async () => {
  await expectTakeover(place({ durability: 'os' }));
});
