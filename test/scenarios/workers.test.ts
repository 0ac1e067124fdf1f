import { describe, expect, test } from 'vitest';
import { STRATEGY_NAMES, type PlaceTraits } from '../../src/ready/index.js';
import { StaleLeaseError } from '../../src/model/index.js';
import { SIM_START, sim, type Sim, type SimTaskOptions } from '../../src/testing/index.js';

function attemptOf(s: Sim, id: string) {
  const { attempt } = s.task(id);
  if (attempt === undefined) throw new Error(`${id} does not run`);
  return attempt;
}

describe('A3 workers and claims', () => {
  test('A3.1 a worker has an id, capabilities, a strategy, a lease, slots and retries, and fills its slots only', () => {
    const s = sim();
    s.worker('ann', {
      slots: 2,
      capabilities: new Map([['gpu', true]]),
      strategy: 'lifo',
      leaseMs: 5_000,
      retries: 1,
    });
    for (const id of ['a', 'b', 'c']) s.add(id, { capabilities: { gpu: true } });
    expect(s.claim(9, 'ann')).toEqual(['c', 'b']);
    expect(s.claim(1, 'ann')).toEqual([]);
    s.complete('c');
    expect(s.claim(9, 'ann')).toEqual(['a']);
    expect(attemptOf(s, 'a').workerId).toBe('ann');
    expect(attemptOf(s, 'a').leaseMs).toBe(5_000);
    s.fail('a#1');
    expect(s.claim(1, 'ann')).toEqual(['a']);
    s.fail('a#2');
    expect(s.state('a')).toBe('failed');
  });

  test('A3.1 left out, the lease is 60 s and the retries are 3', () => {
    const s = sim();
    s.add('a');
    s.claim(1, 'defaults');
    s.advance(59_999);
    expect(s.running()).toEqual(['a#1']);
    s.advance(1);
    expect(s.running()).toEqual([]);
    for (const attempt of ['a#2', 'a#3', 'a#4', 'a#5']) {
      expect(s.claim(1, 'defaults')).toEqual(['a']);
      s.fail(attempt);
    }
    expect(s.state('a')).toBe('failed');
  });

  test('A3.2 one claim takes one task or a batch, leased to that worker until now plus the lease', () => {
    const s = sim();
    for (const id of ['a', 'b', 'c', 'd']) s.add(id);
    s.worker('ann', { leaseMs: 7_000 });
    s.worker('bob');
    s.advance(1_234);
    expect(s.claim(1, 'ann')).toEqual(['a']);
    expect(s.claim(3, 'bob')).toEqual(['b', 'c', 'd']);
    expect(attemptOf(s, 'a').leaseEndsAt).toBe(1_234 + 7_000);
    for (const id of ['b', 'c', 'd']) {
      expect(attemptOf(s, id).leaseEndsAt).toBe(1_234 + 60_000);
      expect(attemptOf(s, id).workerId).toBe('bob');
    }
    expect(s.claim(1, 'ann')).toEqual([]);
  });

  test('A3.2 each claim of a task has a larger fencing token than the one before', () => {
    const s = sim();
    s.add('a');
    const tokens = [];
    for (let n = 1; n <= 3; n += 1) {
      s.claim();
      const { token } = attemptOf(s, 'a');
      tokens.push([token.epoch, token.attempt]);
      s.send({ kind: 'release', task: 'a', token });
    }
    s.send({ kind: 'recover' });
    s.claim();
    const { token } = attemptOf(s, 'a');
    tokens.push([token.epoch, token.attempt]);
    expect(tokens).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 4],
    ]);
  });

  test('A3.3 with nothing eligible a claim gives nothing, at once, and nothing happens', () => {
    const s = sim();
    s.worker('ann');
    expect(s.claim(1, 'ann')).toEqual([]);
    s.add('later', { delay: 10 });
    const before = s.facts.length;
    expect(s.claim(5, 'ann')).toEqual([]);
    expect(s.facts.length).toBe(before);
    const worker = s.core.state.workers.get('ann');
    expect(worker && s.core.claim(s.now, worker)).toBeUndefined();
  });

  test('A3.4 a lease that ends makes the task claimable again, and the old token changes nothing', () => {
    const s = sim();
    s.add('a', { retry: 2 });
    s.claim(1, 'ann');
    const { token } = attemptOf(s, 'a');
    s.advance(30_000);
    s.send({ kind: 'extend', task: 'a', token, leaseMs: 60_000 });
    s.advance(59_999);
    expect(s.running()).toEqual(['a#1']);
    s.advance(1);
    expect(s.running()).toEqual([]);
    expect(s.claim(1, 'bob')).toEqual(['a']);
    const facts = s.facts.length;
    for (const late of [
      () => s.send({ kind: 'settle', task: 'a', token, outcome: { kind: 'succeeded', value: 1 } }),
      () => {
        s.fail('a#1');
      },
      () => s.send({ kind: 'extend', task: 'a', token, leaseMs: 1 }),
      () => s.send({ kind: 'release', task: 'a', token }),
    ]) {
      expect(late).toThrow(StaleLeaseError);
    }
    expect(s.facts.length).toBe(facts);
    expect(s.running()).toEqual(['a#2']);
    s.complete('a#2', 'right');
    expect(s.task('a').value).toBe('right');
  });

  test('A3.4 an attempt in the scheduler’s own process is not lost by time passing', () => {
    const s = sim({ slots: 1 });
    s.add('a');
    s.advance(10 * 24 * 3_600_000);
    expect(s.running()).toEqual(['a#1']);
  });
});

describe('A4 eligibility', () => {
  interface Condition {
    readonly missing: string;
    readonly task: SimTaskOptions;
    readonly before?: (s: Sim) => void;
    /** What makes the task eligible. */
    readonly meet: (s: Sim) => void;
    readonly worker?: Parameters<Sim['worker']>[1];
  }

  const CONDITIONS: readonly Condition[] = [
    {
      missing: 'a dependency has finished',
      task: { after: ['blocker'] },
      before: (s) => {
        s.add('blocker');
        s.claim(1, 'other');
      },
      meet: (s) => {
        s.complete('blocker');
      },
    },
    {
      missing: 'its ETA has passed',
      task: { eta: SIM_START + 300_000 },
      before: () => undefined,
      meet: (s) => {
        s.advance(240_000);
        expect(s.claim(1, 'worker')).toEqual([]);
        s.advance(60_000);
      },
    },
    {
      missing: 'its backoff has ended',
      task: { retry: { attempts: 2, backoff: 'fixed', base: 500 } },
      before: () => undefined,
      meet: (s) => {
        s.advance(500);
      },
    },
    {
      missing: 'the worker offers its capability',
      task: { capabilities: { region: 'eu' } },
      worker: { capabilities: new Map([['region', 'us']]) },
      meet: (s) => {
        s.worker('worker', { capabilities: new Map([['region', ['us', 'eu']]]) });
      },
    },
    {
      missing: 'the worker accepts its shape',
      task: { type: 'render' },
      worker: { filter: ({ type }: PlaceTraits) => type !== 'render' },
      meet: (s) => {
        s.worker('worker');
      },
    },
    {
      missing: 'its resource is free',
      task: { needs: { gpu: 2 } },
      before: (s) => {
        s.send({ kind: 'setCapacity', resource: 'gpu', units: 3 });
        s.add('holder', { needs: { gpu: 2 } });
        s.claim(1, 'other');
      },
      meet: (s) => {
        s.complete('holder');
      },
    },
    {
      missing: 'its channel is not paused',
      task: { channel: 'mail' },
      before: (s) => s.send({ kind: 'pauseChannel', channel: 'mail' }),
      meet: (s) => s.send({ kind: 'resumeChannel', channel: 'mail' }),
    },
    ...(['global', 'type', 'channel'] as const).map((scope) => ({
      missing: `the limit (${scope}) is not exhausted`,
      task: { type: 'render', channel: 'mail' },
      before: (s: Sim) => {
        s.send({ kind: 'setLimit', scope, key: { global: '', type: 'render', channel: 'mail' }[scope], limit: 1 });
        s.add('holder', { type: 'render', channel: 'mail' });
        s.claim(1, 'other');
      },
      meet: (s: Sim) => {
        s.complete('holder');
      },
    })),
  ];
  const rows = STRATEGY_NAMES.flatMap((strategy) =>
    CONDITIONS.map((condition) => ({ strategy, missing: condition.missing, condition })),
  );

  test.each(rows)('A4 under $strategy a task is claimed only once $missing', ({ strategy, condition }) => {
    const s = sim({ strategy });
    s.worker('worker', condition.worker);
    condition.before?.(s);
    s.add('task', condition.task);
    if (condition.missing.includes('backoff')) {
      s.claim(1, 'other');
      s.fail('task#1');
    }
    expect(s.claim(1, 'worker')).toEqual([]);
    condition.meet(s);
    expect(s.claim(1, 'worker')).toEqual(['task']);
  });

  test.each(STRATEGY_NAMES)('A4 under %s one that is not eligible keeps nobody else from being claimed', (strategy) => {
    const s = sim({ strategy });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    s.add('holder', { needs: { gpu: 1 } });
    s.claim(1, 'other');
    s.add('blocked', { priority: 'critical', needs: { gpu: 1 }, deadline: SIM_START + 1 });
    s.add('elsewhere', { priority: 'critical', capabilities: { os: 'mac' }, deadline: SIM_START + 1 });
    s.add('free', { priority: 'idle' });
    s.add('blocked too', { priority: 'critical', needs: { gpu: 1 } });
    expect(s.claim(9)).toEqual(['free']);
  });

  test('A4 scalars must be equal, arrays must contain, and every capability counts', () => {
    const s = sim();
    s.add('task', { capabilities: { os: 'linux', cores: 8, spot: false } });
    const offers: [string, Record<string, string | number | boolean | (string | number | boolean)[]>][] = [
      ['lacks one', { os: 'linux', cores: 8 }],
      ['differs', { os: 'linux', cores: 16, spot: false }],
      ['array without it', { os: ['mac', 'win'], cores: 8, spot: false }],
      ['other kind', { os: 'linux', cores: '8', spot: false }],
    ];
    for (const [id, offer] of offers) {
      s.worker(id, { capabilities: new Map(Object.entries(offer)) });
      expect([id, s.claim(1, id)]).toEqual([id, []]);
    }
    s.worker('fits', { capabilities: new Map(Object.entries({ os: ['mac', 'linux'], cores: 8, spot: false, x: 1 })) });
    expect(s.claim(1, 'fits')).toEqual(['task']);
  });
});

test('A5 workers with different strategies take each attempt once, and all tasks', () => {
  const s = sim({ seed: 5 });
  const total = 300;
  for (let i = 0; i < total; i += 1) {
    s.add(`t${String(i)}`, { channel: `c${String(i % 7)}`, priority: i % 5, retry: 3 });
  }
  for (const strategy of STRATEGY_NAMES) s.worker(strategy, { strategy, slots: 4 });
  const running: string[] = [];
  const claims: string[] = [];
  for (let step = 0; claims.length < total || running.length > 0; step += 1) {
    const worker = STRATEGY_NAMES[step % STRATEGY_NAMES.length] as string;
    for (const id of s.claim(1 + (step % 3), worker)) {
      running.push(id);
      claims.push(`${id}#${String(s.task(id).attempts)}`);
    }
    const done = running.splice((step * 31) % Math.max(1, running.length), 1)[0];
    if (done === undefined) continue;
    if (step % 11 === 0 && s.task(done).attempts < 3) s.fail(done);
    else s.complete(done);
  }
  expect(new Set(claims).size).toBe(claims.length);
  expect(claims.length).toBeGreaterThan(total);
  expect(claims.filter((claim) => claim.endsWith('#1'))).toHaveLength(total);
  expect(s.core.state.pending).toBe(0);
});
