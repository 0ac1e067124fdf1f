import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { MemoryStore, type Loaded } from '../../src/index.js';
import { expectTyped, expectWellFormed, inherited, textOf } from './claims.js';
import { handing, noting, recovered, statesOf, work, type Left } from './history.js';
import { changed, changesWith, runsOf, timeFor, type Change } from './hostile.js';

/** What JSON can say, and no record should. */
const ODD: Readonly<Record<string, () => unknown>> = {
  null: () => null,
  true: () => true,
  zero: () => 0,
  'minus one': () => -1,
  fraction: () => 1.5,
  large: () => 2 ** 53,
  'largest number': () => Number.MAX_VALUE,
  'empty text': () => '',
  text: () => 'text',
  __proto__name: () => '__proto__',
  constructor: () => 'constructor',
  path: () => '../x',
  NUL: () => 'a\0b',
  'a known id': () => 'slow-0',
  'another known id': () => 'after-1',
  'a state': () => 'running',
  'a kind': () => 'task.ready',
  list: () => [],
  'list of null': () => [null],
  object: () => ({}),
  'own __proto__': () => JSON.parse('{"__proto__":{"polluted":1}}') as unknown,
  long: () => 'x'.repeat(2_000),
};

/** What is done to what a store hands over. */
type Damage =
  | { readonly kind: 'value'; readonly at: number; readonly change: Change }
  | { readonly kind: 'text'; readonly at: number; readonly from: number; readonly length: number; readonly put: string }
  | { readonly kind: 'lost' | 'doubled' | 'swapped'; readonly at: number };

const at = fc.nat(10_000);
const damages: fc.Arbitrary<Damage> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('value'), at, change: changesWith(Object.keys(ODD)) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ kind: fc.constant('text'), at, from: at, length: fc.nat(40) },
      put: fc.constantFrom('', '0', '"', ']', '[2', 'null', '\u0000'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('lost', 'doubled', 'swapped'), at }) },
);

const left: Left = { bodies: [], snapshots: [] };
let states: readonly string[] = [];

beforeAll(async () => {
  await work(noting(new MemoryStore(), left), 6);
  states = await statesOf(left);
});

test('the records and each snapshot lead to the same state', async () => {
  expect(left.snapshots.length).toBeGreaterThan(2);
  for (const { sequence, parts } of left.snapshots) {
    const whole = await recovered(handing({ kind: 'snapshot', sequence, parts }, rest(sequence)));
    expect(textOf(whole.snapshot())).toBe(states.at(-1));
  }
});

const runs = runsOf(400);

test.each(['records', 'snapshot'] as const)(
  'row 28 %s with odd values are refused with a typed error, or no such value gets anywhere; nothing inherits from them',
  async (which) => {
    const counts = { same: 0, other: 0, refused: 0 };
    const property = fc.asyncProperty(damages, fc.nat(100), async (damage, pick) => {
      const prototypes = inherited();
      counts[await outcomeOf(damagedTexts(which, damage, pick))] += 1;
      expect(inherited()).toBe(prototypes);
    });
    await fc.assert(property, { numRuns: runs });
    if (process.env['FUZZ_RUNS'] !== undefined) console.log(which, counts);
    expect(counts.refused).toBeGreaterThan(runs / 10);
  },
  timeFor(runs),
);

async function outcomeOf(loaded: readonly Loaded[]): Promise<'same' | 'other' | 'refused'> {
  let core;
  try {
    core = await recovered(handing(...loaded));
  } catch (error) {
    expectTyped(error);
    expect(['CORRUPT_JOURNAL', 'UNSUPPORTED_VERSION']).toContain(error.code);
    return 'refused';
  }
  expectWellFormed(core);
  return textOf(core.snapshot()) === states.at(-1) ? 'same' : 'other';
}

function rest(sequence: number): Loaded {
  return { kind: 'records', first: sequence + 1, bodies: left.bodies.slice(sequence) };
}

function damagedTexts(which: 'records' | 'snapshot', damage: Damage, pick: number): readonly Loaded[] {
  if (which === 'records') return recordsWith(damage);
  const { sequence, parts } = left.snapshots[pick % left.snapshots.length]!;
  const stretches = damagedList(parts, damage).map(({ texts }) => texts);
  return [{ kind: 'snapshot', sequence, parts: stretches.flat() }, rest(sequence)];
}

function recordsWith(damage: Damage): readonly Loaded[] {
  return damagedList(left.bodies, damage).map(({ first, texts }) => ({ kind: 'records', first, bodies: texts }));
}

/** The texts in stretches, each with the number of its first. */
function damagedList(
  texts: readonly string[],
  damage: Damage,
): { readonly first: number; readonly texts: readonly string[] }[] {
  const place = damage.at % texts.length;
  const text = texts[place]!;
  switch (damage.kind) {
    case 'value':
      return [{ first: 1, texts: texts.with(place, JSON.stringify(changed(JSON.parse(text), damage.change, ODD))) }];
    case 'text': {
      const from = damage.from % text.length;
      const damaged = text.slice(0, from) + damage.put + text.slice(from + damage.length);
      return [{ first: 1, texts: texts.with(place, damaged) }];
    }
    case 'lost':
      return [
        { first: 1, texts: texts.slice(0, place) },
        { first: place + 2, texts: texts.slice(place + 1) },
      ];
    case 'doubled':
      return [
        { first: 1, texts: texts.slice(0, place + 1) },
        { first: place + 1, texts: texts.slice(place) },
      ];
    case 'swapped':
      return [
        {
          first: 1,
          texts: [...texts.slice(0, place), ...texts.slice(place, place + 2).reverse(), ...texts.slice(place + 2)],
        },
      ];
  }
}
