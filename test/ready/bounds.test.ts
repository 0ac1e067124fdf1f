import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareFifo } from '../../src/model/index.js';
import { STRATEGY_NAMES, type Aging } from '../../src/ready/index.js';
import { SIM_START, sim, type Sim } from '../../src/testing/index.js';
import { eligible, events, play, type Waiting } from './history.js';

const every = fc.integer({ min: 1, max: 60 });
const maxWait = fc.integer({ min: 1, max: 300 });

/** Each run is long: it lets up to 150 things happen. */
const RUNS = { numRuns: 40 };

function aging(given: Partial<Aging>): Aging {
  return { everyMs: Infinity, maxBoost: Infinity, maxWaitMs: Infinity, ...given };
}

/** Shows `check` each start as a pair with every other task that waited. */
function playPairs(s: Sim, happenings: Parameters<typeof play>[1], check: (y: Waiting, x: Waiting) => void): void {
  play(s, happenings, (started, waiting) => {
    const y = waiting.find(({ task }) => task.id === started) as Waiting;
    for (const x of waiting) if (x !== y) check(y, x);
  });
  expect(s.core.state.pending).toBe(0);
}

describe('bounds on waiting', () => {
  test('G11 C9.3 fifo: nobody is overtaken', () => {
    fc.assert(
      fc.property(events, every, (happenings, everyMs) => {
        const s = sim({ strategy: 'fifo', aging: aging({ everyMs }) });
        playPairs(s, happenings, (y, x) => {
          expect(compareFifo(y.task, x.task)).toBeLessThan(0);
        });
      }),
      RUNS,
    );
  });

  test('G11 C9.3 critical-path: nobody starts before an equally eligible task by more than the bound of priority', () => {
    fc.assert(
      fc.property(events, every, (happenings, everyMs) => {
        const s = sim({ strategy: 'critical-path', aging: aging({ everyMs }) });
        playPairs(s, happenings, (y, x) => {
          expect(y.ready).toBeLessThan(x.ready + (x.urgency - y.urgency + 1) * everyMs);
        });
      }),
      RUNS,
    );
  });

  test('G11 C9.3 deadline: a task without a deadline counts as due when it has waited for maxWait', () => {
    fc.assert(
      fc.property(events, maxWait, (happenings, maxWaitMs) => {
        const s = sim({ strategy: 'deadline', aging: aging({ everyMs: 10, maxWaitMs }) });
        const waited = ({ ready }: Waiting): number => ready + maxWaitMs;
        const due = (each: Waiting): number =>
          each.task.deadline === Infinity ? waited(each) : each.task.deadline - SIM_START;
        playPairs(s, happenings, (y, x) => {
          const now = s.now.mono;
          if (waited(x) <= now) expect(y.ready).toBeLessThanOrEqual(x.ready);
          else if (waited(y) > now) expect(due(y)).toBeLessThanOrEqual(due(x));
        });
      }),
      RUNS,
    );
  });

  test('G11 C9.3 deadline: without maxWait only an earlier deadline goes before a deadline', () => {
    fc.assert(
      fc.property(events, every, (happenings, everyMs) => {
        const s = sim({ strategy: 'deadline', aging: aging({ everyMs }) });
        playPairs(s, happenings, (y, x) => {
          expect(y.task.deadline).toBeLessThanOrEqual(x.task.deadline);
        });
      }),
      RUNS,
    );
  });

  test.each(STRATEGY_NAMES)('G11 C9.3 %s: from maxWait on only those that were ready before go first', (strategy) => {
    fc.assert(
      fc.property(
        events,
        every,
        fc.constantFrom(0, 2, Infinity),
        maxWait,
        (happenings, everyMs, maxBoost, maxWaitMs) => {
          const s = sim({ strategy, aging: { everyMs, maxBoost, maxWaitMs } });
          playPairs(s, happenings, (y, x) => {
            if (s.now.mono - x.ready >= maxWaitMs) expect(y.ready).toBeLessThanOrEqual(x.ready);
          });
        },
      ),
      RUNS,
    );
  });

  test.each([
    ['lifo', aging({ everyMs: 10 }), {}],
    ['deadline', aging({ everyMs: 10 }), { deadline: SIM_START + 1e9 }],
    ['priority', aging({ everyMs: 10, maxBoost: 3 }), { priority: 0 }],
    ['critical-path', aging({ everyMs: 10, maxBoost: 3 }), { priority: 0 }],
    ['fair', aging({ everyMs: 10, maxBoost: 1 }), { priority: 0 }],
  ] as const)('G11 C9.3 %s: where no bound is promised, there is none', (strategy, given, others) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), (starts) => {
        const s = sim({ strategy, aging: given, check: false });
        s.add('patient', { priority: 4 });
        for (let i = 0; i < starts; i += 1) {
          s.advance(10);
          s.add(`t${String(i)}`, others);
          expect(s.claim()).toEqual([`t${String(i)}`]);
          s.complete(`t${String(i)}`);
        }
        expect(s.drain()).toEqual(['patient']);
      }),
      { numRuns: 20 },
    );
  });

  test('G11 C9.3 weighted-random: a task waits for sum of weights / its weight draws on average, and for any number at worst', () => {
    fc.assert(
      fc.property(fc.constantFrom(2, 4, 8), fc.integer({ min: 1, max: 6 }), (level, others) => {
        let sum = 0;
        let longest = 0;
        const runs = 800;
        for (let seed = 0; seed < runs; seed += 1) {
          const s = sim({ strategy: 'weighted-random', seed, check: false });
          s.add('patient', { priority: level });
          for (let i = 0; i < others; i += 1) s.add(`t${String(i)}`, { priority: 1 });
          let draws = 1;
          for (let [id] = s.claim(); id !== 'patient'; [id] = s.claim()) {
            s.add(`u${String(draws)}`, { priority: 1 });
            draws += 1;
          }
          sum += draws;
          longest = Math.max(longest, draws);
        }
        const expected = others * level + 1;
        // The mean of so many geometric waits is normal, with a deviation of about expected / sqrt(runs).
        expect(Math.abs(sum / runs - expected)).toBeLessThan((4 * expected) / Math.sqrt(runs));
        expect(longest).toBeGreaterThan(2 * expected);
      }),
      { numRuns: 4 },
    );
  });
});

/** Since when each level ages, told from the facts alone: its last start, or its becoming non-empty. */
class Levels {
  private readonly startedAt = new Map<number, number>();
  private filledAt = new Map<number, number>();
  private read = 0;

  constructor(private readonly s: Sim) {}

  look(): void {
    const { facts, now } = this.s;
    const readyAt = new Map<string, number>();
    for (; this.read < facts.length; this.read += 1) {
      const fact = facts[this.read] as (typeof facts)[number];
      if (fact.kind === 'task.ready') readyAt.set(fact.task, fact.mono);
    }
    const filled = new Map<number, number>();
    for (const task of eligible(this.s)) {
      const since = this.filledAt.get(task.urgency) ?? readyAt.get(task.id) ?? now.mono;
      filled.set(task.urgency, Math.min(since, filled.get(task.urgency) ?? Infinity));
    }
    this.filledAt = filled;
  }

  started(level: number): void {
    this.startedAt.set(level, this.s.now.mono);
  }

  agesFrom(level: number): number {
    return Math.max(this.startedAt.get(level) ?? 0, this.filledAt.get(level) ?? 0);
  }
}

/** A channel's wait at one level: how often it was passed over by whom, and who has waited beside it all the time. */
interface Stretch {
  readonly passedBy: Map<string, number>;
  /** Empty unless it began with a start of the channel itself. */
  beside: Set<string>;
}

/** Counts how often a channel with work waiting is passed over, at each level. */
class Referee {
  private readonly stretches = new Map<string, Stretch>();

  constructor(private readonly s: Sim) {}

  started(y: Waiting, waiting: readonly Waiting[]): void {
    const name = y.task.spec.channel;
    const here = waiting.filter((x) => x.urgency === y.urgency).map((x) => x.task.spec.channel);
    for (const channel of new Set(here)) {
      const stretch = this.stretches.get(`${String(y.urgency)} ${channel}`);
      if (channel === name || stretch === undefined) continue;
      const turns = (stretch.passedBy.get(name) ?? 0) + 1;
      stretch.passedBy.set(name, turns);
      expect(turns, `${channel} passed over by ${name}`).toBeLessThanOrEqual(stretch.beside.has(name) ? 1 : 2);
    }
    this.stretches.set(`${String(y.urgency)} ${name}`, { passedBy: new Map(), beside: new Set(here) });
  }

  look(): void {
    const channels = new Map<number, Set<string>>();
    for (const { urgency, spec } of eligible(this.s)) {
      channels.set(urgency, (channels.get(urgency) ?? new Set()).add(spec.channel));
    }
    for (const [key, stretch] of this.stretches) {
      const [level = '', name = ''] = key.split(' ');
      const here = channels.get(Number(level));
      if (here?.has(name) !== true) this.stretches.delete(key);
      else stretch.beside = new Set([...stretch.beside].filter((other) => here.has(other)));
    }
    for (const [level, here] of channels) {
      for (const name of here) {
        const key = `${String(level)} ${name}`;
        if (!this.stretches.has(key)) this.stretches.set(key, { passedBy: new Map(), beside: new Set() });
      }
    }
  }
}

describe('bounds on waiting under fair', () => {
  test('G11 C9.3 fair: no level starts before another with work by more than the bound', () => {
    fc.assert(
      fc.property(events, every, (happenings, everyMs) => {
        const s = sim({ strategy: 'fair', aging: aging({ everyMs }) });
        const levels = new Levels(s);
        play(
          s,
          happenings,
          (started, waiting) => {
            const { urgency: y } = waiting.find(({ task }) => task.id === started) as Waiting;
            for (const { urgency: x } of waiting) {
              expect(levels.agesFrom(y)).toBeLessThan(levels.agesFrom(x) + (x - y + 1) * everyMs);
            }
            levels.started(y);
          },
          () => {
            levels.look();
          },
        );
      }),
      RUNS,
    );
  });

  test('G11 G12 C9.3 fair: those that wait beside a channel since its last start pass it once, all others twice', () => {
    fc.assert(
      fc.property(events, every, (happenings, everyMs) => {
        const s = sim({ strategy: 'fair', aging: aging({ everyMs }) });
        // Few levels, so that channels meet.
        const flat = happenings.map((each) =>
          'level' in each ? { ...each, level: Math.floor(each.level / 4) } : each,
        );
        const referee = new Referee(s);
        play(
          s,
          flat,
          (started, waiting) => {
            referee.started(waiting.find(({ task }) => task.id === started) as Waiting, waiting);
          },
          () => {
            referee.look();
          },
        );
      }),
      RUNS,
    );
  });

  test('G12 C9.3 fair: a channel that joins between the turns of two others may pass one of them twice', () => {
    const s = sim({ strategy: 'fair' });
    for (const name of ['c', 'd']) for (let i = 0; i < 3; i += 1) s.add(`${name}${String(i)}`, { channel: name });
    expect(s.claim()).toEqual(['c0']);
    for (let i = 0; i < 3; i += 1) s.add(`a${String(i)}`, { channel: 'a' });
    expect(s.drain()).toEqual(['a0', 'd0', 'a1', 'c1', 'd1', 'a2', 'c2', 'd2']);
  });
});
