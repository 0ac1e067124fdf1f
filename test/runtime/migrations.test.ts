import { expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { MemoryStore, Scheduler } from '../../src/index.js';
import type { RevivalHost } from '../../src/runtime/revival.js';
import { Payloads } from '../../src/runtime/kept.js';
import {
  JOURNAL_VERSION,
  MIGRATIONS,
  migrate,
  type Entry,
  type Head,
  type Migrations,
} from '../../src/runtime/migrations.js';
import { Recovery } from '../../src/runtime/recovery.js';
import { Revival } from '../../src/runtime/revival.js';

/** The core that a later version of this code, with these migrations, makes of what this one has written. */
async function recovered(store: MemoryStore, migrations: Migrations): Promise<Core> {
  const core = new Core({ origin: { wall: 0, mono: 0 } });
  const host = { core, definitions: new Map(), seriesHost: {}, payloads: new Payloads(undefined, undefined) };
  const revival = new Revival({ ...host, strategies: [] } as unknown as RevivalHost);
  expect(await new Recovery(store, core, revival, {}, migrations).run()).toBe(true);
  return core;
}

/** A later version calls channels otherwise, and has series counted on from 77. */
const RENAMED = new Map([
  [
    JOURNAL_VERSION,
    {
      entry: (entry: Entry) => {
        const { spec } = entry as { readonly spec?: Record<string, unknown> };
        return spec === undefined ? entry : { ...entry, spec: renamed(spec) };
      },
      head: (head: Head) => ({ ...head, nextSeries: 77 }),
      listed: (list: string, entry: unknown) => (list === 'specs' ? renamed(entry as Record<string, unknown>) : entry),
    },
  ],
  [JOURNAL_VERSION + 1, { listed: (_list: string, entry: unknown) => entry }],
]);

function renamed(spec: Record<string, unknown>): Record<string, unknown> {
  return { ...spec, channel: `${String(spec['channel'])} as it is called now` };
}

function begin(store: MemoryStore): Scheduler {
  const scheduler = new Scheduler({ store, concurrency: 0 });
  scheduler.define('work', () => undefined);
  return scheduler;
}

test('B6.2 what an older version has written, journal and snapshot, is migrated as it is read', async () => {
  const store = new MemoryStore();
  const channels = (core: Core): string[] => [...core.state.table.all()].map(({ spec }) => spec.channel);
  const first = begin(store);
  await first.add('work', 1, { id: 'a', channel: 'gold' }).accepted;
  const fromJournal = await recovered(store, RENAMED);
  expect(channels(fromJournal)).toEqual(['gold as it is called now']);
  expect(fromJournal.snapshot().nextSeries).toBe(77);
  await first.close();

  const second = begin(store);
  await second.add('work', 1, { id: 'b', channel: 'silver' }).accepted;
  const both = await recovered(store, RENAMED);
  expect(channels(both)).toEqual(['gold as it is called now', 'silver as it is called now']);
  expect(both.snapshot().nextSeries).toBe(77);
  both.check();
  await second.close();
});

test('what is migrated goes step by step, from its own version on', () => {
  const step = (to: number): { entry: (entry: Entry) => Entry } => ({
    entry: (entry) => ({ ...entry, version: [...((entry['version'] as number[] | undefined) ?? []), to] }),
  });
  const migrations = new Map([
    [1, step(2)],
    [2, step(3)],
  ]);
  expect(migrate([{ kind: 'a' }], 1, migrations)).toEqual([{ kind: 'a', version: [2, 3] }]);
  expect(migrate([{ kind: 'a' }], 2, migrations)).toEqual([{ kind: 'a', version: [3] }]);
  expect(migrate([{ kind: 'a' }], 3, migrations)).toEqual([{ kind: 'a' }]);
});

test('there is a way on from each version before the present one', () => {
  const versions = Array.from({ length: JOURNAL_VERSION - 1 }, (_, at) => at + 1);
  expect([...MIGRATIONS.keys()]).toEqual(versions);
});
