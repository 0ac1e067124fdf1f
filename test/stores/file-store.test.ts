import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FileStore, Scheduler } from '../../src/index.js';
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

test('B5.1 B4.1 a path as the store is a file store there', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'precedence-files-'));
  const state = join(directory, 'state');
  const first = new Scheduler({ store: state, concurrency: 0 });
  first.define('double', (n: number) => 2 * n);
  await first.add('double', 4, { id: 'four' }).accepted;
  await expect(new FileStore(state).open()).rejects.toMatchObject({ kind: 'busy' });
  first.handle('four')?.result.catch(() => undefined);
  await first.close();
  const second = new Scheduler({ store: state });
  second.define('double', (n: number) => 2 * n);
  await second.start();
  expect(await second.handle('four')).toBe(8);
  await second.close();
  expect(() => new Scheduler({ store: '' })).toThrow(/directory/);
  rmSync(directory, { recursive: true });
});

test('B5.1 G5 a scheduler that is refused a directory because another one has it does not close it', async () => {
  const directory = place('os');
  const store = await directory.store();
  const owner = new Scheduler({ store });
  owner.define('double', (n: number) => 2 * n);
  await owner.start();
  const rival = new Scheduler({ store });
  await expect(rival.start()).rejects.toMatchObject({ kind: 'busy' });
  await rival.close();
  expect(await owner.add('double', 2)).toBe(4);
  await owner.close();
  await directory.remove?.();
});
