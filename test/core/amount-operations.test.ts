import { describe, expect, test } from 'vitest';
import { STRATEGY_NAMES, type StrategyName } from '../../src/ready/index.js';
import type { Sim, SimTaskOptions } from '../../src/testing/index.js';
import { beyond, counted, type Law } from '../counting.js';

const { operations, sim } = counted();

const SIZES = [1_000, 10_000, 100_000];

const id = (i: number): string => `t${String(i).padStart(7, '0')}`;

/** Levels and channels in no particular order, and hardly two that need the same. */
function varied(i: number, from: number, to: number): SimTaskOptions {
  const amount = from + ((to - from) * ((i * 7_919) % 10_007)) / 10_007;
  return {
    priority: (i * 31) % 5,
    channel: `c${String((i * 7_919) % 10)}`,
    needs: { cpu: amount },
  };
}

/** A world of which 50 of 100 units are held, with one task added for each that ends. */
class Turnover {
  // Whoever does not fit is passed over at every claim, which is counted, and never gets a reservation.
  readonly s: Sim = sim({ check: false, retain: { count: 100, ageMs: Infinity }, maxBypasses: Infinity });
  private added = 0;

  constructor() {
    this.s.send({ kind: 'setCapacity', resource: 'cpu', units: 100 });
    this.s.add('holder', { needs: { cpu: 50 } });
    this.s.claim();
  }

  add(count: number, from: number, to: number): void {
    for (let i = 0; i < count; i += 1) this.s.add(id((this.added += 1)), varied(this.added, from, to));
  }

  costs(rounds: number): Costs {
    this.run(120);
    return this.run(rounds);
  }

  private run(rounds: number): Costs {
    const sums = { add: 0, claim: 0, settle: 0 };
    for (let i = 0; i < rounds; i += 1) {
      let claimed: string | undefined;
      sums.claim += operations(() => {
        [claimed] = this.s.claim();
      });
      const { amount } = this.s.task(claimed as string).spec.needs[0] as { amount: number };
      expect(amount).toBeLessThanOrEqual(50);
      sums.settle += operations(() => {
        this.s.complete(claimed as string);
      });
      sums.add += operations(() => {
        this.add(1, 1, 50);
      });
    }
    return { add: sums.add / rounds, claim: sums.claim / rounds, settle: sums.settle / rounds };
  }
}

interface Costs {
  readonly add: number;
  readonly claim: number;
  readonly settle: number;
}

class CostTable {
  private readonly costs = new Map<string, Costs>();

  constructor(private readonly worldOf: (size: number) => Turnover) {}

  expectGrowth(law: Law, strategy: StrategyName, kind: keyof Costs): void {
    if (this.costs.size === 0) {
      for (const size of SIZES) {
        const turnover = this.worldOf(size);
        for (const each of STRATEGY_NAMES) {
          turnover.s.send({ kind: 'setStrategy', strategy: each });
          this.costs.set(`${each} ${String(size)}`, turnover.costs(300));
        }
      }
    }
    expect(beyond(law, SIZES, (size) => (this.costs.get(`${strategy} ${String(size)}`) as Costs)[kind])).toEqual([]);
  }
}

describe('with n tasks that hardly ever need the same amount', () => {
  const table = new CostTable((size) => {
    const turnover = new Turnover();
    turnover.add(size, 1, 50);
    return turnover;
  });

  test.each(STRATEGY_NAMES)('C7.3 D8.2 adding one and claiming one cost O(log n) under %s', (strategy) => {
    table.expectGrowth('logarithmic', strategy, 'add');
    table.expectGrowth('logarithmic', strategy, 'claim');
    table.expectGrowth('logarithmic', strategy, 'settle');
  });
});

describe('with n tasks that do not fit, of 10,000 different amounts, and a few of the same shape that do', () => {
  const table = new CostTable((size) => {
    const turnover = new Turnover();
    turnover.add(size, 51, 100);
    turnover.add(100, 1, 50);
    return turnover;
  });

  test.each(STRATEGY_NAMES)(
    'C7.2 C7.3 D8.2 a claim, and finding whom it passes over, costs O(log n) under %s',
    (strategy) => {
      table.expectGrowth('logarithmic', strategy, 'claim');
    },
  );
});

describe('with n tasks that wait for tokens', () => {
  const costs = new Map<string, number>();

  function measure(waiting: number): void {
    let size = waiting;
    let least = 51;
    const s = sim({ check: false });
    s.send({ kind: 'setRate', scope: 'resource', key: 'cpu', rate: { rate: 1, perMs: 1_000, burst: 100 } });
    s.add('holder', { needs: { cpu: 100 } });
    expect(s.claim()).toEqual(['holder']);
    for (let i = 0; i < size; i += 1) s.add(id(i), { ...varied(i, 51, 100), channel: 'c' });
    for (const strategy of STRATEGY_NAMES) {
      s.send({ kind: 'setStrategy', strategy });
      let cost = 0;
      // The smallest amount is that of another task each time: how deep one of them lies is chance.
      for (let i = 0; i < 60; i += 1) {
        s.add(id((size += 1)), { needs: { cpu: (least -= 0.01) }, priority: i % 5, channel: 'c' });
        expect(s.claim()).toEqual([]);
        let wake = 0;
        cost += operations(() => {
          s.claim();
          wake = s.core.nextWakeAt().mono;
        });
        expect(wake).toBe(Math.ceil(least * 1_000 - 1e-6));
      }
      costs.set(`${strategy} ${String(waiting)}`, cost);
    }
  }

  test.each(STRATEGY_NAMES)('C6.3 a refused claim and the next moment cost O(log n) under %s', (strategy) => {
    if (costs.size === 0) for (const size of SIZES) measure(size);
    const [least, , most] = SIZES.map((size) => costs.get(`${strategy} ${String(size)}`) as number);
    // The way down to one node of a tree varies by chance about its logarithm; a hundred times as many wait.
    expect((most as number) / (least as number)).toBeLessThan(3);
  });
});

describe('with channels of which each has tasks that fit and tasks that do not', () => {
  const CHANNELS = [10, 100, 1_000];

  /** What a claim costs by weighted random, where so many channels have one task of each kind. */
  function claimCost(channels: number, larger: number): number {
    const s = sim({ check: false, strategy: 'weighted-random', maxBypasses: Infinity });
    s.send({ kind: 'setCapacity', resource: 'cpu', units: 100 });
    s.add('holder', { needs: { cpu: 50 } });
    s.claim();
    for (let i = 0; i < channels; i += 1) {
      for (const [kind, cpu] of [
        ['small', 1 + i / channels],
        ['large', larger + i / channels],
      ] as const) {
        s.add(`${kind}-${String(i)}`, { channel: `c${String(i)}`, needs: { cpu } });
      }
    }
    s.claim();
    return operations(() => {
      expect(s.claim()).toHaveLength(1);
    });
  }

  test('C7.3 D8.2 by weighted random a claim asks each of these channels, and no others', () => {
    const [ten, , thousand] = CHANNELS.map((channels) => claimCost(channels, 60));
    expect((thousand as number) / (ten as number)).toBeLessThan(100);
    // Where all that a channel has fits, it is taken as it is.
    expect(beyond('logarithmic', CHANNELS, (channels) => claimCost(channels, 3))).toEqual([]);
  });
});
