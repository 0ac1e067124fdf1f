import { expect, test } from 'vitest';
import { Dependencies } from '../../src/core/index.js';
import { Inheritance } from '../../src/core/inheritance.js';
import { Task, parseTaskOptions } from '../../src/model/index.js';
import { SIM_START, sim, type Sim } from '../../src/testing/index.js';

const at = (ms: number): Date => new Date(SIM_START + ms);

function setPriority(s: Sim, task: string, level: number): void {
  s.send({ kind: 'setPriority', task, level });
}

/** The effective levels of these tasks. */
function urgencies(s: Sim, ...ids: string[]): number[] {
  return ids.map((id) => s.task(id).urgency);
}

test('C5.1 a new level decides at the very next claim, and keeps the place among its equals', () => {
  const s = sim();
  s.addAll({ a: {}, b: {}, c: {}, d: {} });
  setPriority(s, 'd', 0);
  setPriority(s, 'a', 3);
  expect(s.claim()).toEqual(['d']);
  setPriority(s, 'a', 2);
  expect(s.drain()).toEqual(['a', 'b', 'c']);
});

test('C5.1 the level of a waiting, a delayed and a running task can change, that of an ended one cannot', () => {
  const s = sim();
  s.add('first');
  s.add('waiting', { after: ['first'] });
  s.add('delayed', { delay: 10 });
  s.add('plain', { delay: 10, priority: 'high' });
  setPriority(s, 'delayed', 0);
  setPriority(s, 'waiting', 0.5);
  s.claim();
  // A running task that fails comes back with its new level.
  setPriority(s, 'first', 0.75);
  s.advance(10);
  s.fail('first#1');
  expect(s.drain()).toEqual(['delayed', 'first', 'waiting', 'plain']);
  expect(() => {
    setPriority(s, 'plain', 0);
  }).toThrow(expect.objectContaining({ code: 'ILLEGAL_TRANSITION' }));
  expect(s.task('plain').level).toBe(1);
});

test('C5.1 a change of level keeps the age', () => {
  const s = sim();
  s.add('old', { priority: 10 });
  s.advance(35_000);
  setPriority(s, 'old', 6);
  // Three windows old: it counts as 3 now, and had its age been lost it would count as 6.
  s.add('young', { priority: 4 });
  expect(s.drain()).toEqual(['old', 'young']);
});

test('C5.2 what an urgent task waits for is as urgent and as early due as the task, through any number of steps', () => {
  const s = sim({ aging: { everyMs: Infinity, maxBoost: Infinity, maxWaitMs: Infinity } });
  s.addAll({ c1: { priority: 'idle' }, other: { priority: 'high' }, c2: { after: ['c1'], priority: 'low' } });
  s.add('c3', { after: ['c2'] });
  expect(urgencies(s, 'c1', 'c2', 'c3')).toEqual([2, 2, 2]);
  s.add('urgent', { after: ['c3'], priority: 'critical', deadline: at(5_000) });
  expect(urgencies(s, 'c1', 'c2', 'c3')).toEqual([0, 0, 0]);
  expect(s.task('c1').deadline).toBe(SIM_START + 5_000);
  expect(s.task('c1').level).toBe(4);
  s.add('equal', { priority: 'critical', deadline: at(6_000) });
  expect(s.drain()).toEqual(['c1', 'c2', 'c3', 'urgent', 'equal', 'other']);
});

test('C5.2 the need ends when the urgent task is cancelled, fails, lowers its level or no longer waits', () => {
  const endings: Record<string, (s: Sim) => void> = {
    cancelled: (s) => {
      s.cancel('urgent');
    },
    failed: (s) => {
      s.cancel('other');
    },
    lowered: (s) => {
      setPriority(s, 'urgent', 3);
    },
    unlinked: (s) => {
      s.send({ kind: 'removeDependency', task: 'urgent', dependency: 'b' });
    },
    expired: (s) => {
      s.advance(1_000);
    },
  };
  for (const [name, end] of Object.entries(endings)) {
    const s = sim();
    s.add('other', { priority: 'low' });
    s.add('a', { priority: 'idle' });
    s.add('b', { priority: 'low', after: ['a'] });
    s.add('urgent', {
      priority: 'critical',
      after: ['b', 'other'],
      ...(name === 'expired' ? { expires: at(1_000) } : { deadline: at(9_000) }),
    });
    expect(urgencies(s, 'a', 'b'), name).toEqual([0, 0]);
    end(s);
    expect(urgencies(s, 'a', 'b'), name).toEqual([3, 3]);
    // A level that was lowered still leaves the need, and so the deadline.
    expect(s.task('a').deadline, name).toBe(name === 'lowered' ? SIM_START + 9_000 : Infinity);
  }
});

test('C5.2 what another task still needs is not lost, whatever else changes', () => {
  const s = sim();
  s.add('shared', { priority: 'idle' });
  s.add('a', { after: ['shared'], priority: 'high', deadline: at(3_000) });
  s.add('b', { after: ['shared'], priority: 'critical', deadline: at(8_000) });
  expect([s.task('shared').urgency, s.task('shared').deadline]).toEqual([0, SIM_START + 3_000]);
  s.cancel('b');
  expect([s.task('shared').urgency, s.task('shared').deadline]).toEqual([1, SIM_START + 3_000]);
  // Its own level does not hide what it inherits, nor is it forgotten.
  setPriority(s, 'shared', 3);
  expect(s.task('shared').urgency).toBe(1);
  setPriority(s, 'shared', -1);
  expect(s.task('shared').urgency).toBe(-1);
  setPriority(s, 'shared', 4);
  expect(s.task('shared').urgency).toBe(1);
  // An edge added later gives at once.
  s.add('c', { priority: 0.5 });
  s.send({ kind: 'addDependency', task: 'c', dependency: 'shared', onFailure: 'fail' });
  expect(s.task('shared').urgency).toBe(0.5);
  s.cancel('a');
  expect([s.task('shared').urgency, s.task('shared').deadline]).toEqual([0.5, Infinity]);
});

test('C5.2 raising a level again reaches all that is below, also through a diamond', () => {
  const s = sim();
  s.add('base', { priority: 9 });
  s.add('left', { priority: 9, after: ['base'] });
  s.add('right', { priority: 7, after: ['base'] });
  s.add('top', { priority: 8, after: ['left', 'right'] });
  expect(urgencies(s, 'base', 'left', 'right')).toEqual([7, 8, 7]);
  setPriority(s, 'top', 1);
  expect(urgencies(s, 'base', 'left', 'right')).toEqual([1, 1, 1]);
  setPriority(s, 'top', 20);
  expect(urgencies(s, 'base', 'left', 'right')).toEqual([7, 9, 7]);
});

test('C5.2 a boost is not inherited', () => {
  const s = sim();
  s.add('running');
  s.claim();
  s.add('old', { priority: 5 });
  s.advance(40_000);
  // By now old counts as level 1. What it comes to wait for inherits its level, 5, and not its boost.
  s.add('needed', { priority: 9 });
  s.add('rival', { priority: 4 });
  s.send({ kind: 'addDependency', task: 'old', dependency: 'needed', onFailure: 'fail' });
  expect(s.task('needed').urgency).toBe(5);
  expect(s.claim()).toEqual(['rival']);
});

test('C5.2 a start is charged to the channel of the task that starts, not to the one that lent its urgency', () => {
  const s = sim({ strategy: 'fair' });
  s.add('a1', { channel: 'A', priority: 'low' });
  s.add('z1', { channel: 'Z', priority: 'high', after: ['a1'] });
  s.add('a2', { channel: 'A', priority: 'high' });
  s.add('b1', { channel: 'B', priority: 'high' });
  // a1 counts as high; A has had its turn at that level then, and B is next, then A again.
  expect(s.claim(3)).toEqual(['a1', 'b1', 'a2']);
});

test('C5.3 a change visits only tasks whose value changes, and their neighbours', () => {
  let visits = 0;
  class Counted extends Dependencies {
    override eachUnfinishedDependency(task: Task, visit: (dependency: Task) => void): void {
      super.eachUnfinishedDependency(task, (dependency) => {
        visits += 1;
        visit(dependency);
      });
    }

    // Whoever goes through all dependants comes through here as well.
    override findUnfinishedDependant(task: Task, accepts: (dependant: Task) => boolean): Task | undefined {
      return super.findUnfinishedDependant(task, (dependant) => {
        visits += 1;
        return accepts(dependant);
      });
    }
  }
  const dependencies = new Counted();
  const changed: Task[] = [];
  const inheritance = new Inheritance(
    dependencies,
    (task) => changed.push(task),
    () => undefined,
  );
  let sequence = 0;
  const add = (priority: number, after: readonly Task[]): Task => {
    sequence += 1;
    const task = new Task(sequence, parseTaskOptions({ priority }, ''), undefined, 0);
    dependencies.attach(
      task,
      after.map((each) => ({ task: each, onFailure: 'fail' as const })),
    );
    inheritance.spread(task);
    return task;
  };
  // A thousand tasks in a row, of which only the last three are less urgent than what comes to wait for them.
  let tail = add(0, []);
  for (let i = 0; i < 996; i += 1) tail = add(0, [tail]);
  for (let i = 0; i < 3; i += 1) tail = add(5, [tail]);
  visits = 0;
  changed.length = 0;
  const urgent = add(1, [tail]);
  expect(changed.map((task) => task.sequence).toSorted((x, y) => x - y)).toEqual([998, 999, 1_000]);
  expect(visits).toBeLessThanOrEqual(8);
  visits = 0;
  changed.length = 0;
  urgent.state = 'cancelled';
  inheritance.withdraw(urgent, tail);
  expect(changed.map((task) => task.sequence).toSorted((x, y) => x - y)).toEqual([998, 999, 1_000]);
  expect(visits).toBeLessThanOrEqual(12);
});
