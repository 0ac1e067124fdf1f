import { describe, expect, test } from 'vitest';
import { DroppedError, InvalidConfigError, SaturatedError } from '../../src/index.js';
import { parseTaskOptions } from '../../src/model/index.js';
import { sim, type PressureSettings, type Sim } from '../../src/testing/index.js';

function bounded(pressure: Partial<PressureSettings>): Sim {
  const s = sim();
  s.send({ kind: 'setPressure', pressure });
  return s;
}

function pendingIn(s: Sim): string[] {
  return s.core
    .pending()
    .map(({ id }) => id)
    .sort();
}

function water(s: Sim): string[] {
  return s.facts.flatMap((fact) =>
    fact.kind === 'pending.saturated' || fact.kind === 'pending.relieved' ? [`${fact.kind} ${fact.pending}`] : [],
  );
}

function spec(id: string) {
  return { spec: parseTaskOptions({ id }, ''), payload: undefined, after: [] };
}

describe('the bound on pending tasks', () => {
  test('C8.1 reject: a task above the bound is refused with what is pending and the bound, and changes nothing', () => {
    const s = bounded({ maxPending: 2, whenFull: 'reject' });
    s.add('a');
    s.add('b');
    const before = JSON.stringify(s.core.snapshot());
    expect(() => s.add('c')).toThrow(SaturatedError);
    expect(() => s.add('c')).toThrow(expect.objectContaining({ pending: 2, maxPending: 2, adding: 1 }));
    expect(JSON.stringify(s.core.snapshot())).toBe(before);
  });

  test('C8.1 waiting, delayed, ready, in backoff and held in a pause all count; running and ended ones do not', () => {
    const s = bounded({ maxPending: 5, whenFull: 'reject' });
    s.add('fails', { retry: { attempts: 2, backoff: 'fixed', base: 1_000 } });
    s.add('runs');
    s.claim(2);
    s.fail('fails');
    s.add('waiting', { after: ['runs'] });
    s.add('delayed', { delay: 1_000 });
    s.send({ kind: 'pauseChannel', channel: 'p' });
    s.add('held', { channel: 'p' });
    s.add('ready');
    expect(() => s.add('more')).toThrow(SaturatedError);
    s.cancel('ready');
    s.add('more');
    expect(() => s.add('evenMore')).toThrow(SaturatedError);
  });

  test('C8.1 drop-oldest: what was submitted first makes room, settles with DroppedError, and its dependants follow their policy', () => {
    const s = bounded({ maxPending: 4, whenFull: 'drop-oldest' });
    s.add('old', { priority: 'critical' });
    s.add('fails', { after: ['old'] });
    s.add('skips', { after: [{ task: 'old', onFailure: 'skip' }] });
    s.add('runs', { after: [{ task: 'old', onFailure: 'run' }] });
    s.add('new', { priority: 'idle' });
    expect(s.state('old')).toBe('cancelled');
    expect(s.task('old').extra?.error).toEqual(DroppedError.record({ taskId: 'old', policy: 'drop-oldest' }));
    expect(['fails', 'skips', 'runs', 'new'].map((id) => s.state(id))).toEqual(['failed', 'skipped', 'ready', 'ready']);
  });

  test('C8.1 drop-oldest: a running task is never dropped, and one that comes back is the oldest again', () => {
    const s = bounded({ maxPending: 2, whenFull: 'drop-oldest' });
    s.add('first', { retry: 2 });
    s.claim();
    s.add('second');
    s.add('third');
    s.add('fourth');
    expect(pendingIn(s)).toEqual(['fourth', 'third']);
    s.fail('first');
    // It was in already: it comes back above the bound, and the next one makes room for itself only.
    expect(pendingIn(s)).toEqual(['first', 'fourth', 'third']);
    s.add('fifth');
    expect(pendingIn(s)).toEqual(['fifth', 'fourth', 'third']);
  });

  test('C8.1 drop-lowest: the highest level goes first, then the latest deadline, then the last in FIFO order', () => {
    const s = bounded({ maxPending: 5, whenFull: 'drop-lowest' });
    const soon = new Date(s.now.wall + 1_000);
    s.add('low', { priority: 'low' });
    s.add('due', { priority: 'low', deadline: soon });
    s.add('later', { priority: 'low' });
    s.add('normal');
    s.add('idle', { priority: 'idle' });
    const dropped: string[] = [];
    for (let i = 0; i < 4; i += 1) {
      const before = pendingIn(s);
      s.add(`high${i}`, { priority: 'high' });
      dropped.push(...before.filter((id) => s.state(id) === 'cancelled'));
    }
    expect(dropped).toEqual(['idle', 'later', 'low', 'due']);
    expect(s.task('low').extra?.error?.code).toBe('DROPPED');
  });

  test('C8.1 drop-lowest: a newcomer that is the least urgent itself is refused, and nobody is dropped', () => {
    const s = bounded({ maxPending: 2, whenFull: 'drop-lowest' });
    s.add('a');
    s.add('b');
    expect(() => s.add('c')).toThrow(SaturatedError);
    expect(() => s.add('c', { priority: 'low' })).toThrow(SaturatedError);
    s.add('d', { priority: 'high' });
    expect(pendingIn(s)).toEqual(['a', 'd']);
  });

  test('C8.1 drop-lowest: what a more urgent task waits for is as urgent as that one', () => {
    const s = bounded({ maxPending: 3, whenFull: 'drop-lowest' });
    s.add('needed', { priority: 'idle' });
    s.add('waits', { priority: 'high', after: ['needed'] });
    s.add('other');
    s.add('urgent', { priority: 'high' });
    expect(pendingIn(s)).toEqual(['needed', 'urgent', 'waits']);
    s.send({ kind: 'setPriority', task: 'waits', level: 9 });
    s.add('again', { priority: 'high' });
    expect(pendingIn(s)).toEqual(['again', 'needed', 'urgent']);
  });

  test('C8.1 drop-lowest: a newcomer that only its own dependency could make room for is dropped itself', () => {
    const s = bounded({ maxPending: 1, whenFull: 'drop-lowest' });
    s.add('needed', { priority: 'idle' });
    s.add('waits', { priority: 'high', after: ['needed'] });
    expect(s.state('waits')).toBe('cancelled');
    expect(s.task('waits').extra?.error?.code).toBe('DROPPED');
    expect(pendingIn(s)).toEqual(['needed']);
  });

  test('C8.2 a batch is let in whole or refused whole, and one above the bound always', () => {
    const s = bounded({ maxPending: 3, whenFull: 'reject' });
    s.add('a');
    expect(() => s.send({ kind: 'submitAll', tasks: ['b', 'c', 'd'].map(spec) })).toThrow(SaturatedError);
    expect(pendingIn(s)).toEqual(['a']);
    s.send({ kind: 'submitAll', tasks: ['b', 'c'].map(spec) });
    expect(pendingIn(s)).toEqual(['a', 'b', 'c']);
    for (const whenFull of ['wait', 'drop-oldest', 'drop-lowest'] as const) {
      s.send({ kind: 'setPressure', pressure: { maxPending: 3, whenFull } });
      expect(() => s.send({ kind: 'submitAll', tasks: ['1', '2', '3', '4'].map(spec) })).toThrow(/batch of 4/);
    }
    expect(pendingIn(s)).toEqual(['a', 'b', 'c']);
  });

  test('C8.2 a batch that others make room for comes in whole; one of its own among the least urgent refuses it whole', () => {
    const s = bounded({ maxPending: 3, whenFull: 'drop-lowest' });
    for (const id of ['a', 'b', 'c']) s.add(id);
    const batch = (...levels: number[]) =>
      levels.map((priority, i) => ({
        spec: parseTaskOptions({ id: `n${i}`, priority }, ''),
        payload: undefined,
        after: [],
      }));
    expect(() => s.send({ kind: 'submitAll', tasks: batch(0, 3) })).toThrow(SaturatedError);
    expect(pendingIn(s)).toEqual(['a', 'b', 'c']);
    s.send({ kind: 'submitAll', tasks: batch(0, 1) });
    expect(pendingIn(s)).toEqual(['a', 'n0', 'n1']);
  });

  test.each(['reject', 'drop-oldest', 'drop-lowest'] as const)(
    'C8.2 %s: a child of a running task is let in above the bound, and nobody is dropped for it',
    (whenFull) => {
      const s = bounded({ maxPending: 1, whenFull });
      s.add('a');
      s.send({ kind: 'submit', spec: parseTaskOptions({ id: 'child' }, ''), origin: 'child' });
      s.send({ kind: 'submitAll', tasks: ['x', 'y'].map(spec), origin: 'child' });
      expect(pendingIn(s)).toEqual(['a', 'child', 'x', 'y']);
    },
  );

  test('C8.1 reaching the bound is told once, and again only after the low mark was', () => {
    const s = bounded({ maxPending: 4, whenFull: 'reject', lowWater: 1 });
    for (const id of ['a', 'b', 'c', 'd']) s.add(id);
    s.cancel('a');
    s.add('e');
    expect(water(s)).toEqual(['pending.saturated 4']);
    s.claim(2);
    expect(water(s)).toEqual(['pending.saturated 4']);
    s.claim(1);
    expect(water(s)).toEqual(['pending.saturated 4', 'pending.relieved 1']);
    s.send({ kind: 'setPressure', pressure: { maxPending: 1, whenFull: 'reject' } });
    expect(water(s).at(-1)).toBe('pending.saturated 1');
    s.send({ kind: 'setPressure', pressure: {} });
    expect(water(s).at(-1)).toBe('pending.relieved 1');
  });

  test.each([
    ['maxPending', { maxPending: 0 }],
    ['maxPending', { maxPending: 1.5 }],
    ['whenFull', { maxPending: 5, whenFull: 'explode' as 'wait' }],
    ['lowWater', { maxPending: 5, lowWater: 5 }],
  ])('C8.1 a bound with a wrong %s is refused', (field, pressure) => {
    const s = sim();
    expect(() => s.send({ kind: 'setPressure', pressure })).toThrow(InvalidConfigError);
    expect(() => s.send({ kind: 'setPressure', pressure })).toThrow(expect.objectContaining({ field }));
  });
});
