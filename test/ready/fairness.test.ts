import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { STRATEGY_NAMES, type StrategyName } from '../../src/ready/index.js';
import { sim, type Sim } from '../../src/testing/index.js';

const CHANNELS = ['a', 'b', 'c', 'd'] as const;
const channel = fc.constantFrom(...CHANNELS);

/** What may happen to a queue in which channels take turns. */
type Step =
  | { readonly kind: 'add'; readonly channel: string; readonly level: number; readonly needs: boolean; count: number }
  | { readonly kind: 'claim'; readonly count: number }
  | { readonly kind: 'end'; readonly nth: number }
  | { readonly kind: 'cancel'; readonly nth: number }
  | { readonly kind: 'pause' | 'resume'; readonly channel: string }
  | { readonly kind: 'limit'; readonly channel: string; readonly limit: number }
  | { readonly kind: 'capacity'; readonly units: number }
  | { readonly kind: 'strategy'; readonly strategy: StrategyName }
  | { readonly kind: 'worker'; readonly strategy: StrategyName }
  | { readonly kind: 'wait'; readonly ms: number };

const nth = fc.nat(50);
const FLOW: readonly (readonly [number, fc.Arbitrary<Step>])[] = [
  [
    6,
    fc.record({
      kind: fc.constant('add' as const),
      channel,
      level: fc.nat(1),
      needs: fc.boolean(),
      count: fc.integer({ min: 1, max: 6 }),
    }),
  ],
  [8, fc.record({ kind: fc.constant('claim' as const), count: fc.integer({ min: 1, max: 5 }) })],
  [4, fc.record({ kind: fc.constant('end' as const), nth })],
  [1, fc.record({ kind: fc.constant('cancel' as const), nth })],
  [1, fc.record({ kind: fc.constantFrom('pause' as const, 'resume' as const), channel })],
  [1, fc.record({ kind: fc.constant('limit' as const), channel, limit: fc.constantFrom(0, 1, 3, Infinity) })],
  [2, fc.record({ kind: fc.constant('capacity' as const), units: fc.constantFrom(1, 4, 1_000) })],
];
const SWITCHES: typeof FLOW = [
  [2, fc.record({ kind: fc.constant('strategy' as const), strategy: fc.constantFrom(...STRATEGY_NAMES) })],
  [1, fc.record({ kind: fc.constant('worker' as const), strategy: fc.constantFrom(...STRATEGY_NAMES) })],
  [1, fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(30_000) })],
];

function steps(kinds: typeof FLOW): fc.Arbitrary<Step[]> {
  const each = fc.oneof(...kinds.map(([weight, arbitrary]) => ({ weight, arbitrary })));
  return fc.array(each, { maxLength: 120, size: 'max' });
}

/** Plays steps against a simulation, and tells of every single claim. */
class Player {
  readonly added: string[] = [];
  readonly claimed: string[] = [];
  private workers = 0;

  constructor(
    readonly s: Sim,
    private readonly onClaim: (id: string) => void = () => undefined,
    private readonly afterEach: () => void = () => undefined,
  ) {
    s.send({ kind: 'setCapacity', resource: 'r', units: 4 });
    s.worker('main', { leaseMs: Infinity });
  }

  play(step: Step): void {
    const { s } = this;
    switch (step.kind) {
      case 'add':
        for (let i = 0; i < step.count; i += 1) this.add(step.channel, step.level, step.needs);
        break;
      case 'claim':
        this.claim(step.count, 'main');
        break;
      case 'end':
        this.endNth(step.nth);
        break;
      case 'cancel': {
        const waiting = this.added.filter((id) => s.state(id) === 'ready');
        if (waiting.length > 0) s.cancel(waiting[step.nth % waiting.length] as string);
        break;
      }
      case 'pause':
        s.send({ kind: 'pauseChannel', channel: step.channel });
        break;
      case 'resume':
        s.send({ kind: 'resumeChannel', channel: step.channel });
        break;
      case 'limit':
        s.send({ kind: 'setLimit', scope: 'channel', key: step.channel, limit: step.limit });
        break;
      case 'capacity':
        s.send({ kind: 'setCapacity', resource: 'r', units: step.units });
        break;
      case 'strategy':
        s.send({ kind: 'setStrategy', strategy: step.strategy });
        break;
      case 'worker':
        this.workers += 1;
        s.worker(`w${String(this.workers % 2)}`, { strategy: step.strategy, leaseMs: Infinity });
        this.claim(2, `w${String(this.workers % 2)}`);
        break;
      case 'wait':
        s.advance(step.ms);
    }
    this.afterEach();
  }

  /** Opens everything and runs what is left, by the strategy in force. */
  finish(): void {
    for (const name of CHANNELS) {
      this.play({ kind: 'resume', channel: name });
      this.play({ kind: 'limit', channel: name, limit: Infinity });
    }
    this.play({ kind: 'capacity', units: 1_000 });
    for (const attempt of this.s.running()) this.s.complete(attempt);
  }

  claim(count: number, worker: string): void {
    for (let i = 0; i < count; i += 1) {
      const [id] = this.s.claim(1, worker);
      if (id === undefined) return;
      this.claimed.push(`${id}#${String(this.s.task(id).attempts)}`);
      this.onClaim(id);
    }
  }

  private add(name: string, level: number, needs: boolean): void {
    const id = `${name}${String(this.added.length)}`;
    this.added.push(id);
    this.s.add(id, { channel: name, priority: level, retry: 1_000, ...(needs ? { needs: { r: 1 } } : {}) });
    this.afterEach();
  }

  private endNth(position: number): void {
    const running = this.s.running();
    const attempt = running[position % Math.max(1, running.length)];
    if (attempt === undefined) return;
    if (position % 3 === 0) this.s.fail(attempt);
    else this.s.complete(attempt);
  }
}

/**
 * Turns over weight of every channel against every other, for as long as the other one could be served at that level
 * without a break: however the first one comes and goes, it may be ahead by a turn of each at the most.
 */
class Referee {
  private readonly ahead = new Map<string, { now: number; least: number }>();

  constructor(
    private readonly s: Sim,
    private readonly weights: Readonly<Record<string, number>>,
  ) {}

  served(id: string): void {
    const { urgency: level, spec } = this.s.task(id);
    for (const other of CHANNELS) {
      if (other === spec.channel) continue;
      this.move(level, spec.channel, other, 1 / this.weight(spec.channel));
      this.move(level, other, spec.channel, -1 / this.weight(spec.channel));
    }
    this.look();
  }

  /** Forgets the stretches of those that cannot be served now. */
  look(): void {
    const eligible = new Set<string>();
    const { places, table } = this.s.core.state;
    for (const task of table.all()) {
      if (task.state !== 'ready') continue;
      const place = places.at(task.place);
      if (!place.channel.paused && place.channel.isOpen() && place.shape.isOpen()) {
        eligible.add(`${String(task.urgency)} ${task.spec.channel}`);
      }
    }
    for (const key of this.ahead.keys()) {
      const [level = '', , waiting = ''] = key.split(' ');
      if (!eligible.has(`${level} ${waiting}`)) this.ahead.delete(key);
    }
    for (const each of eligible) {
      const [level = '', waiting = ''] = each.split(' ');
      for (const other of CHANNELS) {
        const key = `${level} ${other} ${waiting}`;
        if (other !== waiting && !this.ahead.has(key)) this.ahead.set(key, { now: 0, least: 0 });
      }
    }
  }

  private move(level: number, of: string, against: string, by: number): void {
    const stretch = this.ahead.get(`${String(level)} ${of} ${against}`);
    if (stretch === undefined) return;
    stretch.now += by;
    stretch.least = Math.min(stretch.least, stretch.now);
    const bound = 1 / this.weight(of) + 1 / this.weight(against);
    expect(stretch.now - stretch.least, `${of} ahead of ${against}`).toBeLessThanOrEqual(bound + 1e-9);
  }

  private weight(name: string): number {
    return this.weights[name] ?? 1;
  }
}

const weights = fc.record({
  a: fc.constantFrom(1, 2, 0.5, 10),
  b: fc.constantFrom(1, 3),
  c: fc.constantFrom(1, 0.1),
  d: fc.constant(1),
});

function fairPlay(given: Readonly<Record<string, number>>, moves: readonly Step[]): void {
  const s = sim({ strategy: 'fair', aging: { everyMs: Infinity, maxBoost: Infinity, maxWaitMs: Infinity } });
  for (const [name, weight] of Object.entries(given)) s.send({ kind: 'setWeight', channel: name, weight });
  const referee = new Referee(s, given);
  const player = new Player(
    s,
    (id) => {
      referee.served(id);
    },
    () => {
      referee.look();
    },
  );
  for (const move of moves) player.play(move);
  player.finish();
  player.claim(1_000, 'main');
}

describe('fairness', () => {
  test('G12 D12.1 with equal weights no channel gets ahead of one that could be served by more than a turn of each', () => {
    fc.assert(
      fc.property(steps(FLOW), (moves) => {
        fairPlay({ a: 1, b: 1, c: 1, d: 1 }, moves);
      }),
      { numRuns: 40 },
    );
  });

  test('G12 D12.1 with weights, turns divided by weight stay within a turn of each', () => {
    fc.assert(
      fc.property(weights, steps(FLOW), (given, moves) => {
        fairPlay(given, moves);
      }),
      { numRuns: 40 },
    );
  });

  test('G12 a channel that another kind of worker alone could serve does not let newcomers starve a backlog', () => {
    const s = sim({ strategy: 'fair' });
    s.add('z', { channel: 'z', capabilities: { gpu: true } });
    for (let i = 0; i < 40; i += 1) s.add(`b${String(i)}`, { channel: 'b' });
    s.claim(20);
    for (let i = 0; i < 10; i += 1) s.add(`a${String(i)}`, { channel: 'a' });
    expect(
      s
        .claim(6)
        .map((id) => id.slice(0, 1))
        .join(''),
    ).toBe('ababab');
  });
});

describe('switching', () => {
  test('A2.1 a switch of strategy at any point neither loses nor duplicates a task', () => {
    fc.assert(
      fc.property(steps([...FLOW, ...SWITCHES]), (moves) => {
        const player = new Player(sim({ aging: { everyMs: 10_000, maxBoost: 2, maxWaitMs: 60_000 } }));
        const { s } = player;
        for (const move of moves) player.play(move);
        player.finish();
        while (s.core.state.index.size > 0) {
          const before = player.claimed.length;
          player.claim(7, 'main');
          expect(player.claimed.length).toBeGreaterThan(before);
          for (const attempt of s.running()) s.complete(attempt);
        }
        expect(new Set(player.claimed).size).toBe(player.claimed.length);
        for (const id of player.added) expect(['completed', 'cancelled']).toContain(s.state(id));
        expect(s.core.state.pending).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  test('A2.1 B1.3 after any history the strategy in force hands out all ready tasks as they are listed', () => {
    const foretold = STRATEGY_NAMES.filter((name) => name !== 'weighted-random');
    const maxWaitMs = fc.constantFrom(Infinity, 40_000);
    const maxBoost = fc.constantFrom(Infinity, 1);
    fc.assert(
      fc.property(
        steps([...FLOW, ...SWITCHES]),
        fc.constantFrom(...foretold),
        maxWaitMs,
        maxBoost,
        (moves, last, wait, boost) => {
          const player = new Player(sim({ aging: { everyMs: 10_000, maxBoost: boost, maxWaitMs: wait } }));
          const { s } = player;
          for (const move of moves) player.play(move);
          player.finish();
          player.play({ kind: 'strategy', strategy: last });
          s.send({ kind: 'tick' });
          const listed = s.core.pending().map((task) => task.id);
          expect(s.claim(1_000, 'main')).toEqual(listed);
        },
      ),
      { numRuns: 40 },
    );
  });
});
