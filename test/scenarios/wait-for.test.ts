import { describe, expect, test } from 'vitest';
import { Core, describeExplanation } from '../../src/core/index.js';
import { IllegalTransitionError, SchedulerError, StaleLeaseError, UnknownTaskError } from '../../src/model/index.js';
import { sim, type Sim, type SimOptions } from '../../src/testing/index.js';

function withGpu(units: number, options: SimOptions = {}): Sim {
  const s = sim(options);
  s.send({ kind: 'setCapacity', resource: 'gpu', units });
  return s;
}

const held = (s: Sim, resource: string): number => s.core.state.resources.pools.get(resource)?.held ?? NaN;

function restart(s: Sim): void {
  s.core = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as ReturnType<Core['snapshot']>);
  s.core.check();
}

describe('waiting for another task', () => {
  test('C12.1 a parent that waits for its child finishes at concurrency 1, and the same attempt goes on', () => {
    const s = sim({ slots: 1 });
    s.add('parent');
    s.add('child');
    expect(s.running()).toEqual(['parent#1']);
    s.waitFor('parent', 'child');
    expect([s.running(), s.waiting(), s.state('parent')]).toEqual([['child#1'], ['parent#1'], 'waiting']);
    s.complete('child');
    expect([s.running(), s.waiting()]).toEqual([['parent#1'], []]);
    s.complete('parent#1');
    expect(s.story('parent')).toEqual([
      'task.submitted',
      'task.ready',
      'attempt.started',
      'attempt.waiting',
      'task.ready',
      'attempt.resumed',
      'attempt.ended',
      'task.completed',
    ]);
    expect(s.task('parent').attempts).toBe(1);
  });

  test('C12.1 two parents and one slot: both finish, whoever waits makes room for the other', () => {
    const s = sim({ slots: 1 });
    for (const id of ['p1', 'p2', 'c1', 'c2']) s.add(id);
    s.waitFor('p1', 'c1');
    expect(s.running()).toEqual(['p2#1']);
    s.waitFor('p2', 'c2');
    expect(s.running()).toEqual(['c1#1']);
    s.complete('c1');
    // Before c2, which is new and of equal rank.
    expect(s.running()).toEqual(['p1#1']);
    s.complete('p1');
    s.complete('c2');
    s.complete('p2');
    expect(['p1', 'p2', 'c1', 'c2'].map((id) => s.state(id))).toEqual(Array(4).fill('completed'));
  });

  test.each(['completed', 'failed', 'cancelled'] as const)(
    'C12.1 it goes on however the awaited task ended: %s',
    (how) => {
      const s = sim({ slots: 1 });
      s.add('parent');
      s.add('child');
      s.waitFor('parent', 'child');
      if (how === 'completed') s.complete('child');
      else if (how === 'failed') s.fail('child');
      else s.cancel('child');
      if (how === 'cancelled')
        expect(() => {
          s.complete('child#1');
        }).toThrow(StaleLeaseError);
      s.advance(0);
      expect([s.state('child'), s.running()]).toEqual([how, ['parent#1']]);
      expect(s.core.outbox.resumed.map((attempt) => attempt.id)).toEqual(['parent#1']);
      expect(s.task('parent').attempt?.resumptions).toBe(1);
    },
  );

  test('C12.1 a task that has ended, or is forgotten, is not waited for; one that never was is refused', () => {
    const s = sim({ slots: 1, retain: { count: 1, ageMs: Infinity } });
    for (const id of ['a', 'b', 'parent']) s.add(id);
    s.complete('a');
    s.complete('b');
    for (const id of ['a', 'b']) s.waitFor('parent', id);
    expect(s.running()).toEqual(['parent#1']);
    expect(() => {
      s.waitFor('parent', 'nobody');
    }).toThrow(UnknownTaskError);
    expect(s.story('parent')).not.toContain('attempt.waiting');
  });

  test.each(['global', 'type', 'channel'] as const)('C12.1 its place under the %s limit is free meanwhile', (scope) => {
    const s = sim({ slots: 9 });
    const key = { global: '', type: 'work', channel: 'A' }[scope];
    s.send({ kind: 'setLimit', scope, key, limit: 1 });
    for (const id of ['parent', 'child', 'other']) s.add(id, { type: 'work', channel: 'A' });
    expect(s.running()).toEqual(['parent#1']);
    s.waitFor('parent', 'other');
    expect(s.running()).toEqual(['child#1']);
    s.complete('child');
    expect(s.running()).toEqual(['other#1']);
    s.add('late', { type: 'work', channel: 'A' });
    s.complete('other');
    expect(s.running()).toEqual(['parent#1']);
    s.complete('parent');
    expect(s.running()).toEqual(['late#1']);
  });

  test('C12.1 named resources stay held, and what is yieldable is given back and taken again', () => {
    const s = withGpu(2, { slots: 9 });
    s.send({ kind: 'setCapacity', resource: 'cpu', units: 1 });
    s.add('parent', { needs: { gpu: 1, cpu: 1 }, yieldable: ['cpu'] });
    s.add('child');
    s.add('needs-cpu', { needs: { cpu: 1 } });
    s.add('needs-gpu', { needs: { gpu: 2 } });
    expect(s.running()).toEqual(['parent#1', 'child#1']);
    s.waitFor('parent', 'child');
    expect(s.running()).toEqual(['child#1', 'needs-cpu#1']);
    expect([held(s, 'gpu'), held(s, 'cpu')]).toEqual([1, 1]);
    s.complete('child');
    // It comes back when it can have its processor again.
    expect([s.running(), s.waiting()]).toEqual([['needs-cpu#1'], ['parent#1']]);
    expect(s.core.explain('parent')).toMatchObject({
      kind: 'ready',
      attempt: 'parent#1',
      obstacles: [{ kind: 'resource', resource: 'cpu', lacks: 1, heldBy: [{ attempt: 'needs-cpu#1' }] }],
    });
    s.complete('needs-cpu');
    expect(s.running()).toEqual(['parent#1']);
    expect([held(s, 'gpu'), held(s, 'cpu')]).toEqual([1, 1]);
    s.complete('parent');
    expect(s.running()).toEqual(['needs-gpu#1']);
    s.complete('needs-gpu');
    expect([held(s, 'gpu'), held(s, 'cpu')]).toEqual([0, 0]);
  });

  test('C12.1 what is yieldable must be one of the needs', () => {
    const s = withGpu(1);
    for (const yieldable of [['cpu'], 'gpu', [1]]) {
      expect(() => s.add('a', { needs: { gpu: 1 }, yieldable: yieldable as string[] })).toThrow(/yieldable/);
    }
    expect(s.core.state.table.size).toBe(0);
  });

  test('C12.1 the timeout stands still while it waits, and goes on with what was left', () => {
    const s = sim({ slots: 1 });
    s.add('parent', { timeout: 100 });
    s.add('child');
    s.advance(60);
    s.waitFor('parent', 'child');
    s.advance(1_000);
    s.complete('child');
    s.advance(39);
    expect(s.running()).toEqual(['parent#1']);
    s.advance(1);
    expect(s.state('parent')).toBe('failed');
    expect(s.task('parent').extra?.error?.code).toBe('TIMEOUT');
  });

  test('C12.1 the lease goes on: it says that the worker lives, and is extended while the attempt waits', () => {
    const s = withGpu(1);
    s.add('parent', { needs: { gpu: 1 } });
    s.add('child', { delay: 500_000 });
    s.claim();
    s.waitFor('parent', 'child');
    const { token } = s.task('parent').attempt ?? { token: { epoch: 0, attempt: 0 } };
    s.advance(50_000);
    s.send({ kind: 'extend', task: 'parent', token, leaseMs: 60_000 });
    s.advance(59_999);
    expect(s.waiting()).toEqual(['parent#1']);
    s.advance(1);
    expect([s.waiting(), s.state('parent'), held(s, 'gpu')]).toEqual([[], 'ready', 0]);
    expect(s.task('parent').extra?.losses).toBe(1);
    expect(s.claim()).toEqual(['parent']);
    expect(s.running()).toEqual(['parent#2']);
  });

  test('C12.1 only its own worker goes on with it, whatever its filter says, also after a restart', () => {
    const s = sim();
    s.worker('w1', { slots: 1, filter: ({ needs }) => needs.length === 0 });
    s.worker('w2', { slots: 9 });
    s.add('parent', { channel: 'A' });
    expect(s.claim(1, 'w1')).toEqual(['parent']);
    s.add('child');
    s.waitFor('parent', 'child');
    restart(s);
    s.worker('w1', { slots: 1, filter: () => false });
    expect(s.claim(9, 'w2')).toEqual(['child']);
    s.complete('child');
    expect(s.claim(9, 'w2')).toEqual([]);
    restart(s);
    expect(s.claim(9, 'w1')).toEqual(['parent']);
    expect(s.running()).toEqual(['parent#1']);
  });

  test('C12.1 a paused channel keeps new starts back, not an attempt that goes on', () => {
    const s = sim({ slots: 1 });
    s.add('parent', { channel: 'A' });
    s.add('next', { channel: 'A' });
    s.add('child', { channel: 'B', priority: 'high' });
    s.waitFor('parent', 'child');
    s.send({ kind: 'pauseChannel', channel: 'A' });
    restart(s);
    s.complete('child');
    expect(s.running()).toEqual(['parent#1']);
    s.complete('parent');
    expect(s.running()).toEqual([]);
  });

  test('C12.1 what is left of its first wait in line is not taken for the one after', () => {
    const s = withGpu(1, { aging: { everyMs: Infinity, maxBoost: 0, maxWaitMs: Infinity } });
    s.worker('w', { slots: 1, strategy: 'lifo' });
    s.add('child');
    s.add('parent', { channel: 'A', needs: { gpu: 1 } });
    // The scheduler's own order is not asked, so that it still has the parent where that first stood.
    expect(s.claim(1, 'w')).toEqual(['parent']);
    s.waitFor('parent', 'child');
    s.cancel('child');
    s.send({ kind: 'pauseChannel', channel: 'A' });
    expect(s.claim(1, 'w')).toEqual(['parent']);
  });

  test('C12.1 under fair its channel pays one turn, however often it waits', () => {
    const turns = [0, 1, 3].map((waits) => {
      const s = sim({ slots: 1, strategy: 'fair' });
      s.add('parent', { channel: 'A' });
      for (let i = 0; i < waits; i += 1) {
        s.add(`child${String(i)}`, { channel: 'C', priority: 'critical' });
        s.waitFor('parent', `child${String(i)}`);
        s.complete(`child${String(i)}`);
      }
      return s.core.state.index.turns.at(2).channels.get('A')?.pass;
    });
    expect(turns).toEqual([1, 1, 1]);
  });

  test('C12.1 time spent waiting is not time spent working', () => {
    const s = sim({ slots: 1 });
    s.add('parent', { type: 'p' });
    s.add('child');
    s.advance(10);
    s.waitFor('parent', 'child');
    s.advance(1_000);
    s.complete('child');
    s.advance(5);
    s.complete('parent');
    expect(s.core.state.means.get('p')).toEqual({ count: 1, totalMs: 15 });
  });

  test('C12.1 an expiry does not end what has begun, and counts again once it has not', () => {
    const s = sim();
    s.add('parent', { expires: s.now.wall + 100 });
    s.add('child', { delay: 1_000 });
    s.claim();
    s.waitFor('parent', 'child');
    s.advance(200);
    expect(s.state('parent')).toBe('waiting');
    s.send({ kind: 'release', task: 'parent', token: { epoch: 1, attempt: 1 } });
    expect(s.state('parent')).toBe('cancelled');
  });
});

describe('an attempt that waits, and what may become of it', () => {
  function waiting(): Sim {
    const s = withGpu(1);
    s.worker('w', { slots: 1 });
    s.add('parent', { needs: { gpu: 1 }, retry: 3 });
    s.claim(1, 'w');
    s.add('child');
    s.waitFor('parent', 'child');
    return s;
  }
  const token = { epoch: 1, attempt: 1 };

  test('C12.1 cancelled, it keeps its resources until it settles, and nothing else', () => {
    const s = waiting();
    s.cancel('parent');
    expect(s.core.outbox.aborted.map(({ attempt }) => attempt.id)).toEqual(['parent#1']);
    restart(s);
    expect([held(s, 'gpu'), s.core.state.resources.global.held, s.core.state.workers.get('w')?.running]).toEqual([
      1, 0, 0,
    ]);
    expect(s.claim(1, 'w')).toEqual(['child']);
    expect(() => {
      s.complete('parent#1');
    }).toThrow(StaleLeaseError);
    s.advance(0);
    expect([held(s, 'gpu'), s.core.state.running]).toEqual([0, 1]);
  });

  test.each(['waiting', 'ready'] as const)(
    'C12.1 released, lost, failed or settled while %s, it gives everything back once',
    (state) => {
      for (const outcome of ['aborted', 'lost', 'failed', 'succeeded'] as const) {
        const s = waiting();
        if (state === 'ready') s.cancel('child');
        expect(s.state('parent')).toBe(state);
        const error = { name: 'Error', message: 'on purpose' };
        s.send({
          kind: 'settle',
          task: 'parent',
          token,
          outcome:
            outcome === 'failed'
              ? { kind: outcome, error, retryable: true }
              : outcome === 'succeeded'
                ? { kind: outcome, value: 1 }
                : { kind: outcome },
        });
        expect([s.state('parent'), held(s, 'gpu'), s.core.state.running]).toEqual([
          outcome === 'succeeded' ? 'completed' : 'ready',
          0,
          0,
        ]);
        // A new start, which asks for all that it needs.
        s.drain('w');
        expect(s.task('parent').attempts).toBe(outcome === 'succeeded' ? 1 : 2);
      }
    },
  );

  test('C12.3 F9 what was lent to it is known after a restart, and goes when the need does', () => {
    const s = waiting();
    s.add('urgent', { needs: { gpu: 1 }, priority: 0 });
    expect(s.task('child').urgency).toBe(0);
    restart(s);
    s.cancel('urgent');
    s.core.check();
    expect([s.task('parent').urgency, s.task('child').urgency]).toEqual([2, 2]);
  });

  test('C12.1 after a crash it is lost like any other, and runs again from the start', () => {
    const s = waiting();
    restart(s);
    s.send({ kind: 'recover' });
    expect([s.state('parent'), held(s, 'gpu'), s.task('parent').extra?.losses]).toEqual(['ready', 0, 1]);
    expect(() => {
      s.send({ kind: 'waitFor', task: 'parent', token, awaited: 'child' });
    }).toThrow(StaleLeaseError);
    s.drain('w');
    expect(s.task('parent').attempts).toBe(2);
  });

  test('C12.1 it waits for one task at a time, and takes no dependencies meanwhile', () => {
    const s = waiting();
    s.add('other');
    for (const request of [
      { kind: 'waitFor', task: 'parent', token, awaited: 'other' },
      { kind: 'addDependency', task: 'parent', dependency: 'other', onFailure: 'run' },
    ] as const) {
      expect(() => s.send(request)).toThrow(IllegalTransitionError);
    }
    expect(() => s.send({ kind: 'removeDependency', task: 'parent', dependency: 'child' })).toThrow(SchedulerError);
    expect(s.core.graph().edges).toEqual([]);
    expect(s.story('parent').filter((kind) => kind === 'attempt.waiting')).toHaveLength(1);
  });

  test('C13.1 C12.1 explain says whom it waits for and what it keeps', () => {
    const s = waiting();
    expect(describeExplanation(s.core.explain('parent'))).toBe(
      'Task "parent" waits as "parent#1", which keeps 1 of "gpu", for "child" (ready).',
    );
    s.cancel('child');
    expect(describeExplanation(s.core.explain('parent'))).toMatch(/^Task "parent" is ready to go on as "parent#1" and/);
  });

  test('G8 C12.1 its facts, replayed, make the same state', () => {
    const s = waiting();
    s.claim(1, 'w');
    s.complete('child');
    s.claim(1, 'w');
    const core = new Core({ origin: { wall: s.now.wall, mono: 0 } });
    for (const fact of JSON.parse(JSON.stringify(s.facts)) as typeof s.facts) core.apply(fact);
    core.check();
    expect(core.outbox.resumed).toEqual([]);
    expect(core.snapshot()).toEqual(s.core.snapshot());
  });
});
