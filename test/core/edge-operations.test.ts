import { describe, expect, test } from 'vitest';
import { STRATEGY_NAMES } from '../../src/ready/index.js';
import type { Sim, SimTaskOptions } from '../../src/testing/index.js';
import { beyond, counted, type Law } from '../counting.js';

const { operations, sim } = counted();

const SIZES = [500, 2_000, 8_000];

function expectGrowth(law: Law, costOf: (size: number) => number, sizes: readonly number[] = SIZES): void {
  expect(beyond(law, sizes, costOf)).toEqual([]);
}

/** All of one length, so that no part of a cost is that of a longer name. */
const id = (i: number): string => `t${String(i).padStart(7, '0')}`;

/** Tasks 0 to n - 1, each after those that `after` names. */
function graph(size: number, after: (i: number) => readonly number[], options: SimTaskOptions = {}): Sim {
  const s = sim({ check: false, retain: { count: 100, ageMs: Infinity } });
  for (let i = 0; i < size; i += 1) s.add(id(i), { ...options, after: after(i).map(id) });
  // The first edge against the order makes room for all searches to come.
  for (const name of ['x', 'y']) s.add(name, options);
  linking(s, 1, () => ['y', 'x']);
  linking(s, 1, () => [id(size - 1), 'x']);
  return s;
}

const chain = (i: number): readonly number[] => (i === 0 ? [] : [i - 1]);
/** Chains of twenty, each apart from all others. */
const shortChains = (i: number): readonly number[] => (i % 20 === 0 ? [] : [i - 1]);
const fanOut = (i: number): readonly number[] => (i === 0 ? [] : [0]);
/** Up to three of the forty before it, in no particular order; one in fifty waits for nobody. */
const random = (i: number): readonly number[] => {
  if (i % 50 === 0) return [];
  const near = [7_919, 104_729, 15_485_863].map((prime) => i - 1 - ((i * prime) % Math.min(i, 40)));
  return [...new Set(near)];
};

/** What it costs to finish so many tasks, one after the other, each on average. */
function finishing(s: Sim, count: number): number {
  let cost = 0;
  for (let i = 0; i < count; i += 1) {
    const [name = ''] = s.claim();
    cost += operations(() => {
      s.complete(name);
    });
  }
  return cost / count;
}

/** What it costs to let a task wait for one more, and for one less again. */
function linking(s: Sim, count: number, pair: (i: number) => readonly [task: string, dependency: string]): number {
  const cost = operations(() => {
    for (let i = 0; i < count; i += 1) {
      const [task, dependency] = pair(i);
      s.send({ kind: 'addDependency', task, dependency, onFailure: 'fail' });
      s.send({ kind: 'removeDependency', task, dependency });
    }
  });
  return cost / count;
}

function settingPriority(s: Sim, task: string, levels: readonly number[]): number {
  return operations(() => {
    for (const level of levels) s.send({ kind: 'setPriority', task, level });
  });
}

describe('finishing a task', () => {
  test('C2.3 costs the same in a chain of any length', () => {
    expectGrowth('constant', (size) => finishing(graph(size, chain), 200));
  });

  test('C2.3 costs the same in a random graph of any size', () => {
    expectGrowth('constant', (size) => finishing(graph(size, random), 200));
  });

  test('C2.3 costs the same however many others its dependant waits for', () => {
    expectGrowth('constant', (size) => {
      const s = graph(size, () => []);
      s.add('sink', { after: Array.from({ length: size }, (_, i) => id(i)) });
      return finishing(s, 200);
    });
  });

  test('C2.3 costs O(log n) for each of n dependants', () => {
    expectGrowth('logarithmic', (size) => finishing(graph(size, fanOut), 1) / size);
  });
});

describe('adding and removing an edge', () => {
  test('C2.3 costs the same in a graph of any size', () => {
    for (const shape of [chain, shortChains, fanOut, random]) {
      expectGrowth('constant', (size) => {
        const s = graph(size, shape);
        return (
          // Between others, behind a task of the graph, in the middle of it, and before its last one.
          linking(s, 50, () => ['y', 'x']) +
          linking(s, 50, (i) => ['x', id(i + 1)]) +
          linking(s, 40, (i) => [id(i + 400), id(i + 1)]) +
          linking(s, 1, () => [id(size - 1), 'x'])
        );
      });
    }
  });

  test('C2.3 against the order of submission it costs as much as lies behind the dependant', () => {
    expectGrowth('constant', (size) => {
      const s = graph(size, shortChains);
      return linking(s, 20, (i) => [id(20 * i), 'x']);
    });
  });

  test('C2.3 costs the same at a task with any number of edges', () => {
    expectGrowth('constant', (size) => {
      const s = graph(size, fanOut, { priority: 1 });
      s.add('sink', { after: Array.from({ length: size - 1 }, (_, i) => id(i + 1)), priority: 1 });
      return linking(s, 50, () => ['x', id(0)]) + linking(s, 50, () => ['sink', 'x']);
    });
  });

  test('C2.3 costs the same at a task that inherits from any number of others', () => {
    expectGrowth('constant', (size) => {
      const s = graph(size, (i) => (i === 0 ? [] : [0]));
      s.send({ kind: 'setPriority', task: id(0), level: 4 });
      expect(s.task(id(0)).urgency).toBe(2);
      const again = linking(s, 50, () => ['x', id(0)]);
      const back = operations(() => {
        for (let i = 1; i <= 50; i += 1) s.cancel(id(i));
      });
      return again + back / 50;
    });
  });
});

describe('a change of level', () => {
  test.each(STRATEGY_NAMES)('C5.4 costs O(log n) with n tasks ready under %s', (strategy) => {
    expectGrowth('logarithmic', (size) => {
      const s = graph(size, () => []);
      s.send({ kind: 'setStrategy', strategy });
      s.claim();
      const rounds = size / 20;
      const cost = operations(() => {
        for (let i = 0; i < rounds; i += 1) {
          s.send({ kind: 'setPriority', task: id(1 + ((i * 7_919) % (size - 1))), level: i % 5 });
        }
      });
      return cost / rounds;
    });
  });

  test('C5.4 costs O(log n) for each task that inherits it', () => {
    expectGrowth('logarithmic', (size) => settingPriority(graph(size, chain), id(size - 1), [0, 3]) / size);
    expectGrowth('logarithmic', (size) => {
      const s = graph(size, () => []);
      s.add('sink', { after: Array.from({ length: size }, (_, i) => id(i)) });
      return settingPriority(s, 'sink', [0, 3]) / size;
    });
  });

  test('C5.4 costs O(log n) for what n others of different levels and deadlines wait for', () => {
    expectGrowth('logarithmic', (size) => {
      const s = graph(1, () => []);
      for (let i = 1; i <= size; i += 1) s.add(id(i), { after: [id(0)], priority: i / size, deadline: 4e12 + i });
      // The first to go has all that wait be put in order.
      s.cancel(id(1));
      const gone = operations(() => {
        for (let i = 2; i <= 101; i += 1) s.cancel(id(i));
      });
      return gone / 100 + settingPriority(s, id(size), [-1, 9, -1, 9]);
    });
  });

  test('C5.4 costs nothing for tasks whose level it leaves as it is', () => {
    // Ten of a chain of any length inherit the level; the eleventh has a more urgent dependant already.
    expectGrowth('constant', (size) => {
      const s = graph(size, chain);
      s.add('urgent', { after: [id(size - 11)], priority: 0 });
      return settingPriority(s, id(size - 1), [1, 3, 0, 4]);
    });
    // What many others of the same level wait for keeps that level.
    expectGrowth('constant', (size) => {
      const s = graph(size, fanOut, { priority: 1 });
      s.send({ kind: 'setPriority', task: id(0), level: 4 });
      return settingPriority(s, id(7), [3, 1]) + settingPriority(s, id(size - 1), [3, 1]);
    });
  });
});
