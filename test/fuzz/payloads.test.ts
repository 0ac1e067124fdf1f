import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryStore, PayloadError, Scheduler } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';
import { coreOf, expectSound, expectTyped, inherited, textOf } from './claims.js';
import { HOSTILE, changed, changesWith, nested, runsOf, timeFor, type Change } from './hostile.js';

/** Each list holds the next one twice: few objects, of which a text would never end. */
function twice(levels: number): unknown {
  let value: unknown = 'x';
  for (let level = 0; level < levels; level += 1) value = [value, value];
  return value;
}

const MAX_BYTES = 20_000;

/** What a store may be handed to keep. */
const VALUES: Readonly<Record<string, () => unknown>> = {
  ...HOSTILE,
  undefined: () => undefined,
  'many in few': () => twice(60),
  'more in fewer': () => Array.from({ length: 200 }, () => twice(12)),
  'a list of nothing, without an end': () => new Array<unknown>(2 ** 32 - 1),
  'a hundred levels': () => nested(100),
  'map of maps': () => new Map<unknown, unknown>([[new Map([['__proto__', 1n]]), new Set([-0, NaN])]]),
  'what looks encoded': () => ({ $: 'map', is: 'no list' }),
  'what looks like a hole': () => ({ $: 'undefined' }),
  buffer: () => Buffer.from('bytes'),
  'weak map': () => new WeakMap(),
  regexp: () => /x/,
  'object with a symbol': () => ({ [Symbol('key')]: 1 }),
  'text at the limit': () => 'x'.repeat(MAX_BYTES - 2),
  'text beyond the limit': () => 'x'.repeat(MAX_BYTES - 1),
  'with toJSON': () => ({ toJSON: () => 'something else' }),
};

const TEMPLATE = { text: 'a', list: [1, [null, { deep: true }]], when: { from: 1, until: 'b' } };

const runs = runsOf(500);

test(
  'rows 28 and 33: a payload comes back after a restart as it was, or is refused with its path, and nothing has changed',
  async () => {
    const counts = { kept: 0, refused: 0 };
    const changes = fc.array(changesWith(Object.keys(VALUES)), { minLength: 1, maxLength: 3 });
    const property = fc.asyncProperty(changes, async (each) => {
      const prototypes = inherited();
      counts[await keptOrRefused(each)] += 1;
      expect(inherited()).toBe(prototypes);
    });
    await fc.assert(property, { numRuns: runs });
    expect(counts.kept / runs).toBeGreaterThan(0.2);
    expect(counts.refused / runs).toBeGreaterThan(0.2);
  },
  timeFor(runs),
);

function payloadOf(changes: readonly Change[]): unknown {
  return changes.reduce<unknown>((value, change) => changed(value, change, VALUES), TEMPLATE);
}

async function keptOrRefused(changes: readonly Change[]): Promise<'kept' | 'refused'> {
  const store = new MemoryStore();
  const first = await begun(store);
  const core = coreOf(first.scheduler);
  const before = textOf(core.snapshot());
  try {
    await first.scheduler.add('work', payloadOf(changes), { id: 'task' }).accepted;
  } catch (error) {
    expectTyped(error);
    expect(error).toBeInstanceOf(PayloadError);
    expect(textOf(core.snapshot())).toBe(before);
    return 'refused';
  }
  expectSound(core);
  await first.scheduler.close();
  const again = await begun(store);
  again.scheduler.setConcurrency(1);
  await again.clock.settle();
  await again.clock.settle();
  // What is undefined in a record counts as absent, in both.
  expect(again.inputs).toEqual([payloadOf(changes)]);
  return 'kept';
}

async function begun(store: MemoryStore): Promise<{ scheduler: Scheduler; clock: VirtualClock; inputs: unknown[] }> {
  const inputs: unknown[] = [];
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ store, clock, concurrency: 0, maxPayloadBytes: MAX_BYTES });
  scheduler.define('work', (input: unknown) => void inputs.push(input));
  await scheduler.start();
  return { scheduler, clock, inputs };
}

test.each(['many in few', 'more in fewer', 'a list of nothing, without an end', 'circular', 'deep object'])(
  'row 33 metadata and results that are %s are refused before they take time or room',
  async (name) => {
    const { scheduler, clock } = await begun(new MemoryStore());
    const value = VALUES[name]!();
    expect(() => scheduler.add('work', 1, { metadata: { value } as never })).toThrow(
      expect.objectContaining({ code: 'INVALID_TASK' }),
    );
    scheduler.define('give', () => value);
    scheduler.setConcurrency(1);
    const result = scheduler.add('give', 1).result.catch((error: unknown) => error);
    await clock.settle();
    await clock.settle();
    expect(await result).toMatchObject({ code: 'PAYLOAD' });
  },
);
