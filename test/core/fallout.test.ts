import { expect, test } from 'vitest';
import { sim } from '../../src/testing/index.js';

/** Six tasks that wait for one, linked against the order in which they came. */
function waiting(): ReturnType<typeof sim> {
  const s = sim({ slots: 1 });
  s.add('first');
  const policies = { a: 'fail', b: 'run', c: 'skip', d: 'run', e: 'fail', f: 'run' } as const;
  // Each is delayed at first, so that none is claimed before its edge is made.
  for (const id of Object.keys(policies)) s.add(id, { delay: '1h' });
  for (const [task, onFailure] of Object.entries(policies).reverse()) {
    s.send({ kind: 'addDependency', task, dependency: 'first', onFailure });
  }
  s.facts.length = 0;
  s.advance(3_600_000);
  return s;
}

function order(s: ReturnType<typeof sim>): string[] {
  const ends = new Set(['task.ready', 'task.failed', 'task.skipped']);
  return s.facts.flatMap((fact) =>
    ends.has(fact.kind) && 'task' in fact && fact.task !== 'first' ? [`${fact.kind.slice(5)} ${fact.task}`] : [],
  );
}

test('C3 an end lets its dependants through by sequence, however their edges came about', () => {
  const s = waiting();
  s.complete('first#1');
  expect(order(s)).toEqual(['ready a', 'ready b', 'ready c', 'ready d', 'ready e', 'ready f']);
});

test('C3 after a bad end those that go on come first, then those that end too, each by sequence', () => {
  const s = waiting();
  s.fail('first#1');
  expect(order(s)).toEqual(['ready b', 'ready d', 'ready f', 'failed a', 'skipped c', 'failed e']);
});
