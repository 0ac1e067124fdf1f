import { expect, test } from 'vitest';
import { parseTaskOptions } from '../../src/model/index.js';
import { Core, sim, type Fact, type Sim } from '../../src/testing/index.js';

/** Adds a task as the child of another. */
function addChild(s: Sim, id: string, parent: string, after: readonly string[] = []): void {
  s.send({ kind: 'submit', spec: parseTaskOptions({ id }, ''), after, parent });
}

/** A family of three generations, of which the first two run. */
function family(): Sim {
  const s = sim();
  s.add('parent');
  s.claim();
  addChild(s, 'child', 'parent');
  s.claim();
  addChild(s, 'grandchild', 'child');
  addChild(s, 'waiting', 'parent', ['grandchild']);
  s.add('stranger', { after: ['child'] });
  return s;
}

const states = (s: Sim, ...ids: string[]): string[] => ids.map((id) => s.core.state.table.byId(id)?.state ?? 'gone');

test('F4.3 cancelling a parent cancels its unfinished children, and theirs, and says why', () => {
  const s = family();
  s.cancel('parent', 'enough');
  expect(states(s, 'parent', 'child', 'grandchild', 'waiting')).toEqual(Array.from({ length: 4 }, () => 'cancelled'));
  expect(s.core.state.table.byId('child')?.extra?.error?.message).toContain('its parent parent was cancelled');
  expect(s.core.state.table.byId('grandchild')?.extra?.error?.message).toContain('its parent child was cancelled');
  expect(states(s, 'stranger')).toEqual(['failed']);
  s.core.check();
});

test('F4.3 those that have ended are left alone, and a parent that ended otherwise takes nobody along', () => {
  const s = family();
  s.complete('child#1');
  s.complete('parent#1');
  expect(states(s, 'grandchild', 'waiting')).toEqual(['ready', 'waiting']);
  const other = family();
  other.fail('child#1', new Error('no'), false);
  other.cancel('parent');
  expect(states(other, 'child', 'grandchild')).toEqual(['failed', 'ready']);
  other.core.check();
});

test('F4.3 a child of a cancelled parent is refused; one of a parent that has ended otherwise is on its own', () => {
  const s = family();
  s.complete('child#1');
  addChild(s, 'late', 'child');
  s.cancel('parent');
  expect(states(s, 'late')).toEqual(['ready']);
  const before = s.core.snapshot();
  expect(() => {
    addChild(s, 'too late', 'parent');
  }).toThrow(expect.objectContaining({ code: 'CANCELLED', taskId: 'too late' }));
  expect(s.core.snapshot()).toEqual(before);
  expect(() => {
    addChild(s, 'orphan', 'nobody');
  }).toThrow(expect.objectContaining({ code: 'UNKNOWN_TASK' }));
});

test('F4.3 who belongs to whom survives a snapshot, and a replay of the facts', () => {
  const s = family();
  const restored = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as ReturnType<Core['snapshot']>);
  const replayed = new Core({ origin: s.core.state.origin });
  for (const fact of s.facts) replayed.apply(JSON.parse(JSON.stringify(fact)) as Fact);
  for (const core of [s.core, restored, replayed]) {
    core.check();
    const facts = core.handle({ kind: 'cancel', now: s.core.state.now, task: 'parent' });
    const cancelled = facts.flatMap((fact) => (fact.kind === 'task.cancelled' ? [fact.task] : []));
    expect(cancelled).toEqual(['parent', 'child', 'waiting', 'grandchild']);
    core.check();
  }
});

test('F4.3 a failed child that is run again by hand belongs to its parent as before', () => {
  const s = family();
  s.fail('child#1', new Error('no'), false);
  s.send({ kind: 'retry', task: 'child' });
  s.core.check();
  s.cancel('parent');
  expect(states(s, 'child')).toEqual(['cancelled']);
});

test('C8.2 a child of a running task is let in above the bound', () => {
  const s = sim({ pressure: { maxPending: 1, whenFull: 'reject', lowWater: 0 } });
  s.add('parent');
  s.claim();
  s.add('full');
  addChild(s, 'child', 'parent');
  expect(states(s, 'child')).toEqual(['ready']);
  expect(() => {
    s.add('beyond');
  }).toThrow(expect.objectContaining({ code: 'SATURATED' }));
});

test('cancelling with cascade takes back all that come after, through any number of steps, instead of failing them', () => {
  const s = sim();
  s.add('root');
  s.add('short', { after: ['root'] });
  s.add('long', { after: ['short'] });
  s.add('both', { after: ['root', 'long'] });
  s.add('beside');
  s.claim();
  s.send({ kind: 'cancel', task: 'root', cascade: true });
  expect(states(s, 'root', 'short', 'long', 'both', 'beside')).toEqual([
    ...Array.from({ length: 4 }, () => 'cancelled'),
    'ready',
  ]);
  expect(s.core.state.table.byId('both')?.extra?.error?.message).toContain('which it waits for, was cancelled');
  s.core.check();
});

test('several are taken back in one step: those that wait for each other are cancelled, not failed', () => {
  const s = sim();
  s.add('first');
  s.add('second', { after: ['first'] });
  s.add('third', { after: ['second'] });
  s.send({ kind: 'cancelAll', tasks: ['second', 'first'], closing: true });
  expect(states(s, 'first', 'second', 'third')).toEqual(['cancelled', 'cancelled', 'failed']);
  expect(s.core.state.table.byId('second')?.extra?.error).toMatchObject({ code: 'CLOSED' });
  s.core.check();
});

test('row 26 a hundred thousand generations are cancelled without a deep stack', () => {
  const s = sim({ check: false });
  s.add('g0');
  for (let i = 1; i < 100_000; i += 1) addChild(s, `g${i}`, `g${i - 1}`);
  s.cancel('g0');
  expect(states(s, 'g99999')).toEqual(['cancelled']);
});
