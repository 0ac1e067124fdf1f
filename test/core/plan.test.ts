import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { InvalidConfigError } from '../../src/model/index.js';
import { STRATEGY_NAMES } from '../../src/ready/index.js';
import { sim, type Balance, type PlanRequest, type Sim, type SimTaskOptions } from '../../src/testing/index.js';

/** Carries the plan out and returns `task > worker` for each start. */
function plan(s: Sim, count: number, balance: Balance, workers?: readonly string[]): string[] {
  const request: PlanRequest = { count, balance, workers };
  const foreseen = s.core.foresee(s.now, request).map(({ task, worker }) => `${task} > ${worker}`);
  const before = s.facts.length;
  s.send({ kind: 'plan', ...request });
  const started = s.facts
    .slice(before)
    .flatMap((fact) => (fact.kind === 'attempt.started' ? [`${fact.task} > ${fact.workerId}`] : []));
  expect(started).toEqual(foreseen);
  return started;
}

function loads(s: Sim): number[] {
  return [...s.core.state.workers.values()].map(({ running }) => running);
}

const linux = new Map([['os', 'linux']]);

describe('the plan step', () => {
  test('C14 an attempt goes to the worker with the most free slots among those that suit it', () => {
    const s = sim();
    s.worker('small', { slots: 1 });
    s.worker('large', { slots: 3 });
    s.worker('linux', { slots: 2, capabilities: linux });
    for (const id of ['a', 'b', 'c', 'd']) s.add(id);
    s.add('e', { capabilities: { os: 'linux' } });
    expect(plan(s, 10, 'least-loaded')).toEqual(['a > large', 'b > linux', 'c > large', 'd > small', 'e > linux']);
  });

  test('C14 without a limit on slots the one that runs the least goes first', () => {
    const s = sim();
    s.worker('x');
    s.worker('y');
    for (const id of ['a', 'b', 'c']) s.add(id);
    expect(plan(s, 3, 'least-loaded')).toEqual(['a > x', 'b > y', 'c > x']);
  });

  test('C14 round-robin: workers take turns, which go on from plan to plan and over a restart', () => {
    const s = sim();
    for (const id of ['x', 'y', 'z']) s.worker(id, { slots: 9 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) s.add(id);
    expect(plan(s, 2, 'round-robin')).toEqual(['a > x', 'b > y']);
    expect(plan(s, 2, 'round-robin')).toEqual(['c > z', 'd > x']);
    expect(plan(s, 2, 'round-robin')).toEqual(['e > y']);
  });

  test('C14 round-robin: whoever was given nothing for longest is next, after claims and over a restart', () => {
    const s = sim();
    for (const id of ['x', 'y', 'z']) s.worker(id, { slots: 9 });
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) s.add(id);
    expect(plan(s, 2, 'round-robin')).toEqual(['a > x', 'b > y']);
    expect(s.claim(1, 'z')).toEqual(['c']);
    s.claim(1, 'x');
    s.core = Core.restore(s.core.snapshot());
    s.worker('new', { slots: 9 });
    expect(plan(s, 3, 'round-robin')).toEqual(['e > new', 'f > y', 'g > z']);
  });

  test('B8 completions are reported back as for claims, and free what was held', () => {
    const s = sim();
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    s.worker('x', { slots: 2 });
    for (const id of ['a', 'b']) s.add(id, { needs: { gpu: 1 } });
    expect(plan(s, 5, 'least-loaded')).toEqual(['a > x']);
    s.complete('a');
    expect(plan(s, 5, 'least-loaded')).toEqual(['b > x']);
  });

  test('B8 only the workers that ask get something, and the best task that suits none of them is left for others', () => {
    const s = sim();
    s.worker('plain', { slots: 2 });
    s.worker('linux', { slots: 2, capabilities: linux });
    s.add('urgent', { priority: 'high', capabilities: { os: 'linux' } });
    s.add('other');
    expect(plan(s, 5, 'least-loaded', ['plain'])).toEqual(['other > plain']);
    expect(plan(s, 5, 'least-loaded')).toEqual(['urgent > linux']);
  });

  test('B8 who goes on after a wait takes a slot, but is not one of those asked for', () => {
    const s = sim();
    s.worker('x', { slots: 2 });
    s.add('parent', { priority: 'critical' });
    s.add('child');
    plan(s, 2, 'least-loaded');
    s.waitFor('parent', 'child');
    s.add('next');
    s.add('last');
    s.complete('child');
    expect(plan(s, 1, 'least-loaded')).toEqual(['next > x']);
    expect(s.running()).toEqual(['parent#1', 'next#1']);
  });

  test('B8 looking at a plan changes nothing', () => {
    const s = sim({ strategy: 'weighted-random' });
    s.worker('x', { slots: 2 });
    for (const id of ['a', 'b', 'c']) s.add(id);
    const before = JSON.stringify(s.core.snapshot());
    s.core.foresee(s.now, { count: 3, balance: 'round-robin' });
    expect(JSON.stringify(s.core.snapshot())).toBe(before);
  });

  test("B8 a plan can be looked at with a strategy of one's own, also where only a worker has it", () => {
    const longest = { name: 'longest', rank: (task: { id: string }) => -task.id.length, describe: () => 'length' };
    const s = sim();
    s.worker('x', { slots: 2, strategy: longest });
    for (const id of ['a', 'aaa', 'aa']) s.add(id);
    s.send({ kind: 'setStrategy', strategy: longest });
    expect(plan(s, 2, 'least-loaded')).toEqual(['aaa > x', 'aa > x']);
  });

  test.each([
    ['count', { count: 0 }],
    ['count', { count: 1.5 }],
    ['balance', { balance: 'best' as Balance }],
    ['worker', { workers: ['nobody'] }],
    ['workers', { workers: ['picky'] }],
  ])('B8 a plan with a wrong %s is refused and starts nothing', (field, given) => {
    const s = sim();
    s.worker('x');
    s.worker('picky', { filter: () => true });
    s.add('a');
    const ask = (): void => void s.send({ kind: 'plan', count: 1, balance: 'least-loaded', ...given });
    expect(ask).toThrow(InvalidConfigError);
    expect(ask).toThrow(expect.objectContaining({ field }));
    expect(s.running()).toEqual([]);
  });
});

const balance = fc.constantFrom<Balance>('least-loaded', 'round-robin');
const task: fc.Arbitrary<SimTaskOptions> = fc.record({
  priority: fc.integer({ min: 0, max: 4 }),
  channel: fc.constantFrom('A', 'B', 'C'),
  needs: fc.constantFrom({}, {}, { cpu: 1 }, { cpu: 2 }),
});

function world(strategy: (typeof STRATEGY_NAMES)[number], tasks: readonly SimTaskOptions[]): Sim {
  const s = sim({ strategy });
  s.send({ kind: 'setCapacity', resource: 'cpu', units: 3 });
  s.send({ kind: 'setLimit', scope: 'channel', key: 'A', limit: 2 });
  for (const [i, options] of tasks.entries()) s.add(`t${i}`, options);
  return s;
}

describe('any plan', () => {
  test.each(STRATEGY_NAMES)('B8 G7 under %s starts what one worker would have claimed, in that order', (strategy) => {
    fc.assert(
      fc.property(
        fc.array(task, { maxLength: 25 }),
        fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 30 }),
        balance,
        (tasks, slots, count, how) => {
          const s = world(strategy, tasks);
          for (const [i, each] of slots.entries()) s.worker(`w${i}`, { slots: each });
          const twin = world(strategy, tasks);
          twin.worker('one', { slots: slots.reduce((sum, each) => sum + each, 0) });
          const started = plan(s, count, how).map((each) => each.replace(/ > .*/, ''));
          expect(started).toEqual(twin.claim(count, 'one'));
          for (const { running, spec } of s.core.state.workers.values()) {
            expect(running).toBeLessThanOrEqual(spec.slots);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('C14 keeps workers of the same size within one of each other, from plan to plan', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom(5, 9, Infinity),
        balance,
        (counts, workers, slots, how) => {
          const s = sim();
          for (let i = 0; i < workers; i += 1) s.worker(`w${i}`, { slots });
          for (let i = 0; i < 40; i += 1) s.add(`t${i}`);
          for (const count of counts) {
            plan(s, count, how);
            expect(Math.max(...loads(s)) - Math.min(...loads(s))).toBeLessThanOrEqual(1);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
