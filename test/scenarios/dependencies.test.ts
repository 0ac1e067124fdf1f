import { expect, test } from 'vitest';
import { topologicalOrder } from '../../src/core/index.js';
import { CycleError, UnknownDependencyError } from '../../src/model/index.js';
import { sim, type Sim } from '../../src/testing/index.js';

/** What a refused command must leave as it was. */
function picture(s: Sim): unknown {
  const { table, index, dependencies, pending } = s.core.state;
  return {
    tasks: [...table.all()].map(({ id, state, urgency, sequence }) => ({ id, state, urgency, sequence })),
    next: table.next,
    ready: index.size,
    pending,
    nodes: dependencies.graph.size,
    edges: dependencies.graph.edgeCount,
  };
}

function refused(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was refused.');
}

function dependOn(s: Sim, task: string, dependency: string, onFailure: 'fail' | 'skip' | 'run' = 'fail'): void {
  s.send({ kind: 'addDependency', task, dependency, onFailure });
}

test('C1.1 a task that names an unknown one is refused, and nothing of it stays', () => {
  const s = sim();
  s.add('known');
  const before = picture(s);
  const error = refused(() => s.add('report', { after: ['known', 'fetch-7'] }));
  expect(error).toBeInstanceOf(UnknownDependencyError);
  expect(error).toMatchObject({ taskId: 'report', dependencyId: 'fetch-7' });
  expect(picture(s)).toEqual(before);
  expect(s.drain()).toEqual(['known']);
});

test('C1.1 row 24 a task cannot wait for itself, neither alone nor in a batch nor by an added edge', () => {
  const s = sim();
  s.add('a');
  const before = picture(s);
  expect(refused(() => s.add('b', { after: ['b'] }))).toMatchObject({ code: 'CYCLE', path: ['b', 'b'] });
  expect(
    refused(() => {
      s.addAll({ b: { after: ['b'] } });
    }),
  ).toMatchObject({ code: 'CYCLE', path: ['b', 'b'] });
  expect(
    refused(() => {
      dependOn(s, 'a', 'a');
    }),
  ).toMatchObject({ code: 'CYCLE', path: ['a', 'a'] });
  expect(picture(s)).toEqual(before);
  expect(s.drain()).toEqual(['a']);
});

test('C1.1 row 24 an edge that closes a cycle is refused with its path, each task before the one it waits for', () => {
  const s = sim();
  s.add('a');
  s.add('b', { after: ['a'] });
  s.add('c', { after: ['b'] });
  s.add('aside', { after: ['a'] });
  const before = picture(s);
  const error = refused(() => {
    dependOn(s, 'a', 'c');
  }) as CycleError;
  expect(error).toBeInstanceOf(CycleError);
  // Each one waits for the next: a would wait for c, which waits for b, which waits for a.
  expect(error.path).toEqual(['a', 'c', 'b', 'a']);
  expect(picture(s)).toEqual(before);
  expect(s.drain()).toEqual(['a', 'b', 'c', 'aside']);
});

test('C1.2 row 24 a cycle inside a batch refuses all of it, with the path', () => {
  const s = sim();
  s.add('root');
  const before = picture(s);
  const error = refused(() => {
    s.addAll({
      innocent: {},
      x: { after: ['root', 'z'] },
      y: { after: ['x'] },
      z: { after: ['y'] },
    });
  }) as CycleError;
  expect(error).toBeInstanceOf(CycleError);
  const steps = error.path.slice(1).map((id, i) => `${error.path[i] ?? ''}>${id}`);
  expect(steps.toSorted()).toEqual(['x>z', 'y>x', 'z>y']);
  expect(picture(s)).toEqual(before);
});

test('C1.2 one bad entry refuses the whole batch: unknown dependency, taken id, the same id twice, too large a need', () => {
  const s = sim();
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
  s.add('taken');
  const before = picture(s);
  const batches = {
    UNKNOWN_DEPENDENCY: { good: {}, bad: { after: ['nobody'] } },
    DUPLICATE_TASK: { good: {}, taken: {} },
    UNSCHEDULABLE: { good: {}, bad: { needs: { gpu: 3 } } },
  };
  for (const [code, batch] of Object.entries(batches)) {
    expect(
      refused(() => {
        s.addAll(batch);
      }),
    ).toMatchObject({ code });
    expect(picture(s)).toEqual(before);
  }
});

test('C1.2 entries of a batch may depend on later ones and on tasks outside, and keep their order of submission', () => {
  const s = sim();
  s.add('outside');
  s.addAll({ last: { after: ['middle', 'outside'] }, middle: { after: ['first'] }, first: {} });
  expect(s.task('last').sequence).toBeLessThan(s.task('first').sequence);
  expect(s.drain()).toEqual(['outside', 'first', 'middle', 'last']);
});

test('C2.1 the topological order names every unfinished task after all it waits for, otherwise as submitted', () => {
  const s = sim();
  s.addAll({ publish: { after: ['render', 'review'] }, review: { after: ['write'] }, write: {}, render: {} });
  s.add('alone');
  s.add('done');
  s.send({ kind: 'cancel', task: 'done' });
  const names = () => topologicalOrder(s.core.state).map((task) => task.id);
  expect(names()).toEqual(['write', 'review', 'render', 'publish', 'alone']);
  // An edge against the order of submission moves only what it must.
  dependOn(s, 'write', 'alone');
  expect(names()).toEqual(['render', 'alone', 'write', 'review', 'publish']);
});

test('C2.2 a task becomes ready in the very step that finishes its last dependency', () => {
  const s = sim();
  s.addAll({ a: {}, b: {}, both: { after: ['a', 'b'] } });
  s.claim(2);
  s.complete('b');
  expect(s.state('both')).toBe('waiting');
  const from = s.facts.length;
  s.complete('a');
  expect(s.facts.slice(from).map((fact) => fact.kind)).toEqual(['attempt.ended', 'task.completed', 'task.ready']);
  expect(s.claim()).toEqual(['both']);
});

test('C2.2 an edge sends a ready task back to waiting, and its removal lets it go on with the age it had', () => {
  const s = sim();
  s.add('late');
  s.add('task');
  s.advance(7_000);
  dependOn(s, 'task', 'late');
  expect(s.state('task')).toBe('waiting');
  s.advance(5_000);
  s.send({ kind: 'removeDependency', task: 'task', dependency: 'late' });
  expect(s.state('task')).toBe('ready');
  // 7 s ready, 5 s waiting: at 12 s it counts as ready since 5 s.
  expect(s.task('task').ready).toBe(5_000);
});

test('C2.2 a delayed task can be given a dependency, and then waits for both gates', () => {
  const s = sim({ slots: 1 });
  s.add('dependency', { delay: 300 });
  s.add('task', { delay: 100 });
  dependOn(s, 'task', 'dependency');
  s.advance(200);
  expect(s.state('task')).toBe('waiting');
  s.advance(100);
  s.complete('dependency#1');
  expect(s.running()).toEqual(['task#1']);

  s.add('slow', { after: ['task'], delay: 1_000 });
  s.complete('task#1');
  expect(s.state('slow')).toBe('delayed');
  s.advance(1_000);
  expect(s.running()).toEqual(['slow#1']);
});

test('C2.2 edges of a task that runs or has ended cannot change', () => {
  const s = sim({ slots: 1 });
  s.add('runs');
  s.add('other');
  const before = picture(s);
  expect(
    refused(() => {
      dependOn(s, 'runs', 'other');
    }),
  ).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  expect(picture(s)).toEqual(before);
  expect(refused(() => s.send({ kind: 'removeDependency', task: 'other', dependency: 'runs' }))).toMatchObject({
    code: 'UNKNOWN_DEPENDENCY',
  });
  s.complete('runs#1');
  expect(
    refused(() => {
      dependOn(s, 'runs', 'other');
    }),
  ).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
});

test('C2.2 a dependency named twice is one dependency: removed once, it is gone', () => {
  const s = sim();
  s.add('a');
  s.add('b', { after: ['a', 'a'] });
  s.send({ kind: 'removeDependency', task: 'b', dependency: 'a' });
  expect(s.state('b')).toBe('ready');
  s.add('c', { after: ['a', 'a'] });
  s.claim(1);
  s.complete('a');
  expect(s.state('c')).toBe('ready');
});

test.each(['failed', 'cancelled', 'skipped'] as const)(
  'C3.1 after a dependency that was %s: fail is the default, skip leaves out, run goes on',
  (how) => {
    const s = sim({ slots: 2 });
    s.add('root');
    const dependency = how === 'skipped' ? 'left-out' : 'root';
    if (how === 'skipped') s.add('left-out', { after: [{ task: 'root', onFailure: 'skip' }] });
    s.add('fails', { after: [dependency] });
    s.add('skips', { after: [{ task: dependency, onFailure: 'skip' }] });
    s.add('runs', { after: [{ task: dependency, onFailure: 'run' }] });
    s.add('skips-all', { after: [dependency], onDependencyFailure: 'skip' });
    if (how === 'cancelled') s.cancel('root');
    else s.fail('root#1');
    expect(s.state(dependency)).toBe(how);
    expect(s.state('fails')).toBe('failed');
    expect(s.task('fails').extra?.error).toMatchObject({ code: 'DEPENDENCY_FAILED' });
    expect(s.task('fails').extra?.error?.message).toContain(`"${dependency}"`);
    expect(s.state('skips')).toBe('skipped');
    expect(s.state('skips-all')).toBe('skipped');
    expect(s.state('runs')).toBe('running');
  },
);

test('C3.1 the policies of mixed edges: a met one does not save a task from a failed one', () => {
  const s = sim({ slots: 2 });
  s.addAll({ good: {}, bad: {} });
  s.add('both', { after: [{ task: 'bad', onFailure: 'run' }, 'good'] });
  s.add('strict', { after: [{ task: 'good', onFailure: 'run' }, 'bad'] });
  s.fail('bad#1');
  expect(s.state('both')).toBe('waiting');
  expect(s.state('strict')).toBe('failed');
  s.complete('good#1');
  expect(s.running()).toEqual(['both#1']);
});

test('C3.1 row 25 a dependency that has ended already decides at once', () => {
  const s = sim({ slots: 1 });
  s.add('bad');
  s.fail('bad#1');
  s.add('good');
  s.complete('good#1');
  expect(s.add('a', { after: ['bad'] }).state).toBe('failed');
  expect(s.add('b', { after: [{ task: 'bad', onFailure: 'skip' }] }).state).toBe('skipped');
  expect(s.add('c', { after: [{ task: 'bad', onFailure: 'run' }, 'good'] }).state).toBe('running');
  s.add('d');
  dependOn(s, 'd', 'good');
  expect(s.state('d')).toBe('ready');
  dependOn(s, 'd', 'bad');
  expect(s.state('d')).toBe('failed');
});

test('C3.2 G9 a failure runs through a whole graph, so that nobody is left waiting for what will never be', () => {
  const s = sim({ slots: 1 });
  s.add('root');
  for (let i = 0; i < 50; i += 1) {
    const after = i === 0 ? ['root'] : [`n${String(i - 1)}`, 'root'];
    s.add(`n${String(i)}`, { after, onDependencyFailure: i % 7 === 3 ? 'skip' : 'fail' });
  }
  s.add('survivor', { after: [{ task: 'n49', onFailure: 'run' }] });
  s.fail('root#1');
  const unfinished = [...s.core.state.table.all()].filter((task) => ['waiting', 'delayed'].includes(task.state));
  expect(unfinished).toEqual([]);
  expect(s.running()).toEqual(['survivor#1']);
  expect(s.core.state.pending).toBe(1);
});

test('C3.2 a dependency that is run again by hand is not waited for by those that went on without it', () => {
  const s = sim({ slots: 1 });
  s.add('flaky');
  s.add('waits', { after: [{ task: 'flaky', onFailure: 'run' }], delay: 50, priority: 'critical' });
  s.fail('flaky#1');
  s.add('late', { after: [{ task: 'flaky', onFailure: 'run' }], delay: 60 });
  expect(s.state('waits')).toBe('delayed');
  s.send({ kind: 'retry', task: 'flaky' });
  expect(s.running()).toEqual(['flaky#2']);
  // Neither does its urgency outlive the need, nor does its second end count for anybody.
  expect(s.task('flaky').urgency).toBe(2);
  s.send({ kind: 'removeDependency', task: 'waits', dependency: 'flaky' });
  s.complete('flaky#2');
  s.add('next', { after: ['waits', 'late'] });
  expect([s.state('waits'), s.state('late'), s.state('next')]).toEqual(['delayed', 'delayed', 'waiting']);
  s.advance(60);
  s.complete('waits#1');
  s.complete('late#1');
  expect(s.running()).toEqual(['next#1']);
});

test('C4 a dependant finds the results of its dependencies in the order in which it named them', () => {
  const s = sim({ slots: 3 });
  s.addAll({ a: {}, b: {}, c: {} });
  s.add('sum', { after: ['c', 'a', 'b'] });
  s.complete('b#1', 2);
  s.complete('a#1', 1);
  s.complete('c#1', 3);
  const results = s.core.state.dependencies.of(s.task('sum')).map(({ task }) => [task.id, task.value]);
  expect(results).toEqual([
    ['c', 3],
    ['a', 1],
    ['b', 2],
  ]);
});

test('C4 F5.1 a result stays beyond retention while somebody needs it, and goes when nobody does', () => {
  const s = sim({ slots: 1, retain: { count: 1, ageMs: 1_000 } });
  s.add('a');
  s.add('b');
  s.add('needs-both', { after: ['a', 'b'] });
  s.add('needs-a', { after: ['a'], delay: 5_000 });
  s.complete('a#1', 'from a');
  s.complete('b#1', 'from b');
  s.advance(3_000);
  expect(s.task('a').value).toBe('from a');
  expect(s.core.state.dependencies.of(s.task('needs-both')).map(({ task }) => task.value)).toEqual([
    'from a',
    'from b',
  ]);
  s.complete('needs-both#1');
  expect(s.core.state.table.byId('b')).toBeUndefined();
  expect(s.task('a').value).toBe('from a');
  // The last need may also end by taking the edge away.
  s.send({ kind: 'removeDependency', task: 'needs-a', dependency: 'a' });
  expect(s.core.state.table.byId('a')).toBeUndefined();
  expect(s.core.state.table.tombstone('a')).toBe('completed');
});
