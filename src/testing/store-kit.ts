import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import type { Durability } from '../ports/store.js';
import type { ConformanceCheck } from './conformance.js';
import { BODIES, demand, StoreBench, type StoreCheck, type StorePlace } from './store-bench.js';
import { SNAPSHOT_CHECKS, type SnapshotCheckName } from './store-snapshot-checks.js';

export type { StorePlace } from './store-bench.js';

/** What is checked of a store. */
export type StoreCheckName =
  | 'says what it is and what it keeps'
  | 'begins with nothing'
  | 'gives back records as they were given'
  | 'keeps a record of a megabyte'
  | 'keeps a record as long as it says'
  | 'keeps thousands of records in order'
  | 'refuses a number that is not the next'
  | 'lets one of two appends through that claim the same number'
  | 'gives a larger epoch at each opening'
  | 'refuses an epoch that is not the current one'
  | 'lets only one of two owners write'
  | 'gives whoever takes over all that it has acknowledged'
  | 'shows whoever opens it each append that gets through'
  | 'is closed by nobody but its owner'
  | SnapshotCheckName
  | 'can be closed more than once, and takes nothing afterwards';

/** The store to check. */
export interface StoreSubject {
  /** A new and empty place, for each check. */
  place(): StorePlace | Promise<StorePlace>;
  /** What does not apply to it, with the reason. */
  readonly skip?: Partial<Readonly<Record<StoreCheckName, string>>> | undefined;
  /** How long a single call may take; 10 seconds unless given. */
  readonly patienceMs?: number | undefined;
  /** How many records are appended where many are wanted; 2,000 unless given. */
  readonly many?: number | undefined;
}

/**
 * What every store must keep to, as checks for any test runner.
 *
 * @example
 * ```ts
 * const place = () => {
 *   const name = randomUUID();
 *   return { store: () => new MyStore(name), remove: () => dropMyStore(name) };
 * };
 * for (const { name, skipped, run } of storeChecks({ place })) {
 *   test(name, { skip: skipped !== undefined }, run);
 * }
 * ```
 */
export function storeChecks(subject: StoreSubject): ConformanceCheck[] {
  return (Object.entries(CHECKS) as [StoreCheckName, StoreCheck][]).map(([name, body]) => ({
    name,
    skipped: subject.skip?.[name],
    run: async () => {
      const bench = new StoreBench(await subject.place(), subject.patienceMs ?? 10_000, subject.many ?? 2_000);
      try {
        await body(bench);
      } finally {
        await bench.clear();
      }
    },
  }));
}

const CHECKS: Readonly<Record<StoreCheckName, StoreCheck>> = {
  'says what it is and what it keeps': async (bench) => {
    const { name, durability } = await bench.store();
    demand(typeof name === 'string' && name !== '', `its name is ${inspect(name)}, expected a text that is not empty`);
    const known: string[] = ['none', 'os', 'fsync'] satisfies Durability[];
    demand(known.includes(durability), `its durability is ${inspect(durability)}, expected one of ${known.join(', ')}`);
  },
  'begins with nothing': async (bench) => {
    const session = await bench.begin();
    session.holds([]);
    (await bench.beginAgain(session)).holds([]);
  },
  'gives back records as they were given': async (bench) => {
    const session = await bench.begin();
    await session.append(...BODIES);
    (await bench.beginAgain(session)).holds(BODIES);
  },
  'keeps a record of a megabyte': async (bench) => {
    const bodies = ['["before"]', JSON.stringify(['ö漢'.repeat(300_000)]), '["after"]'];
    const session = await bench.begin();
    await session.append(...bodies);
    (await bench.beginAgain(session)).holds(bodies);
  },
  'keeps a record as long as it says': async (bench) => {
    const { maxRecordBytes } = await bench.store();
    if (maxRecordBytes === undefined) return;
    const isLength = Number.isSafeInteger(maxRecordBytes) && maxRecordBytes > 0;
    demand(isLength, `it says ${inspect(maxRecordBytes)}, expected a whole number of bytes above 0`);
    // Of characters that take more than one byte there or are escaped, and some to make up the length.
    const text = JSON.stringify(['"ö漢\n'.repeat(Math.floor(maxRecordBytes / 16)), '']);
    const longest = text.replace(/""\]$/, () => `"${'x'.repeat(maxRecordBytes - Buffer.byteLength(text))}"]`);
    const session = await bench.begin();
    await session.append(longest, '["after"]');
    (await bench.beginAgain(session)).holds([longest, '["after"]']);
  },
  'keeps thousands of records in order': async (bench) => {
    const bodies = Array.from({ length: bench.many }, (_, n) => JSON.stringify([n, 'x'.repeat(n % 97)]));
    const half = bodies.length >> 1;
    const first = await bench.begin();
    await first.append(...bodies.slice(0, half));
    const second = await bench.beginAgain(first);
    second.holds(bodies.slice(0, half));
    await second.append(...bodies.slice(half));
    (await bench.beginAgain(second)).holds(bodies);
  },
  'refuses a number that is not the next': async (bench) => {
    const session = await bench.begin();
    await session.append('[1]', '[2]');
    for (const wrong of [0, 1, 3, 100]) {
      const claim = `that a record after ${wrong} is refused where the last is 2`;
      await session.refuses('DEPOSED', claim, ({ store, epoch }) => store.append(wrong, epoch, '["wrong"]'));
    }
    await session.append('[3]');
    (await bench.beginAgain(session)).holds(['[1]', '[2]', '[3]']);
  },
  'lets one of two appends through that claim the same number': async (bench) => {
    const session = await bench.begin();
    const bodies: string[] = [];
    for (let round = 0; round < 10; round++) {
      const rivals = ['["a"]', '["b"]', '["c"]'];
      const races = rivals.map((body) => session.store.append(round, session.epoch, body));
      const ends = await bench.within(Promise.allSettled(races), 'all of them end');
      const winners = rivals.filter((_, n) => ends[n]?.status === 'fulfilled');
      demand(winners.length === 1, `${winners.length} of ${rivals.length} appends of one number were let through`);
      bodies.push(...winners);
    }
    (await bench.beginAgain(session)).holds(bodies);
  },
  'gives a larger epoch at each opening': async (bench) => {
    let session = await bench.begin();
    for (let round = 0; round < 3; round++) {
      const next = await bench.beginAgain(session);
      demand(next.epoch > session.epoch, `epoch ${next.epoch} came after epoch ${session.epoch}`);
      session = next;
      await session.append(`[${round}]`);
    }
  },
  'refuses an epoch that is not the current one': async (bench) => {
    const former = await bench.begin();
    await former.append('[1]');
    await former.save(['["one"]']);
    const session = await bench.beginAgain(former);
    for (const epoch of [former.epoch, session.epoch + 1]) await session.refusesEpoch(epoch);
    await session.append('[2]');
    (await bench.beginAgain(session)).holds(['[2]'], { sequence: 1, parts: ['["one"]'] });
  },
  'lets only one of two owners write': async (bench) => {
    const first = await bench.begin();
    await first.append('[1]');
    const second = await bench.rival();
    if (second === undefined) {
      await first.append('[2]');
      (await bench.beginAgain(first)).holds(['[1]', '[2]']);
      return;
    }
    second.holds(['[1]']);
    demand(second.epoch > first.epoch, `a rival got epoch ${second.epoch} beside epoch ${first.epoch}`);
    await first.refusesEpoch(first.epoch);
    await second.append('[2]');
    // Whoever was deposed leaves without taking the right to write along.
    await first.close();
    await second.append('[3]');
    (await bench.beginAgain(second)).holds(['[1]', '[2]', '[3]']);
  },
  'gives whoever takes over all that it has acknowledged': async (bench) => {
    const first = await bench.begin();
    await first.append('[1]', '[2]');
    await first.save(['["a"]'], 1);
    await first.compact();
    await first.append('[3]');
    const snapshot = { sequence: 1, parts: ['["a"]'] };
    const second = await bench.takeOver(first);
    second.holds(['[2]', '[3]'], snapshot);
    await second.append('[4]');
    (await bench.takeOver(second)).holds(['[2]', '[3]', '[4]'], snapshot);
  },
  'shows whoever opens it each append that gets through': async (bench) => {
    let owner = await bench.begin();
    const kept: string[] = [];
    for (let turns = 0; turns < 10; turns++) {
      const body = `["${turns} turns before"]`;
      const racing = owner.append(body).then(
        () => kept.push(body),
        () => undefined,
      );
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      const next = await bench.rival();
      await racing;
      if (next === undefined) continue;
      await owner.close();
      next.holds(kept);
      owner = next;
    }
    (await bench.beginAgain(owner)).holds(kept);
  },
  'is closed by nobody but its owner': async (bench) => {
    const first = await bench.begin();
    await first.append('[1]');
    // As when two schedulers are given one and the same object.
    const owner = (await bench.rival(first.store)) ?? first;
    await owner.close(owner === first ? owner.epoch + 1 : first.epoch);
    await owner.append('[2]');
    await owner.close();
    await owner.refuses('STORE', 'that it appends nothing once its owner has closed it', (late) => late.append('[3]'));
    (await bench.begin()).holds(['[1]', '[2]']);
  },
  ...SNAPSHOT_CHECKS,
  'can be closed more than once, and takes nothing afterwards': async (bench) => {
    const session = await bench.begin();
    await session.append('[1]');
    await bench.within(session.store.close(), 'it closes');
    await bench.within(session.store.close(), 'it closes again');
    await session.refuses('STORE', 'that it appends nothing once closed', (closed) => closed.append('["late"]'));
    await session.refuses('STORE', 'that it saves nothing once closed', (closed) => closed.save(['["late"]']));
    await session.refuses('STORE', 'that it compacts nothing once closed', (closed) => closed.compact());
    (await bench.begin()).holds(['[1]']);
  },
};
