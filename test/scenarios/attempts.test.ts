import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StaleLeaseError, UnknownTaskError, isFinal, type Attempt, type FencingToken } from '../../src/model/index.js';
import { sim, type Sim } from '../../src/testing/index.js';

function gpu(s: Sim): number | undefined {
  return s.core.state.resources.pools.get('gpu')?.held;
}

function withGpu(units: number, slots = 9): Sim {
  const s = sim({ slots });
  s.send({ kind: 'setCapacity', resource: 'gpu', units });
  return s;
}

test('F3 a timeout counts from the start of the attempt, not from the submission', () => {
  const s = sim();
  s.add('task', { timeout: 1_000 });
  s.advance(5_000);
  s.worker('w', { retries: 0 });
  s.claim(1, 'w');
  s.advance(999);
  expect(s.state('task')).toBe('running');
  s.advance(1);
  expect(s.state('task')).toBe('failed');
  expect(s.task('task').extra?.error).toMatchObject({ code: 'TIMEOUT' });
  expect(s.core.outbox.aborted.map(({ attempt, error }) => [attempt.id, error.code])).toEqual([['task#1', 'TIMEOUT']]);
});

test('F3 row 19 what a timed-out attempt delivers late is refused by its token, and gives back what it held', () => {
  const s = withGpu(1);
  s.add('slow', { timeout: 100, needs: { gpu: 1 }, retry: 2 });
  s.add('next', { needs: { gpu: 1 }, priority: 'high' });
  s.advance(100);
  // Its work still goes on somewhere, so the unit is not free yet; the retry waits for it like everybody.
  expect([s.state('slow'), s.state('next'), gpu(s)]).toEqual(['ready', 'ready', 1]);
  s.advance(10_000);
  expect(s.running()).toEqual([]);
  expect(() => {
    s.complete('slow#1', 'too late');
  }).toThrow(StaleLeaseError);
  s.advance(0);
  expect(s.running()).toEqual(['next#1']);
  expect(gpu(s)).toBe(1);
  expect(() => {
    s.complete('slow#1', 'again');
  }).toThrow(StaleLeaseError);
  expect(gpu(s)).toBe(1);
  s.complete('next#1');
  s.complete('slow#2', 'in time');
  expect(s.task('slow').value).toBe('in time');
  expect(gpu(s)).toBe(0);
});

test('F3 row 16 an attempt that never settles is counted, and no limit is passed because of it', () => {
  const s = sim({ slots: 2 });
  s.add('hangs', { timeout: 100 });
  for (const id of ['a', 'b']) s.add(id);
  s.advance(100);
  expect(s.state('hangs')).toBe('failed');
  expect([...s.core.state.abandoned].map((attempt) => attempt.id)).toEqual(['hangs#1']);
  // Two slots, of which the one that hangs still takes its own.
  expect(s.running()).toEqual(['a#1']);
  s.complete('a#1');
  expect(s.running()).toEqual(['b#1']);
});

test('F3 each attempt has the whole timeout for itself', () => {
  const s = sim({ slots: 2 });
  s.add('task', { timeout: 100, retry: { attempts: 2, backoff: 'fixed', base: 50 } });
  s.advance(60);
  s.fail('task#1');
  s.advance(50);
  expect(s.running()).toEqual(['task#2']);
  s.advance(99);
  expect(s.running()).toEqual(['task#2']);
  s.advance(1);
  expect(s.state('task')).toBe('failed');
});

test('B3.4 row 22 lost attempts have a budget of their own, and when it is spent the task fails for good', () => {
  const s = sim();
  s.worker('w', { leaseMs: 1_000 });
  s.add('killer', { retry: 2 });
  s.add('other');
  for (let loss = 1; loss <= 3; loss += 1) {
    expect(s.claim(1, 'w')).toEqual(['killer']);
    s.advance(1_000);
  }
  expect(s.state('killer')).toBe('failed');
  expect(s.task('killer').attempts).toBe(3);
  expect(s.drain('w')).toEqual(['other']);
});

test('B3.5 preemptions and slices use up nothing: what is left of both budgets is what was left before', () => {
  const s = sim({ slots: 1, sliceMs: 50, preemption: { graceMs: 1_000, minRunMs: 0, maxPerTask: Infinity } });
  s.add('a', { retry: 2, preemptible: true, priority: 'low' });
  for (let i = 1; i <= 9; i += 1) {
    s.advance(50);
    s.add(`urgent${i}`, { priority: 'high' });
    s.send({ kind: 'release', task: 'a', token: { epoch: 1, attempt: s.task('a').attempts } });
    s.complete(`urgent${i}`);
    s.add(`equal${i}`, { priority: 'low' });
    s.advance(60);
    s.yield('a');
    expect(s.running()).toEqual([`equal${i}#1`]);
    s.complete(`equal${i}`);
  }
  expect(s.running()).toEqual(['a#10']);
  expect(s.task('a').extra).toMatchObject({ preemptions: 9, failures: 0, losses: 0 });
  s.fail('a#10');
  expect(s.running()).toEqual(['a#11']);
  s.fail('a#11');
  expect(s.state('a')).toBe('failed');
});

test('B3.4 what ran when the process died is lost, and charged to the same budget', () => {
  const s = sim({ slots: 1 });
  s.add('killer', { retry: 2 });
  for (const attempt of ['killer#1', 'killer#2', 'killer#3']) {
    expect(s.running()).toEqual([attempt]);
    s.send({ kind: 'recover' });
  }
  expect([s.state('killer'), s.task('killer').attempts]).toEqual(['failed', 3]);
});

test('B3.4 losses and failures are counted apart, releases not at all', () => {
  const s = sim();
  s.worker('w', { leaseMs: 1_000 });
  s.add('task', { retry: 2 });
  for (let i = 0; i < 10; i += 1) {
    s.claim(1, 'w');
    s.send({ kind: 'release', task: 'task', token: { epoch: 1, attempt: s.task('task').attempts } });
  }
  for (let loss = 1; loss <= 2; loss += 1) {
    s.claim(1, 'w');
    s.advance(1_000);
  }
  s.claim(1, 'w');
  s.fail('task#13');
  expect(s.state('task')).toBe('ready');
  s.claim(1, 'w');
  s.fail('task#14');
  expect(s.state('task')).toBe('failed');
});

test('B3.4 the retries of a worker are for tasks without a policy of their own', () => {
  const s = sim();
  s.worker('w', { retries: 1 });
  s.add('plain');
  s.add('own', { retry: 1 });
  s.claim(2, 'w');
  s.fail('plain#1');
  s.fail('own#1');
  expect([s.state('plain'), s.state('own')]).toEqual(['ready', 'failed']);
  s.claim(1, 'w');
  s.fail('plain#2');
  expect(s.state('plain')).toBe('failed');
});

test('row 15 a worker that stood still for longer than its lease is fenced off, and there is one new attempt', () => {
  const s = withGpu(1, 0);
  s.add('task', { needs: { gpu: 1 } });
  s.claim(1, 'sleeper');
  // Nothing ticked while it slept: the first command afterwards is what finds the lease ended.
  s.advance(0);
  s.jump(0);
  s.advance(600_000);
  expect(s.claim(5, 'other')).toEqual(['task']);
  expect(s.running()).toEqual(['task#2']);
  for (const kind of ['complete', 'fail'] as const) {
    expect(() => {
      s[kind]('task#1');
    }).toThrow(StaleLeaseError);
  }
  for (const request of [{ kind: 'extend', leaseMs: 60_000 }, { kind: 'release' }] as const) {
    expect(() => s.send({ ...request, task: 'task', token: { epoch: 1, attempt: 1 } })).toThrow(StaleLeaseError);
  }
  expect(gpu(s)).toBe(1);
  s.complete('task#2');
  expect(gpu(s)).toBe(0);
});

test('row 15 heartbeats keep a lease for as long as they come', () => {
  const s = sim();
  s.worker('w', { leaseMs: 1_000 });
  s.add('long');
  s.claim(1, 'w');
  for (let i = 0; i < 20; i += 1) {
    s.advance(900);
    s.send({ kind: 'extend', task: 'long', token: { epoch: 1, attempt: 1 }, leaseMs: 1_000 });
  }
  expect(s.running()).toEqual(['long#1']);
  s.advance(999);
  expect(s.running()).toEqual(['long#1']);
  s.advance(1);
  expect(s.running()).toEqual([]);
});

test('row 15 an abandoned attempt whose lease ends gives back what it held', () => {
  const s = withGpu(1, 0);
  s.add('task', { needs: { gpu: 1 } });
  s.claim();
  s.cancel('task');
  expect(gpu(s)).toBe(1);
  s.advance(60_000);
  expect(gpu(s)).toBe(0);
  expect(s.core.state.abandoned.size).toBe(0);
});

test('B3.3 row 37 a thousand failures: the wait is capped, never overflows, and the last one is final', () => {
  const s = sim({ slots: 1 });
  s.add('doomed', { retry: { attempts: 1_000, backoff: 'exponential', base: '1s', max: '1h' } });
  for (let attempt = 1; attempt < 1_000; attempt += 1) {
    s.fail(`doomed#${String(attempt)}`);
    const scheduled = s.facts.findLast((fact) => fact.kind === 'task.retryScheduled');
    const waitMs = (scheduled?.untilMono ?? NaN) - s.now.mono;
    expect(waitMs).toBe(Math.min(3_600_000, 1_000 * 2 ** (attempt - 1)));
    s.advance(waitMs);
  }
  s.fail('doomed#1000');
  expect(s.state('doomed')).toBe('failed');
  expect(s.core.nextWakeAt()).toEqual({ wall: Infinity, mono: Infinity });
});

test('B3.3 row 37 when everything fails at once, jitter spreads the retries', () => {
  const s = sim({ slots: 100 });
  for (let i = 0; i < 100; i += 1) {
    s.add(`t${String(i)}`, { retry: { attempts: 3, backoff: 'fixed', base: '10s', jitter: true } });
  }
  for (const name of s.running()) s.fail(name);
  const waits = s.facts.flatMap((fact) => (fact.kind === 'task.retryScheduled' ? [fact.untilMono] : []));
  expect(waits).toHaveLength(100);
  expect(new Set(waits).size).toBeGreaterThan(90);
  for (const wait of waits) expect(wait).toBeLessThanOrEqual(10_000);
});

test('row 35 cancel, complete, fail, timeout, release and lost lease in any order: one final state, one release', () => {
  const act = fc.constantFrom('cancel', 'complete', 'fail', 'timeout', 'release', 'extend', 'claim', 'retry', 'lose');
  fc.assert(
    fc.property(fc.array(act, { minLength: 1, maxLength: 25 }), fc.constantFrom(1, 2), (acts, attempts) => {
      const s = withGpu(2, 0);
      s.worker('w', { leaseMs: 500 });
      s.add('task', { needs: { gpu: 1 }, timeout: 300, retry: attempts });
      const finals: string[] = [];
      for (const [i, next] of ([...acts, 'cancel'] as const).entries()) {
        const from = s.facts.length;
        const started = s.task('task').attempts;
        // Outcomes may be about any attempt there ever was, also about those that no longer count.
        const token = { epoch: 1, attempt: 1 + (i % Math.max(1, started)) };
        try {
          switch (next) {
            case 'claim':
              s.claim(1, 'w');
              break;
            case 'cancel':
              s.cancel('task');
              break;
            case 'complete':
            case 'fail':
              s[next](`task#${String(token.attempt)}`);
              break;
            case 'timeout':
              s.advance(300);
              break;
            case 'lose':
              s.advance(500);
              break;
            case 'retry':
              s.send({ kind: 'retry', task: 'task' });
              break;
            case 'extend':
              s.send({ kind: 'extend', task: 'task', token, leaseMs: 400 });
              break;
            case 'release':
              s.send({ kind: 'release', task: 'task', token });
          }
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/STALE_LEASE|ILLEGAL_TRANSITION/) as string });
        }
        for (const fact of s.facts.slice(from)) {
          if (/^task\.(completed|failed|cancelled|skipped)$/.test(fact.kind)) finals.push(fact.kind);
          if (fact.kind === 'task.revived') finals.pop();
        }
        expect(finals.length).toBe(isFinal(s.state('task')) ? 1 : 0);
        // What is held is held by attempts that have not settled, each once.
        const live = s.running().length + s.core.state.abandoned.size;
        expect(gpu(s)).toBe(live);
        expect(s.core.state.running).toBe(live);
      }
      s.advance(10_000);
      expect(gpu(s)).toBe(0);
      expect(s.core.state.running).toBe(0);
      expect(s.core.state.workers.get('w')?.running).toBe(0);
    }),
    { numRuns: 300 },
  );
});

test('B10.2 a task past its expiry is dropped before it starts, and a missed deadline is told once', () => {
  const s = sim({ slots: 1 });
  s.add('first');
  s.add('expires', { expires: s.now.wall + 100 });
  s.add('late', { deadline: s.now.wall + 200 });
  s.add('child', { after: ['expires'] });
  s.advance(100);
  expect([s.state('expires'), s.state('child')]).toEqual(['cancelled', 'failed']);
  expect(s.task('expires').extra?.error).toMatchObject({ code: 'EXPIRED' });
  s.advance(500);
  expect(s.story('late').filter((kind) => kind === 'deadline.missed')).toHaveLength(1);
  s.complete('first#1');
  expect(s.running()).toEqual(['late#1']);
});

test('G4 A3.2 the token of a forgotten task does not fit a new task of the same id', () => {
  const s = sim({ retain: { count: 0, ageMs: 0 }, slots: 1 });
  s.add('again');
  const token = s.task('again').attempt?.token as FencingToken;
  s.complete('again');
  s.add('again');
  expect(s.running()).toEqual(['again#1']);
  const outcome = { kind: 'succeeded', value: 'late' } as const;
  expect(() => s.send({ kind: 'settle', task: 'again', token, outcome })).toThrow(StaleLeaseError);
  expect(s.state('again')).toBe('running');
});

test('F3 an abandoned attempt gives back what it held, also when nothing is known of its task any more', () => {
  const s = sim({ retain: { count: 0, ageMs: 0 }, slots: 1, check: false });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
  s.add('hangs', { needs: { gpu: 1 } });
  const { token } = s.task('hangs').attempt as Attempt;
  s.cancel('hangs');
  // So many others come and go that it leaves no tombstone either.
  for (let batch = 0; batch < 66; batch += 1) {
    const ids = Array.from({ length: 1_000 }, (_, i) => `t${String(batch)}-${String(i)}`);
    s.addAll(Object.fromEntries(ids.map((id) => [id, { delay: '1h' }])));
    s.send({ kind: 'cancelAll', tasks: ids });
  }
  expect(s.core.state.table.tombstone('hangs')).toBeUndefined();
  const outcome = { kind: 'succeeded', value: 'late' } as const;
  expect(() => s.send({ kind: 'settle', task: 'hangs', token, outcome })).toThrow(StaleLeaseError);
  expect([gpu(s), s.core.state.running]).toEqual([0, 0]);
  expect(() => s.send({ kind: 'settle', task: 'hangs', token, outcome })).toThrow(UnknownTaskError);
});
