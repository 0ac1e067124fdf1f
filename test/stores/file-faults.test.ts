import { describe, expect, test } from 'vitest';
import { FileStore, StoreError, type Files } from '../../src/index.js';
import { FaultyFiles, SimulatedDisk, type FileCall, type FileFault } from '../../src/testing/index.js';
import { Account, begin, contentsOf, live, logger } from './file-history.js';

/** A history in which something goes wrong, and what is found by whoever comes next. */
async function tried(
  fault: (call: FileCall) => FileFault | undefined,
  after: 'a new process' | 'a loss of power',
  { seed = 0, durability = 'fsync' }: { readonly seed?: number; readonly durability?: 'fsync' | 'os' } = {},
): Promise<{ readonly calls: number; readonly failure: unknown }> {
  const disk = new SimulatedDisk({ seed });
  const process = disk.start();
  const account = new Account();
  const files = new FaultyFiles(process, fault);
  const failure = await live(files, account, durability);
  process.kill();
  if (after === 'a loss of power') disk.losePower();
  // Twice: what the first one repairs, the second one must find.
  for (let round = 0; round < 2; round++) {
    const again = await begin(disk.start(), account, durability);
    account.matches(again.contents);
    account.goOnFrom(again.contents);
    await again.append('["and on it goes"]');
    await again.store.close();
  }
  return { calls: files.calls, failure };
}

const whole = await tried(() => undefined, 'a new process');
const calls = Array.from({ length: whole.calls }, (_, n) => n + 1);

test('the history is long enough to mean something, and ends well when nothing goes wrong', () => {
  expect(whole.failure).toBeUndefined();
  expect(whole.calls).toBeGreaterThan(140);
});

describe('rows 7, 8 and 9: whichever call fails, what was acknowledged is there, and nothing is done afterwards', () => {
  test.each(['EIO', 'ENOSPC', 'EACCES', 'EMFILE'])('with %s', async (code) => {
    for (const n of calls) {
      const { failure } = await tried(
        ({ number }) => (number === n ? { kind: 'error', code } : undefined),
        'a new process',
      );
      if (failure === undefined) continue;
      expect(failure).toBeInstanceOf(StoreError);
      expect((failure as StoreError).cause).toMatchObject({ code });
    }
  });

  test('row 7: where there is no space the same record can be tried again, and nothing is lost', async () => {
    for (const n of calls) {
      const fault = (call: FileCall): FileFault | undefined =>
        call.number === n && call.operation === 'write' ? { kind: 'error', code: 'ENOSPC' } : undefined;
      const { failure } = await tried(fault, 'a loss of power', { seed: n });
      // Only opening is not tried again.
      if (failure !== undefined) expect(failure).toMatchObject({ kind: 'full', operation: 'open /state' });
    }
  });

  test.each(['fsync', 'os'] as const)(
    'row 7: nothing is left of a record that was cut short, durability %s',
    async (durability) => {
      const disk = new SimulatedDisk();
      const process = disk.start();
      const faults: FileFault[] = [];
      const files = new FaultyFiles(process, ({ operation }) => (operation === 'write' ? faults.shift() : undefined));
      const session = await begin(files, new Account(), durability);
      await session.append('["first"]');
      faults.push({ kind: 'short', bytes: 500 }, { kind: 'error', code: 'ENOSPC' });
      await expect(session.append(`["${'x'.repeat(700)}"]`)).rejects.toMatchObject({ kind: 'full' });
      await session.append('["short"]');
      process.kill();
      const found = await begin(disk.start(), session.account);
      expect(found.contents.records).toEqual(['["first"]', '["short"]']);
    },
  );

  test.each([0, 20, 500])('row 7: a write that ends after %d bytes is completed or cut', async (bytes) => {
    for (const n of calls) {
      const short = ({ number }: FileCall): FileFault | undefined =>
        number === n ? { kind: 'short', bytes } : undefined;
      await tried(short, 'a loss of power', { seed: n });
      const thenFull = ({ number }: FileCall): FileFault | undefined =>
        number === n + 1 ? { kind: 'error', code: 'ENOSPC' } : short({ number, operation: 'write', path: '' });
      await tried(thenFull, 'a new process', { seed: n });
    }
  });

  test('row 8: a sync that fails once is the end, whatever the reason', async () => {
    for (const code of ['EIO', 'ENOSPC']) {
      for (const n of calls) {
        const failed: FileCall[] = [];
        const fault = (call: FileCall): FileFault | undefined => {
          if (call.number !== n || !call.operation.startsWith('sync')) return undefined;
          failed.push(call);
          return { kind: 'error', code };
        };
        const { failure } = await tried(fault, 'a loss of power', { seed: n });
        if (failed.length > 0) expect(failure).toMatchObject({ code: 'STORE', kind: 'failed' });
      }
    }
  });
});

describe('what the machine only seems to have', () => {
  /** A process that has that fault, one that goes on from what it finds, a loss of power, and one that looks. */
  async function goesOn(seed: number, fault: (call: FileCall) => FileFault | undefined): Promise<void> {
    const disk = new SimulatedDisk({ seed });
    const account = new Account();
    const first = disk.start();
    await live(new FaultyFiles(first, fault), account);
    first.kill();
    const next = await begin(disk.start(), account);
    account.matches(next.contents);
    account.goOnFrom(next.contents);
    await next.append('["built upon it"]');
    disk.losePower();
    account.matches((await begin(disk.start(), account)).contents);
  }

  test('row 8: what a failed sync has left in memory alone is on the disk before anything is built upon it', async () => {
    for (const n of calls) {
      await goesOn(n, ({ number, operation }) =>
        number === n && operation === 'sync' ? { kind: 'error', code: 'EIO' } : undefined,
      );
    }
  });

  test('row 1: a directory that was made is synced also where the process that made it came no further', async () => {
    for (const [made, when] of [1, 2].flatMap((nth) => [[nth, 'before'] as const, [nth, 'after'] as const])) {
      for (let seed = 0; seed < 20; seed++) {
        const disk = new SimulatedDisk({ seed });
        let count = 0;
        const ends = ({ operation }: FileCall): FileFault | undefined =>
          operation === 'makeDirectory' && (count += 1) === made ? { kind: 'end', when } : undefined;
        const open = (files: Files): FileStore => new FileStore('/above/state', { files, logger });
        await expect(contentsOf(open(new FaultyFiles(disk.start(), ends)))).rejects.toThrow('ENDED');
        const store = open(disk.start());
        await store.append(0, (await contentsOf(store)).epoch, '["acknowledged"]');
        disk.losePower();
        expect((await contentsOf(open(disk.start()))).records).toEqual(['["acknowledged"]']);
      }
    }
  });
});

test('row 7: without space for another segment nothing is lost, and it goes on when there is', async () => {
  const disk = new SimulatedDisk();
  const process = disk.start();
  let hasSpace = true;
  const isOfNext = (path: string): boolean => path.includes('000002');
  const files = new FaultyFiles(process, ({ operation, path }) =>
    !hasSpace && isOfNext(path) && ['create', 'write'].includes(operation)
      ? { kind: 'error', code: 'ENOSPC' }
      : undefined,
  );
  const session = await begin(files);
  const large = `["${'x'.repeat(1 << 24)}"]`;
  await session.append(large);
  hasSpace = false;
  for (let tries = 0; tries < 3; tries++) {
    await expect(session.append('["next"]')).rejects.toMatchObject({ kind: 'full' });
  }
  expect(disk.list('/state').filter(isOfNext)).toEqual([]);
  hasSpace = true;
  await session.append('["next"]');
  expect(disk.list('/state').filter(isOfNext)).toEqual(['journal-000001-000002']);
  disk.losePower();
  const { records } = (await begin(disk.start())).contents;
  expect(records.map(({ length }) => length)).toEqual([large.length, 8]);
});

describe('rows 1, 2, 5 and 6: wherever it ends, the state is the one before or the one after', () => {
  const ends =
    (n: number, when: 'before' | 'after') =>
    (call: FileCall): FileFault | undefined =>
      call.number === n ? { kind: 'end', when } : undefined;

  test.each(['fsync', 'os'] as const)('the process, durability %s', async (durability) => {
    for (const n of calls) {
      await tried(ends(n, 'before'), 'a new process', { durability });
      await tried(ends(n, 'after'), 'a new process', { durability });
    }
  });

  test.each([1, 2, 3])('the machine, losing whatever was not synced (%d)', async (round) => {
    for (const n of calls) {
      await tried(ends(n, 'before'), 'a loss of power', { seed: 1000 * round + n });
      await tried(ends(n, 'after'), 'a loss of power', { seed: -1000 * round - n });
    }
  });
});

describe('what is done once, whatever goes wrong', () => {
  test('a snapshot is closed once also where it cannot be given its name: its number may be another file’s by then', async () => {
    const closed: string[] = [];
    const files = new FaultyFiles(new SimulatedDisk().start(), ({ operation, path }) => {
      if (!path.includes('/snapshot')) return undefined;
      if (operation === 'close') closed.push(path);
      return operation === 'rename' ? { kind: 'error', code: 'ENOSPC' } : undefined;
    });
    const session = await begin(files);
    await session.append('["a"]');
    await expect(session.save()).rejects.toMatchObject({ kind: 'full' });
    expect(closed).toHaveLength(1);
    await session.append('["b"]');
    await session.store.close();
  });

  test('a directory is let go of also where its journal cannot be closed', async () => {
    let isFailing = false;
    const files = new FaultyFiles(new SimulatedDisk().start(), ({ operation, path }) => {
      return isFailing && operation === 'close' && path.includes('/journal')
        ? { kind: 'error', code: 'EIO' }
        : undefined;
    });
    const session = await begin(files);
    await session.append('["a"]');
    isFailing = true;
    await expect(session.store.close()).rejects.toMatchObject({ code: 'STORE' });
    isFailing = false;
    const next = await begin(files);
    expect(next.contents.records).toEqual(['["a"]']);
    await next.store.close();
  });
});
