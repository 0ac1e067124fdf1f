import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SIM_START, sim, type Sim } from '../../src/testing/index.js';

const SECOND = 1_000;

/** The seconds at which it was told that a series runs too often. */
function told(s: Sim): number[] {
  return s.facts.flatMap((fact) => (fact.kind === 'series.overran' ? [(fact.wall - SIM_START) / SECOND] : []));
}

/** The seconds at which occurrences began. */
function runs(s: Sim): number[] {
  return s.facts.flatMap((fact) =>
    fact.kind === 'attempt.started' && fact.attempt === 1 ? [(fact.wall - SIM_START) / SECOND] : [],
  );
}

function finishAll(s: Sim): void {
  for (let [name] = s.running(); name !== undefined; [name] = s.running()) s.complete(name);
}

test.each([
  ['an interval', { every: '10s', from: 'grid' }, { from: SIM_START + 50 * SECOND, until: SIM_START + 60 * SECOND }],
  ['cron', { cron: '*/10 * * * * *' }, { from: SIM_START + 50 * SECOND, until: SIM_START + 60 * SECOND }],
] as const)('E7.3 %s that makes up for all it missed is told once to run too often', (_, timing, interval) => {
  const s = sim({ slots: 1 });
  s.repeat('series', { ...timing, catchUp: 'all' });
  finishAll(s);
  s.advance(10 * SECOND);
  finishAll(s);
  s.jump(40 * SECOND);
  expect(told(s)).toEqual([]);
  finishAll(s);
  expect(runs(s).filter((at) => at === 50)).toHaveLength(4);
  expect(s.facts.filter((fact) => fact.kind === 'series.overran')).toEqual([
    { kind: 'series.overran', series: 'series', ...interval, wall: SIM_START + 50 * SECOND, mono: 10 * SECOND },
  ]);
});

test('E7.3 one run for all that were missed is not too often, nor is one that begins late in its interval', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: '10s', from: 'grid' });
  finishAll(s);
  s.jump(57 * SECOND);
  finishAll(s);
  s.advance(3 * SECOND);
  finishAll(s);
  expect(runs(s)).toEqual([0, 57, 60]);
  expect(told(s)).toEqual([]);
});

test('E7.3 ticks that queue up behind a long run are told when they begin in one interval', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: '10s', from: 'grid', overlap: 'queue', count: 4 });
  s.advance(34 * SECOND);
  finishAll(s);
  expect(runs(s)).toEqual([0, 34, 34, 34]);
  expect(told(s)).toEqual([34]);
});

test.each(['end', 'start'] as const)(
  'E7.3 counted from the %s, a failed occurrence run again by hand is one too many',
  (from) => {
    const s = sim({ slots: 1 });
    s.repeat('series', { every: '10s', from });
    const [first = ''] = s.running();
    s.advance(4 * SECOND);
    s.fail(first);
    s.send({ kind: 'retry', task: first.slice(0, -2) });
    expect(told(s)).toEqual([4]);
    finishAll(s);
    s.advance(20 * SECOND);
    finishAll(s);
    expect(told(s)).toEqual([4]);
  },
);

test('E7.3 retries by policy, and a claim that is given back, are no further runs', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: '10s', from: 'grid', retry: 3 });
  const [first = ''] = s.running();
  s.fail(first);
  s.send({ kind: 'release', task: first.slice(0, -2), token: { epoch: 1, attempt: 2 } });
  finishAll(s);
  expect(told(s)).toEqual([]);
});

test('E7.3 it is told once per stretch, and again after an interval with one run or none', () => {
  const s = sim({ slots: 9 });
  s.repeat('series', { every: '10s', from: 'grid', retry: 1 });
  const again = (): void => {
    const [name = ''] = s.running();
    s.fail(name, new Error('no'), false);
    s.send({ kind: 'retry', task: name.slice(0, name.lastIndexOf('#')) });
    finishAll(s);
  };
  for (const isTwice of [true, true, true, false, true, true]) {
    if (isTwice) again();
    else finishAll(s);
    s.advance(10 * SECOND);
  }
  expect(told(s)).toEqual([0, 40]);
});

test('E7.3 the wall clock set back begins the count anew', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: '10s' });
  s.jump(-3_600 * SECOND);
  finishAll(s);
  s.advance(10 * SECOND);
  expect(runs(s)).toEqual([0, -3_590]);
  expect(told(s)).toEqual([]);
});

/** What the rule says, from the times at which runs began and the grid they belong to. */
function expectedTold(begun: readonly number[], every: number): number[] {
  const counts = new Map<number, number>();
  const result: number[] = [];
  let quiet = true;
  let latest = -Infinity;
  for (const at of begun) {
    const interval = Math.floor(at / every);
    if (interval !== latest && !(latest === interval - 1 && (counts.get(latest) ?? 0) > 1)) quiet = true;
    latest = interval;
    const count = (counts.get(interval) ?? 0) + 1;
    counts.set(interval, count);
    if (count > 1 && quiet) {
      result.push(at);
      quiet = false;
    }
  }
  return result;
}

test('E7.3 on a grid, it is told exactly when a second run begins in an interval after a quiet one', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(25), fc.boolean()), { minLength: 5, maxLength: 40 }), (steps) => {
      const s = sim({ slots: 1 });
      s.repeat('series', { every: '10s', from: 'grid', overlap: 'queue' });
      for (const [seconds, finishes] of steps) {
        s.advance(seconds * SECOND);
        if (finishes) finishAll(s);
      }
      expect(told(s)).toEqual(expectedTold(runs(s), 10));
    }),
  );
});
