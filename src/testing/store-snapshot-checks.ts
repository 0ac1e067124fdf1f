import { BODIES, demand, type Session, type StoreCheck } from './store-bench.js';

/** What is checked of how a store keeps snapshots, and lets go of what they stand for. */
export type SnapshotCheckName =
  | 'keeps a snapshot and the records after it'
  | 'keeps the parts of a snapshot in order and apart'
  | 'takes records while a snapshot is being saved'
  | 'keeps the snapshot before one that breaks off'
  | 'keeps the newer of two snapshots'
  | 'keeps a snapshot apart from that of a deposed owner'
  | 'changes nothing by compacting'
  | 'goes on after compacting';

/** By the names that they are told by. */
export const SNAPSHOT_CHECKS: Readonly<Record<SnapshotCheckName, StoreCheck>> = {
  'keeps a snapshot and the records after it': async (bench) => {
    const session = await bench.begin();
    await session.append('[1]', '[2]', '[3]');
    await session.save(['["a"]'], 2);
    const second = await bench.beginAgain(session);
    second.holds(['[3]'], { sequence: 2, parts: ['["a"]'] });
    await second.append('[4]');
    await second.save(['["b"]']);
    (await bench.beginAgain(second)).holds([], { sequence: 4, parts: ['["b"]'] });
  },
  'keeps the parts of a snapshot in order and apart': async (bench) => {
    const session = await bench.begin();
    await session.append('[1]');
    const parts = [...BODIES, ...Array.from({ length: 300 }, (_, n) => `[${n}]`), `["${'漢'.repeat(500_000)}"]`, '[]'];
    await session.save(parts);
    (await bench.beginAgain(session)).holds([], { sequence: 1, parts });
  },
  'takes records while a snapshot is being saved': async (bench) => {
    const session = await bench.begin();
    await session.append('[1]', '[2]');
    await session.save(partsWhile(session, ['["a"]', '["b"]', '["c"]']));
    await session.append('["after"]');
    const records = ['["beside a"]', '["beside b"]', '["beside c"]', '["after"]'];
    (await bench.beginAgain(session)).holds(records, { sequence: 2, parts: ['["a"]', '["b"]', '["c"]'] });
  },
  'keeps the snapshot before one that breaks off': async (bench) => {
    const first = await bench.begin();
    await first.append('[1]');
    await breaksOff(first);
    const second = await bench.beginAgain(first);
    second.holds(['[1]']);
    await second.save(['["whole"]']);
    await second.append('[2]');
    await breaksOff(second);
    await second.compact();
    const third = await bench.beginAgain(second);
    third.holds(['[2]'], { sequence: 1, parts: ['["whole"]'] });
    await third.save(['["next"]']);
    (await bench.beginAgain(third)).holds([], { sequence: 2, parts: ['["next"]'] });
  },
  'keeps the newer of two snapshots': async (bench) => {
    const session = await bench.begin();
    await session.append('[1]', '[2]', '[3]');
    await session.save(['["newer"]'], 2);
    await session.compact();
    // Whether it says so or lets it go is its own affair.
    await session.save(['["older"]'], 1).catch(() => undefined);
    await session.compact();
    (await bench.beginAgain(session)).holds(['[3]'], { sequence: 2, parts: ['["newer"]'] });
  },
  'keeps a snapshot apart from that of a deposed owner': async (bench) => {
    const first = await bench.begin();
    await first.append('[1]', '[2]');
    const rivals: (Session | undefined)[] = [];
    const parts = async function* (): AsyncIterable<string> {
      yield '["of the first"]';
      const second = await bench.rival();
      await second?.append('[3]');
      await second?.save(['["of the second"]', '["and more"]']);
      await second?.compact();
      rivals.push(second);
      yield '["of the first too"]';
    };
    // Whether it says that it was deposed or that there is a newer one is its own affair.
    const end = await Promise.allSettled([first.save(parts())]);
    const [second] = rivals;
    if (second !== undefined) {
      const snapshot = { sequence: 3, parts: ['["of the second"]', '["and more"]'] };
      (await bench.beginAgain(second)).holds([], snapshot);
      return;
    }
    demand(end[0].status === 'fulfilled', 'a snapshot was refused because of a rival that was refused too');
    const snapshot = { sequence: 2, parts: ['["of the first"]', '["of the first too"]'] };
    (await bench.beginAgain(first)).holds([], snapshot);
  },
  'changes nothing by compacting': async (bench) => {
    const first = await bench.begin();
    await first.append('[1]', '[2]', '[3]');
    await first.compact();
    const second = await bench.beginAgain(first);
    second.holds(['[1]', '[2]', '[3]']);
    await second.save(['["a"]', '["b"]'], 2);
    await second.compact();
    await second.append('[4]');
    await second.compact();
    const snapshot = { sequence: 2, parts: ['["a"]', '["b"]'] };
    const third = await bench.beginAgain(second);
    third.holds(['[3]', '[4]'], snapshot);
    await third.compact();
    (await bench.beginAgain(third)).holds(['[3]', '[4]'], snapshot);
  },
  'goes on after compacting': async (bench) => {
    let session = await bench.begin();
    for (let round = 1; round <= 3; round++) {
      await session.append(`["a${round}"]`, `["b${round}"]`);
      await session.save([`["round ${round}"]`]);
      await session.compact();
      // Nothing but the snapshot is left, and still the numbers go on.
      session = await bench.beginAgain(session);
      session.holds([], { sequence: 2 * round, parts: [`["round ${round}"]`] });
    }
    await session.append('["last"]');
    (await bench.beginAgain(session)).holds(['["last"]'], { sequence: 6, parts: ['["round 3"]'] });
  },
};

/** Parts that come while records are appended: each waits until one has been. */
async function* partsWhile(session: Session, parts: readonly string[]): AsyncIterable<string> {
  for (const part of parts) {
    await session.append(part.replace('["', '["beside '));
    yield part;
  }
}

async function breaksOff(session: Session): Promise<void> {
  const isRefused = await session.save(broken()).then(
    () => false,
    () => true,
  );
  demand(isRefused, 'it resolved for a snapshot that broke off');
}

async function* broken(): AsyncIterable<string> {
  yield* ['["half"]', '["a"]'];
  await Promise.reject(new Error('a part cannot be had'));
}
