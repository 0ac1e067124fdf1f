import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { FileStore } from '../../src/index.js';
import { storeChecks, type StorePlace } from '../../src/testing/index.js';

describe.each(['fsync', 'os'] as const)('B5.1: the file store conforms, durability %s', (durability) => {
  const place = (): StorePlace => {
    const directory = mkdtempSync(join(tmpdir(), 'precedence-files-'));
    return {
      store: () => new FileStore(join(directory, 'state'), { durability }),
      remove: () => {
        rmSync(directory, { recursive: true });
      },
    };
  };
  for (const { name, run } of storeChecks({ place })) test(name, run);
});
