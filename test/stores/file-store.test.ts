import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { FileStore } from '../../src/index.js';
import { storeChecks, type StorePlace } from '../../src/testing/index.js';
import { expectRestart } from './restart-story.js';

function place(durability: 'fsync' | 'os'): StorePlace {
  const directory = mkdtempSync(join(tmpdir(), 'precedence-files-'));
  return {
    store: () => new FileStore(join(directory, 'state'), { durability }),
    remove: () => {
      rmSync(directory, { recursive: true });
    },
  };
}

describe.each(['fsync', 'os'] as const)('B5.1: the file store conforms, durability %s', (durability) => {
  for (const { name, run } of storeChecks({ place: () => place(durability) })) test(name, run);
});

test('B4.1 B5.1 a scheduler goes on in a directory where the one before was', async () => {
  await expectRestart(place('os'));
});
