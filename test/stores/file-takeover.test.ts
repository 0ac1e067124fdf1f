import { describe, expect, test } from 'vitest';
import { DeposedError, FileStore } from '../../src/index.js';
import { FaultyFiles, SimulatedDisk } from '../../src/testing/index.js';
import { Account, begin, contentsOf, DIRECTORY, type Session } from './file-history.js';

/** What the owner is doing when it is stopped. */
const OPERATIONS: readonly (readonly [name: string, act: (session: Session) => Promise<void>])[] = [
  ['appends', (session) => session.append('["late"]')],
  ['appends a record that begins another segment', (session) => session.append('["late and after much"]')],
  ['saves a snapshot', (session) => session.save()],
  ['compacts', (session) => session.compact()],
];

/** An owner that is stopped before its n-th call from now on, deposed, and wakes up. */
async function deposedAt(n: number, act: (session: Session) => Promise<void>, isFull: 'small' | 'full') {
  const disk = new SimulatedDisk();
  const process = disk.start();
  const account = new Account();
  let calls = -1;
  let successor: Session | undefined;
  const files = new FaultyFiles(process, async () => {
    if (calls >= 0) calls += 1;
    if (calls !== n) return undefined;
    process.stop();
    // It knows what the first one was told, and finds that at least.
    const known = new Account();
    known.records.push(...account.records);
    known.acknowledged = account.acknowledged;
    for (const [sequence, parts] of account.snapshots) known.snapshots.set(sequence, parts);
    successor = await begin(disk.start(), known);
    known.matches(successor.contents);
    known.goOnFrom(successor.contents);
    await successor.append('["of the successor"]');
    return undefined;
  });
  const session = await begin(files, account);
  await session.append('["first"]');
  await session.save();
  await session.append('["second"]');
  await session.save();
  await session.append(`["${'x'.repeat(isFull === 'full' ? 1 << 24 : 10)}"]`);
  calls = 0;
  const thrown: unknown = await act(session).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { disk, session, account, successor, thrown };
}

describe('row 11, row 39: an owner that was stopped and wakes up after takeover', () => {
  test.each(OPERATIONS)(
    'stopped at any call while it %s: what it was told counts, the rest is ignored',
    async (name, act) => {
      for (let n = 1; ; n++) {
        const found = await deposedAt(n, act, name.includes('another segment') ? 'full' : 'small');
        const { disk, session, account, successor, thrown } = found;
        if (successor === undefined) {
          expect(n).toBeGreaterThan(2);
          break;
        }
        if (thrown !== undefined) expect(thrown).toBeInstanceOf(DeposedError);
        else expect(successor.contents.sequence).toBeGreaterThanOrEqual(account.acknowledged);
        // Whatever it does from now on is refused and leaves no trace.
        const { epoch } = session.contents;
        await expect(session.store.append(account.acknowledged, epoch, '["later still"]')).rejects.toThrow(
          DeposedError,
        );
        await expect(session.save()).rejects.toThrow(DeposedError);
        await expect(session.compact()).rejects.toThrow(DeposedError);
        await session.store.close();
        await successor.append('["and more"]');
        await successor.store.close();
        const third = await contentsOf(new FileStore(DIRECTORY, { files: disk.start() }));
        successor.account.matches(third);
        expect(third.records.at(-1)).toBe('["and more"]');
      }
    },
  );

  test('stopped at any call while it opens', async () => {
    for (let n = 1; ; n++) {
      const disk = new SimulatedDisk();
      const account = new Account();
      const former = await begin(disk.start(), account);
      await former.append('["first"]');
      await former.store.close();
      const process = disk.start();
      let calls = 0;
      let successor: Session | undefined;
      const files = new FaultyFiles(process, async () => {
        calls += 1;
        if (calls !== n) return undefined;
        process.stop();
        successor = await begin(disk.start(), account);
        await successor.append('["second"]');
        return undefined;
      });
      const late = new FileStore(DIRECTORY, { files });
      const thrown: unknown = await late.open().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (successor === undefined) break;
      // Before it has claimed anything there is nobody to depose: it finds somebody at work.
      if (thrown !== undefined) expect(['DEPOSED', 'STORE']).toContain((thrown as { code?: unknown }).code);
      else await expect(late.append(1, 99, '["late"]')).rejects.toThrow(DeposedError);
      await late.close();
      await successor.append('["third"]');
      await successor.store.close();
      account.matches(await contentsOf(new FileStore(DIRECTORY, { files: disk.start() })));
    }
  });
});

describe('row 11: one owner at a time', () => {
  test('two that open at once, in whatever order their calls come: one gets it, and the other is told why not', async () => {
    for (let n = 1; n < 40; n++) {
      const disk = new SimulatedDisk();
      const stores: FileStore[] = [];
      let calls = 0;
      const rival = (): Promise<unknown> => {
        stores[1] = new FileStore(DIRECTORY, { files: disk.start() });
        return stores[1].open().catch((error: unknown) => error);
      };
      let second: unknown;
      const files = new FaultyFiles(disk.start(), async () => {
        calls += 1;
        if (calls === n) second = await rival();
        return undefined;
      });
      stores[0] = new FileStore(DIRECTORY, { files });
      const first: unknown = await stores[0].open().catch((error: unknown) => error);
      if (calls < n) break;
      const refused = [first, second].filter((result) => (result as { kind?: unknown }).kind === 'busy');
      expect(refused).toHaveLength(1);
      for (const store of stores) await store.close();
    }
  });

  test('the epoch grows with every owner, also after clean ends and losses of power', async () => {
    const disk = new SimulatedDisk({ seed: 3 });
    let epoch = 0;
    for (let round = 0; round < 10; round++) {
      const store = new FileStore(DIRECTORY, { files: disk.start() });
      const opening = await store.open();
      expect(opening.epoch).toBeGreaterThan(epoch);
      epoch = opening.epoch;
      if (round % 2 === 0) await store.close();
      else disk.losePower();
    }
  });
});
