import { describe, expect, test } from 'vitest';
import type { Candidate, Strategy } from '../../src/index.js';
import { strategyChecks, type StrategyCheckName } from '../../src/testing/index.js';

const PAGES = new Map([
  ['thesis', 300],
  ['letter', 1],
]);

/** Ranks alone. */
const shortestFirst: Strategy = {
  name: 'shortest-first',
  rank: (task) => PAGES.get(task.id) ?? Infinity,
  describe: () => 'pages → FIFO',
};

/** Ranks, and a choice by chance; a class, as methods are found elsewhere there. */
class Lottery implements Strategy {
  readonly name = 'lottery';

  rank(task: Candidate): number {
    return -task.level;
  }

  choose(heads: readonly Candidate[], context: { random(): number }): Candidate {
    return heads[Math.floor(context.random() * heads.length)] as Candidate;
  }

  describe(): string {
    return 'chance';
  }
}

describe('strategies that are right conform', () => {
  const tasks = [{ id: 'thesis' }, { id: 'letter', level: 1, needs: [{ resource: 'paper', amount: 1 }] }];
  for (const { name, skipped, run } of strategyChecks({ make: () => shortestFirst, tasks })) {
    test.skipIf(skipped !== undefined)(`ranks alone: ${name}`, run);
  }
  for (const { name, skipped, run } of strategyChecks({ make: () => new Lottery() })) {
    test(`with a choice: ${name}`, async () => {
      expect(skipped).toBeUndefined();
      await run();
    });
  }
});

test('what does not apply is skipped with the reason', () => {
  const skip = { 'ranks every task with a number': 'it has none' };
  const skipped = strategyChecks({ make: () => shortestFirst, skip }).flatMap((check) =>
    check.skipped === undefined ? [] : [[check.name, check.skipped]],
  );
  expect(skipped).toEqual([
    ['ranks every task with a number', 'it has none'],
    ['chooses one of those it is shown', 'it has no choose'],
    ['chooses the same by the same chance', 'it has no choose'],
  ]);
});

const lottery = new Lottery();
const choose = (heads: readonly Candidate[], context: { random(): number }): Candidate =>
  lottery.choose(heads, context);

/** A rank that goes round, whatever it is asked about. */
function inTurn(): Strategy['rank'] {
  let asked = 0;
  return () => (asked += 7) % 5;
}

/** Takes turns, by what it remembers. */
function cursor(): NonNullable<Strategy['choose']> {
  let at = 0;
  return (heads) => heads[(at += 1) % heads.length] as Candidate;
}

/** Knows tasks by what they are, not by what they say. */
function byIdentity(): Strategy['rank'] {
  const seen = new Map<Candidate, number>();
  return (task) => {
    if (!seen.has(task)) seen.set(task, seen.size);
    return seen.get(task) as number;
  };
}

const object: Record<string, number> = { letter: 1 };
const NAME = 'says its name and what decides';
const NUMBER = 'ranks every task with a number';
const SAME = 'ranks a task the same each time';
const UNCHANGED = 'changes nothing that it is shown';
const ONE_OF = 'chooses one of those it is shown';
const CHANCE = 'chooses the same by the same chance';
const ORDER = 'lets every task go once, in its order';
const RESTART = 'goes on after a restart as it would have';

const WRONG: readonly (readonly [string, () => Partial<Strategy>, StrategyCheckName])[] = [
  ['has no name', () => ({ name: '' }), NAME],
  ['has the name of a built-in one', () => ({ name: 'fair' }), NAME],
  ['describes itself with something else than a text', () => ({ describe: () => 7 as never }), NAME],
  ['describes itself in two lines', () => ({ describe: () => 'pages\nFIFO' }), NAME],
  ['says something else each time', () => ({ describe: () => `chance ${Math.random()}` }), NAME],
  ['has no rank for some', () => ({ rank: (task) => (task.channel === 'gold' ? undefined : 1) as number }), NUMBER],
  ['subtracts what is infinite', () => ({ rank: (task) => task.deadline - Infinity }), NUMBER],
  ['ranks by words', () => ({ rank: (task) => task.id as never }), NUMBER],
  ['throws at some', () => ({ rank: (task) => task.needs[0]!.amount }), NUMBER],
  ['looks ids up in a plain object', () => ({ rank: (task) => object[task.id] ?? 9 }), NUMBER],
  ['ranks by chance', () => ({ rank: () => Math.random() }), SAME],
  ['ranks by the clock', () => ({ rank: () => performance.now() }), SAME],
  ['ranks by when it was asked', () => ({ rank: inTurn() }), SAME],
  ['ranks by identity', () => ({ rank: byIdentity() }), SAME],
  ['marks what it has seen', () => ({ rank: (task) => Object.assign(task, { seen: true }).level }), UNCHANGED],
  [
    'sorts in place',
    () => ({ choose: (heads) => (heads as Candidate[]).sort((x, y) => y.level - x.level)[0]! }),
    UNCHANGED,
  ],
  ['takes what it chooses away', () => ({ choose: (heads) => (heads as Candidate[]).pop()! }), UNCHANGED],
  ['chooses a copy', () => ({ choose: (...given) => ({ ...choose(...given) }) }), ONE_OF],
  [
    'chooses beyond the last',
    () => ({ choose: (heads, chance) => heads[Math.round(chance.random() * heads.length)]! }),
    ONE_OF,
  ],
  [
    'chooses none of those that are alike',
    () => ({ choose: (heads) => heads.find((x) => x.level < heads[0]!.level)! }),
    ONE_OF,
  ],
  ['has a chance of its own', () => ({ choose: (heads) => choose(heads, { random: Math.random }) }), CHANCE],
  ['remembers whose turn it was', () => ({ choose: cursor() }), CHANCE],
  ['does not go by its ranks', () => ({ rank: inTurn() }), ORDER],
  ['forgets whose turn it was', () => ({ choose: cursor() }), RESTART],
];

async function failedChecks(make: () => Strategy): Promise<StrategyCheckName[]> {
  const failed: string[] = [];
  for (const { name, skipped, run } of strategyChecks({ make })) {
    if (skipped === undefined) await run().catch(() => failed.push(name));
  }
  return failed as StrategyCheckName[];
}

test.each(WRONG)('A1.3 the kit finds a strategy that %s', async (_, wrong, caught) => {
  expect(await failedChecks(() => ({ ...shortestFirst, ...wrong() }))).toContain(caught);
});

test('the kit says what it saw, and what it expected', async () => {
  const strategy: Strategy = { ...shortestFirst, rank: () => Number.NaN };
  const check = strategyChecks({ make: () => strategy }).find(({ name }) => name === NUMBER);
  await expect(check?.run()).rejects.toThrow(/does not conform: it ranks \{\s+id: .*\} as NaN, expected a number\.$/s);
});
