import { describe, expect, test } from 'vitest';
import { STRATEGY_NAMES, type StrategyName } from '../../src/ready/index.js';
import type { Sim, SimOptions, SimTaskOptions } from '../../src/testing/index.js';
import { beyond, counted, type Law } from '../counting.js';

const { operations, sim, Scheduler } = counted();

const SIZES = [1_000, 10_000, 100_000];
/** Where all that waits is gone through, less of it waits. */
const FEWER = [500, 4_000, 32_000];
const CHANNELS = [100, 1_000, 10_000];

function expectGrowth(law: Law, costOf: (size: number) => number, sizes: readonly number[] = SIZES): void {
  expect(beyond(law, sizes, costOf)).toEqual([]);
}

/** A simulation that keeps few finished tasks, so that forgetting them is part of what every end costs. */
function world(options: SimOptions = {}): Sim {
  return sim({ check: false, retain: { count: 100, ageMs: Infinity }, ...options });
}

/** All of one length, so that no part of a cost is that of a longer name. */
const id = (i: number): string => `t${String(i).padStart(7, '0')}`;

/** Levels, deadlines and channels in no particular order. */
function varied(i: number, channels = 10): SimTaskOptions {
  // So many that they do not run out while claims are counted, however few wait.
  const due = i % 3 === 0 ? { deadline: 4e12 + ((i * 7_919) % 10_007) } : {};
  return { priority: (i * 31) % 5, channel: `c${String((i * 7_919) % channels).padStart(5, '0')}`, ...due };
}

interface Costs {
  readonly add: number;
  readonly claim: number;
  readonly settle: number;
}

/** A queue in which one task is added for each that ends, so that as many wait all the time. */
class Turnover {
  private added = 0;

  constructor(
    readonly s: Sim,
    private readonly options: (i: number) => SimTaskOptions,
    waiting: number,
  ) {
    for (let i = 0; i < waiting; i += 1) this.add();
  }

  /** What adding, claiming and settling cost, each on average, once what comes only at first is paid for. */
  costs(rounds: number): Costs {
    this.run(120);
    return this.run(rounds);
  }

  private run(rounds: number): Costs {
    const sums = { add: 0, claim: 0, settle: 0 };
    for (let i = 0; i < rounds; i += 1) {
      let claimed = '';
      sums.claim += operations(() => {
        [claimed = ''] = this.s.claim();
      });
      sums.settle += operations(() => {
        this.s.complete(claimed);
      });
      sums.add += operations(() => {
        this.add();
      });
    }
    return { add: sums.add / rounds, claim: sums.claim / rounds, settle: sums.settle / rounds };
  }

  private add(): void {
    this.s.add(id(this.added), this.options(this.added));
    this.added += 1;
  }
}

/** What each strategy costs at each size. Strategies follow each other in one world: building it takes the time. */
class CostTable {
  private readonly costs = new Map<string, Costs>();

  constructor(
    private readonly sizes: readonly number[],
    private readonly worldOf: (size: number) => Turnover,
  ) {}

  private measure(): void {
    for (const size of this.sizes) {
      const turnover = this.worldOf(size);
      for (const strategy of STRATEGY_NAMES) {
        turnover.s.send({ kind: 'setStrategy', strategy });
        this.costs.set(`${strategy} ${String(size)}`, turnover.costs(Math.max(200, size / 100)));
      }
    }
  }

  expectGrowth(law: Law, strategy: StrategyName, kind: keyof Costs): void {
    if (this.costs.size === 0) this.measure();
    expectGrowth(law, (size) => (this.costs.get(`${strategy} ${String(size)}`) as Costs)[kind], this.sizes);
  }
}

describe('with n tasks waiting', () => {
  const worlds = new Map<number, Turnover>();
  const table = new CostTable(SIZES, (size) => {
    const turnover = new Turnover(world(), varied, size);
    worlds.set(size, turnover);
    return turnover;
  });

  test.each(STRATEGY_NAMES)('B1.2 adding one costs O(log n) under %s', (strategy) => {
    table.expectGrowth('logarithmic', strategy, 'add');
  });

  test.each(STRATEGY_NAMES)('D8.2 a claim costs O(log n) under %s', (strategy) => {
    table.expectGrowth('logarithmic', strategy, 'claim');
  });

  test.each(STRATEGY_NAMES)('C2.3 finishing one costs the same however many wait under %s', (strategy) => {
    table.expectGrowth('constant', strategy, 'settle');
  });

  test.each(['drop-oldest', 'drop-lowest'] as const)(
    'C8.1 with the bound reached, %s finds whom to drop in O(log n)',
    (whenFull) => {
      expectGrowth('logarithmic', (size) => {
        const s = world({ pressure: { maxPending: size, whenFull, lowWater: 0 } });
        // In no particular order of urgency, and with many that have moved meanwhile.
        for (let i = 0; i < size; i += 1) s.add(id(i), { ...varied(i), priority: 10 + ((i * 7_919) % 1_009) });
        for (let i = 0; i < 100; i += 1) s.send({ kind: 'setPriority', task: id(i), level: 10 + ((i * 31) % 1_009) });
        const rounds = 400;
        let cost = 0;
        for (let i = 0; i < rounds; i += 1) {
          cost += operations(() => {
            s.add(`n${id(i)}`, { priority: 1 });
          });
        }
        expect(s.core.state.unstarted).toBe(size);
        return cost / rounds;
      });
    },
  );

  test('B1.2 a batch costs O(log n) for each of its tasks', () => {
    const costOf = (s: Sim, batch: number): number => {
      const tasks = Object.fromEntries(Array.from({ length: batch }, (_, i) => [`b${id(i)}`, varied(i)]));
      const cost = operations(() => {
        s.addAll(tasks);
      });
      return cost / batch;
    };
    expectGrowth('logarithmic', (waiting) => costOf((worlds.get(waiting) as Turnover).s, 1_000));
    expectGrowth('logarithmic', (batch) => costOf(world(), batch), FEWER);
  });

  test.each(STRATEGY_NAMES)('B1.2 taking tasks back by id costs O(log n) each under %s', (strategy) => {
    const costOf = (size: number): number => {
      const { s } = new Turnover(world({ strategy }), varied, size);
      const cost = operations(() => {
        // No size is a multiple of this prime, so it comes by every task once.
        for (let i = 0; i < size; i += 1) s.cancel(id((i * 7_919) % size));
      });
      return cost / size;
    };
    expectGrowth('logarithmic', costOf, [500, 2_000, 8_000]);
  });

  test('B1.2 asking for a state or the size costs O(1)', async () => {
    const costs: number[] = [];
    for (const [size, { s }] of worlds) {
      const scheduler = new Scheduler({ concurrency: 1 });
      const handles = Array.from({ length: size / 10 }, () => scheduler.add(() => undefined));
      const last = handles.at(-1);
      costs.push(
        operations(() => {
          s.state(`b${id(999)}`);
          expect(last?.state).toBe('ready');
          expect(scheduler.size).toBe(size / 10);
        }),
      );
      await scheduler.close();
    }
    expect(costs[0]).toBeLessThan(20);
    expect(new Set(costs)).toEqual(new Set([costs[0]]));
  });
});

describe('with many levels', () => {
  const table = new CostTable([500, 2_000, 8_000], (size) => {
    // So many windows that there are nearly as many pairs of level and window as tasks.
    const s = world({ aging: { everyMs: 10, maxBoost: Infinity, maxWaitMs: 1e9 } });
    return new Turnover(
      s,
      (i) => {
        if (i % 10 === 0) s.advance(5);
        return { priority: (i * 7_919) % size };
      },
      size,
    );
  });

  test.each(STRATEGY_NAMES)('D8.2 a claim costs O(log n) when no two tasks are of one level under %s', (strategy) => {
    table.expectGrowth('logarithmic', strategy, 'claim');
  });
});

describe('with n channels', () => {
  const plain = new CostTable(CHANNELS, (channels) => new Turnover(world(), (i) => varied(i, channels), 12_000));
  const limited = new CostTable(CHANNELS, (channels) => {
    const s = world();
    s.send({ kind: 'setLimit', scope: 'channel', key: '*', limit: 1 });
    return new Turnover(s, (i) => varied(i, channels), 12_000);
  });
  const full = new CostTable(CHANNELS, (channels) => {
    const s = world();
    s.send({ kind: 'setLimit', scope: 'channel', key: '*', limit: 1 });
    s.send({ kind: 'setLimit', scope: 'channel', key: 'open', limit: 9 });
    for (let i = 0; i < 2 * channels; i += 1) s.add(`f${id(i)}`, { channel: `f${id(i % channels)}` });
    expect(s.claim(2 * channels)).toHaveLength(channels);
    return new Turnover(s, () => ({ channel: 'open' }), 100);
  });

  test.each(STRATEGY_NAMES)('D8.2 a claim costs O(log n) under %s', (strategy) => {
    plain.expectGrowth('logarithmic', strategy, 'claim');
  });

  test.each(STRATEGY_NAMES)('D8.2 a claim costs O(log n) when channels have limits under %s', (strategy) => {
    limited.expectGrowth('logarithmic', strategy, 'claim');
    limited.expectGrowth('logarithmic', strategy, 'settle');
  });

  test.each(STRATEGY_NAMES)('D8.2 a claim costs O(log n) when all but one are at their limit under %s', (strategy) => {
    full.expectGrowth('logarithmic', strategy, 'claim');
  });
});

describe('with n tasks that cannot start', () => {
  const table = new CostTable(SIZES, (blocked) => {
    const s = world();
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    s.add('holder', { needs: { gpu: 1 } });
    s.claim();
    for (let i = 0; i < blocked; i += 1) s.add(`b${id(i)}`, { ...varied(i), needs: { gpu: 1 } });
    return new Turnover(s, varied, 100);
  });

  test.each(STRATEGY_NAMES)('D8.2 tasks blocked on a full resource cost a claim nothing under %s', (strategy) => {
    table.expectGrowth('constant', strategy, 'claim');
  });
});

describe('with tasks that each lack a resource of their own', () => {
  /** What a claim costs beside so many locks, each of which one holds and another waits for. */
  function claimBeside(locks: number, strategy: StrategyName): number {
    const s = world({ strategy });
    for (let i = 0; i < locks; i += 1) {
      const lock = `lock${String(i)}`;
      s.send({ kind: 'setCapacity', resource: lock, units: 1 });
      s.add(`holder${id(i)}`, { needs: { [lock]: 1 } });
      s.claim();
      s.add(`waiting${id(i)}`, { needs: { [lock]: 1 } });
    }
    return new Turnover(s, varied, 100).costs(200).claim;
  }

  test.each(STRATEGY_NAMES)(
    'D8.2 a claim under %s looks at every shape, but at no more of it than that it is full',
    (strategy) => {
      const [some, more] = [50, 150].map((locks) => claimBeside(locks, strategy));
      expect(((more as number) - (some as number)) / 100).toBeLessThan(strategy === 'fair' ? 30 : 18);
    },
  );
});
