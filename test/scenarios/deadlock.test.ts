import { describe, expect, test } from 'vitest';
import { CycleError, DeadlockError } from '../../src/model/index.js';
import { sim, type Sim, type SimOptions } from '../../src/testing/index.js';

function world(resources: Readonly<Record<string, number>>, options: SimOptions = { slots: 99 }): Sim {
  const s = sim(options);
  for (const [resource, units] of Object.entries(resources)) s.send({ kind: 'setCapacity', resource, units });
  return s;
}

const capacity = (s: Sim, resource: string, units: number): void => {
  s.send({ kind: 'setCapacity', resource, units });
};

/** The error of a refused command, which must have changed nothing. */
function refusal(s: Sim, act: () => void): DeadlockError {
  const before = JSON.stringify(s.core.snapshot());
  try {
    act();
  } catch (error) {
    if (!(error instanceof DeadlockError)) throw error;
    expect(JSON.stringify(s.core.snapshot())).toBe(before);
    return error;
  }
  throw new Error('It was not refused.');
}

/** Everything that runs ends, in order of submission, until nothing is left. */
function finishAll(s: Sim): void {
  for (let [next] = s.running(); next !== undefined; [next] = s.running()) s.complete(next);
}

describe('circles of waits over tasks', () => {
  test('C12.2 a task that waits for itself, or for one that waits for it, is refused with the path', () => {
    const s = sim({ slots: 9 });
    for (const id of ['a', 'b', 'c']) s.add(id);
    expect(
      refusal(s, () => {
        s.waitFor('a', 'a');
      }).path,
    ).toEqual(['a', 'a']);
    s.waitFor('a', 'b');
    s.waitFor('b', 'c');
    const error = refusal(s, () => {
      s.waitFor('c', 'a');
    });
    expect(error).toMatchObject({ taskId: 'c', path: ['c', 'a', 'b', 'c'] });
    expect(error.steps.map(({ by }) => by)).toEqual(['waitFor', 'waitFor', 'waitFor']);
    expect(error.message).toContain('"c" waits for "a", "a" waits for "b", "b" waits for "c"');
    finishAll(s);
    expect(s.state('a')).toBe('completed');
  });

  test('C12.2 a circle over waits and dependencies is refused, whichever closes it', () => {
    const s = sim({ slots: 9 });
    s.add('parent');
    s.add('child', { delay: 100 });
    s.add('after', { after: ['parent'] });
    expect(
      refusal(s, () => {
        s.waitFor('parent', 'after');
      }),
    ).toMatchObject({
      path: ['parent', 'after', 'parent'],
      steps: [{ by: 'waitFor' }, { by: 'dependency' }],
    });
    s.waitFor('parent', 'child');
    expect(() => s.send({ kind: 'addDependency', task: 'child', dependency: 'after', onFailure: 'run' })).toThrow(
      CycleError,
    );
    s.advance(100);
    finishAll(s);
    expect(s.state('after')).toBe('completed');
  });
});

describe('circles of waits through what is kept', () => {
  test('C12.2 dining philosophers: the last one to wait with a fork in hand is refused, and everybody eats', () => {
    const s = world({ fork1: 1, fork2: 1, fork3: 1 });
    for (const n of [1, 2, 3]) s.add(`philosopher${String(n)}`, { needs: { [`fork${String(n)}`]: 1 } });
    // Each keeps the fork at one side and waits for a meal that needs the fork at the other.
    for (const n of [1, 2, 3]) s.add(`meal${String(n)}`, { needs: { [`fork${String((n % 3) + 1)}`]: 1 } });
    s.waitFor('philosopher1', 'meal1');
    s.waitFor('philosopher2', 'meal2');
    const error = refusal(s, () => {
      s.waitFor('philosopher3', 'meal3');
    });
    expect(error.path).toEqual([
      'philosopher3',
      'meal3',
      'philosopher1',
      'meal1',
      'philosopher2',
      'meal2',
      'philosopher3',
    ]);
    expect(error.steps[1]).toEqual({ task: 'meal3', by: 'resource', resource: 'fork1', next: 'philosopher1' });
    expect(error.message).toContain('"meal3" lacks "fork1" that "philosopher1" keeps');
    expect(s.waiting()).toEqual(['philosopher1#1', 'philosopher2#1']);
    finishAll(s);
    expect([...s.core.state.table.all()].map(({ state }) => state)).toEqual(Array(6).fill('completed'));
  });

  test('C12.2 with units enough a circle is no deadlock, with one less it is', () => {
    for (const [units, deadlocks] of [
      [4, false],
      [3, true],
    ] as const) {
      const s = world({ gpu: units });
      s.add('p1', { needs: { gpu: 1 } });
      s.add('p2', { needs: { gpu: 1 } });
      s.add('big', { needs: { gpu: 2 }, after: ['gate'].slice(1) });
      s.add('c1', { needs: { gpu: 2 } });
      if (units === 4) s.complete('big');
      s.waitFor('p1', 'c1');
      const act = (): void => {
        s.waitFor('p2', 'c1');
      };
      if (deadlocks) expect(refusal(s, act).steps.map(({ by }) => by)).toEqual(['waitFor', 'resource']);
      else act();
      finishAll(s);
      expect(s.state('p1')).toBe('completed');
      expect(s.state('p2')).toBe('completed');
    }
  });

  test('C12.2 a child that needs what its parent keeps all of is refused, and not if the parent yields it', () => {
    const s = world({ gpu: 1 });
    s.add('keeps', { needs: { gpu: 1 } });
    s.add('child', { needs: { gpu: 1 } });
    s.add('last', { after: ['child'] });
    expect(
      refusal(s, () => {
        s.waitFor('keeps', 'last');
      }),
    ).toMatchObject({
      path: ['keeps', 'last', 'child', 'keeps'],
      steps: [{ by: 'waitFor' }, { by: 'dependency' }, { by: 'resource', resource: 'gpu' }],
    });
    s.complete('keeps');
    s.complete('child');
    s.add('yields', { needs: { gpu: 1 }, yieldable: ['gpu'] });
    s.add('other', { needs: { gpu: 1 } });
    s.waitFor('yields', 'other');
    expect(s.running()).toContain('other#1');
    finishAll(s);
    expect(s.state('yields')).toBe('completed');
  });

  test('C12.2 what is yielded must come back: whoever took it may not wait for the one that lacks it', () => {
    const s = world({ gpu: 1 });
    s.add('yields', { needs: { gpu: 1 }, yieldable: ['gpu'] });
    s.add('child', { delay: 50 });
    s.waitFor('yields', 'child');
    s.add('took', { needs: { gpu: 1 } });
    expect(s.running()).toEqual(['took#1']);
    expect(
      refusal(s, () => {
        s.waitFor('took', 'yields');
      }).path,
    ).toEqual(['took', 'yields', 'took']);
  });

  test('C12.2 somebody who runs may still give back: that is no deadlock', () => {
    const s = world({ gpu: 2 });
    s.add('parent', { needs: { gpu: 1 } });
    s.add('busy', { needs: { gpu: 1 } });
    s.add('child', { needs: { gpu: 1 } });
    s.waitFor('parent', 'child');
    expect(s.running()).toEqual(['busy#1']);
    finishAll(s);
    expect(s.state('parent')).toBe('completed');
  });
});

describe('what else may close a circle', () => {
  function keeper(): Sim {
    const s = world({ gpu: 3 });
    s.add('parent', { needs: { gpu: 1 }, retry: 2 });
    s.add('blocker', { needs: { gpu: 2 } });
    s.add('child', { needs: { gpu: 2 }, retry: 2 });
    s.waitFor('parent', 'child');
    return s;
  }

  test('C12.2 an added dependency is refused with the circle', () => {
    const s = world({ gpu: 1 });
    s.add('parent', { needs: { gpu: 1 } });
    s.add('child', { delay: 100 });
    s.add('greedy', { needs: { gpu: 1 } });
    s.waitFor('parent', 'child');
    const error = refusal(s, () =>
      s.send({ kind: 'addDependency', task: 'child', dependency: 'greedy', onFailure: 'run' }),
    );
    expect(error.path).toEqual(['child', 'greedy', 'parent', 'child']);
    s.advance(100);
    finishAll(s);
    expect(s.state('greedy')).toBe('completed');
  });

  test('C12.2 G9 a capacity lowered: the attempt that waited last has failed with the circle, and the rest goes on', () => {
    const s = keeper();
    capacity(s, 'gpu', 2);
    expect(s.core.outbox.aborted.map(({ attempt, error }) => [attempt.id, error.code])).toEqual([
      ['parent#1', 'DEADLOCK'],
    ]);
    // It is tried again, by its own policy, once its first attempt has given back what it kept.
    expect(s.state('parent')).toBe('ready');
    expect(() => {
      s.complete('parent#1');
    }).toThrow(/parent/);
    s.complete('blocker');
    finishAll(s);
    expect(['parent', 'child'].map((id) => s.state(id))).toEqual(['completed', 'completed']);
    expect(s.task('parent').attempts).toBe(2);
  });

  test('C12.2 G9 a capacity below a need is a setting in the way, not a circle; raised too little it is one', () => {
    const s = keeper();
    capacity(s, 'gpu', 0);
    s.complete('blocker');
    expect([s.waiting(), s.running()]).toEqual([['parent#1'], []]);
    expect(s.core.explain('child')).toMatchObject({ obstacles: [{ resource: 'gpu', capacity: 0, needs: 2 }] });
    capacity(s, 'gpu', 3);
    expect([s.waiting(), s.running()]).toEqual([['parent#1'], ['child#1']]);
    const other = keeper();
    capacity(other, 'gpu', 1);
    expect(other.waiting()).toEqual(['parent#1']);
    capacity(other, 'gpu', 2);
    expect(other.waiting()).toEqual([]);
  });

  test('C12.2 G9 a retry needs again what the first attempt had: then the wait that is in its way has failed', () => {
    const s = keeper();
    s.complete('blocker');
    expect(s.running()).toEqual(['child#1']);
    // No harm while the child runs: it has what it needs.
    capacity(s, 'gpu', 2);
    expect(s.waiting()).toEqual(['parent#1']);
    s.fail('child');
    expect(s.waiting()).toEqual([]);
    expect(s.task('parent').extra?.error?.code).toBe('DEADLOCK');
  });
});

describe('urgency through waits', () => {
  test('C12.3 what a more urgent task waits for is as urgent, through any steps, and only for as long', () => {
    const s = sim({ slots: 1 });
    s.add('urgent', { priority: 'critical', deadline: s.now.wall + 9_000 });
    s.add('deep', { priority: 'idle' });
    s.add('child', { priority: 'idle', after: ['deep'] });
    s.add('other', { priority: 'high' });
    s.waitFor('urgent', 'child');
    expect(s.running()).toEqual(['deep#1']);
    for (const id of ['deep', 'child'])
      expect([s.task(id).urgency, s.task(id).deadline]).toEqual([0, s.now.wall + 9_000]);
    s.cancel('urgent');
    for (const id of ['deep', 'child']) expect([s.task(id).urgency, s.task(id).deadline]).toEqual([4, Infinity]);
  });

  test('C12.3 priority inversion: whoever keeps what an urgent task lacks is not held up by the middle', () => {
    const s = world({ gpu: 1 }, { slots: 1 });
    s.add('low', { priority: 'low', needs: { gpu: 1 } });
    s.add('blocker', { priority: 'critical' });
    s.add('work', { priority: 'low' });
    s.waitFor('low', 'work');
    expect(s.running()).toEqual(['blocker#1']);
    for (let i = 0; i < 5; i += 1) s.add(`middle${String(i)}`, { priority: 'normal' });
    s.add('urgent', { priority: 'high', needs: { gpu: 1 } });
    expect([s.task('low').urgency, s.task('work').urgency]).toEqual([1, 1]);
    s.complete('blocker');
    const order: string[] = [];
    for (let [next] = s.running(); next !== undefined; [next] = s.running()) {
      order.push(next);
      s.complete(next);
    }
    expect(order.slice(0, 4)).toEqual(['work#1', 'low#1', 'urgent#1', 'middle0#1']);
  });

  test('C12.3 it is lent on through a second resource, and taken back when the need ends', () => {
    const s = world({ gpu: 1, disk: 1 });
    s.add('a', { priority: 'idle', needs: { gpu: 1 } });
    s.add('b', { priority: 'idle', needs: { disk: 1 } });
    s.add('deep', { priority: 'idle', delay: 1_000 });
    s.add('mid', { priority: 'idle', needs: { disk: 1 } });
    s.waitFor('b', 'deep');
    s.waitFor('a', 'mid');
    const levels = (): number[] => ['a', 'mid', 'b', 'deep'].map((id) => s.task(id).urgency);
    expect(levels()).toEqual([4, 4, 4, 4]);
    s.add('urgent', { priority: 'critical', needs: { gpu: 1 } });
    expect(levels()).toEqual([0, 0, 0, 0]);
    s.send({ kind: 'setPriority', task: 'urgent', level: 3 });
    expect(levels()).toEqual([3, 3, 3, 3]);
    s.cancel('urgent');
    expect(levels()).toEqual([4, 4, 4, 4]);
  });

  test('C12.3 a level that came round in a circle does not uphold itself', () => {
    const s = world({ gpu: 2 });
    s.add('parent', { priority: 'idle', needs: { gpu: 1 } });
    s.add('busy', { needs: { gpu: 1 } });
    s.add('child', { priority: 'idle', needs: { gpu: 1 } });
    s.waitFor('parent', 'child');
    s.send({ kind: 'setPriority', task: 'child', level: 0 });
    expect([s.task('parent').urgency, s.task('child').urgency]).toEqual([0, 0]);
    s.send({ kind: 'setPriority', task: 'child', level: 3 });
    expect([s.task('parent').urgency, s.task('child').urgency]).toEqual([3, 3]);
  });

  test('C12.3 who needs it and does not lack it lends nothing', () => {
    const s = world({ gpu: 3 }, { slots: 1 });
    s.add('parent', { priority: 'low', needs: { gpu: 1 } });
    s.add('child', { priority: 'low' });
    s.add('busy', { priority: 'critical' });
    s.waitFor('parent', 'child');
    s.add('fits', { priority: 'critical', needs: { gpu: 2 } });
    expect(s.task('child').urgency).toBe(3);
    capacity(s, 'gpu', 2);
    expect(s.task('child').urgency).toBe(0);
    capacity(s, 'gpu', 3);
    expect(s.task('child').urgency).toBe(3);
  });

  test('C12.3 a running holder is as urgent as whoever lacks what it holds, when it is asked for', () => {
    const s = world({ gpu: 1 });
    s.add('holder', { priority: 'low', needs: { gpu: 1 } });
    const { attempt } = s.task('holder');
    if (attempt === undefined) throw new Error('It does not run.');
    expect(s.core.state.lending.urgencyOf(attempt)).toBe(3);
    s.add('urgent', { priority: 'critical', needs: { gpu: 1 } });
    expect(s.core.state.lending.urgencyOf(attempt)).toBe(0);
    expect(s.task('holder').urgency).toBe(3);
    s.cancel('urgent');
    expect(s.core.state.lending.urgencyOf(attempt)).toBe(3);
  });
});
