import { describe, expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { StaleLeaseError } from '../../src/model/index.js';
import { sim, type Sim, type SimOptions } from '../../src/testing/index.js';
import { throughJson } from '../core/commands.js';

/** Whoever runs works for so long and is then at a yield, so many times; who ran each time. */
function work(s: Sim, ms: number, times: number): string[] {
  return Array.from({ length: times }, () => {
    const [attempt = 'nobody'] = s.running();
    s.advance(ms);
    s.yield(attempt);
    return attempt;
  });
}

/** What the attempt of the task does at a yield now. */
function atYield(s: Sim, id: string): 'goOn' | 'giveWay' {
  const ways = (): number => s.facts.filter(({ kind }) => kind === 'attempt.gaveWay').length;
  const before = ways();
  s.yield(id);
  return ways() === before ? 'goOn' : 'giveWay';
}

function sliced(options: SimOptions = {}): Sim {
  return sim({ slots: 1, sliceMs: 50, ...options });
}

describe('time slices', () => {
  test('C11 three tasks take turns at their yields, each as the same attempt', () => {
    const s = sliced();
    for (const id of ['a', 'b', 'c']) s.add(id);
    expect(work(s, 50, 7)).toEqual(['a#1', 'b#1', 'c#1', 'a#1', 'b#1', 'c#1', 'a#1']);
    for (const id of ['a', 'b', 'c']) expect(s.task(id).attempts).toBe(1);
    s.complete('b');
    s.complete('c');
    s.complete('a');
    expect(['a', 'b', 'c'].map((id) => s.state(id))).toEqual(['completed', 'completed', 'completed']);
  });

  test('C11 an attempt goes on until its slice is used up, and counts anew when it is its turn again', () => {
    const s = sliced();
    s.add('a');
    s.add('b');
    expect(work(s, 20, 9)).toEqual(['a#1', 'a#1', 'a#1', 'b#1', 'b#1', 'b#1', 'a#1', 'a#1', 'a#1']);
  });

  test('C11 nobody gives way to a less urgent task, nor where nobody waits', () => {
    const s = sliced({ aging: { everyMs: Infinity, maxBoost: Infinity, maxWaitMs: Infinity } });
    s.add('a', { priority: 'high' });
    expect(work(s, 100, 2)).toEqual(['a#1', 'a#1']);
    s.add('low', { priority: 'low' });
    expect(work(s, 100, 2)).toEqual(['a#1', 'a#1']);
    s.add('urgent', { priority: 'critical' });
    expect(work(s, 100, 1)).toEqual(['a#1']);
    expect(s.running()).toEqual(['urgent#1']);
    s.complete('urgent');
    // It goes on in order, which is before the less urgent one.
    expect(s.running()).toEqual(['a#1']);
  });

  test('C11 what the attempt keeps is not handed back, so it does not give way to whoever lacks that', () => {
    const s = sliced();
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    s.add('a', { needs: { gpu: 1 } });
    s.add('b', { needs: { gpu: 1 } });
    expect(work(s, 100, 1)).toEqual(['a#1']);
    expect(s.running()).toEqual(['a#1']);
    s.add('c');
    expect(work(s, 100, 3)).toEqual(['a#1', 'c#1', 'a#1']);
    const t = sliced();
    t.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    for (const id of ['a', 'b']) t.add(id, { needs: { gpu: 1 }, yieldable: ['gpu'] });
    expect(work(t, 50, 3)).toEqual(['a#1', 'b#1', 'a#1']);
  });

  test('C11 C12.3 whoever keeps what a more urgent task lacks gives way to nobody who is less urgent than that one', () => {
    const holding = (yieldable: readonly string[]): Sim => {
      const s = sliced();
      s.send({ kind: 'setCapacity', resource: 'bus', units: 1 });
      s.add('a', { priority: 'low', needs: { bus: 1 }, yieldable });
      s.add('urgent', { priority: 'critical', needs: { bus: 1 } });
      s.add('normal');
      s.advance(100);
      return s;
    };
    const s = holding([]);
    expect(atYield(s, 'a')).toBe('goOn');
    s.add('as urgent', { priority: 'critical' });
    expect(atYield(s, 'a')).toBe('giveWay');
    s.complete('as urgent');
    expect(s.running()).toEqual(['a#1']);
    s.complete('a');
    expect(s.running()).toEqual(['urgent#1']);
    const t = holding(['bus']);
    expect([atYield(t, 'a'), t.running()]).toEqual(['giveWay', ['urgent#1']]);
  });

  test('C11 nobody gives way where a free slot will do', () => {
    const s = sim({ sliceMs: 50 });
    s.worker('w', { slots: 2, leaseMs: Infinity });
    s.add('a');
    s.claim(1, 'w');
    s.add('b');
    s.advance(60);
    s.yield('a');
    expect(s.running()).toEqual(['a#1']);
    expect(s.claim(1, 'w')).toEqual(['b']);
  });

  test('C11 the timeout stands still meanwhile, and no second turn is paid', () => {
    const s = sliced({ strategy: 'fair' });
    s.add('a', { timeout: 120, channel: 'A' });
    s.add('b', { channel: 'B' });
    expect(work(s, 50, 4)).toEqual(['a#1', 'b#1', 'a#1', 'b#1']);
    s.add('b2', { channel: 'B' });
    s.add('a2', { channel: 'A' });
    s.complete('a');
    s.complete('b');
    // Each channel has paid one turn, however often its task went on; by name it is A's turn.
    expect(s.running()).toEqual(['a2#1']);
    const t = sliced();
    t.add('a', { timeout: 120 });
    t.add('b');
    work(t, 60, 2);
    t.advance(59);
    expect(t.state('a')).toBe('running');
    t.advance(1);
    expect(t.state('a')).toBe('failed');
  });

  test('C11 an attempt that gave way can be cancelled, and one that no longer counts is told so at its yield', () => {
    const s = sliced();
    s.add('a');
    s.add('b');
    work(s, 50, 1);
    s.cancel('a');
    expect([s.state('a'), s.running()]).toEqual(['cancelled', ['b#1']]);
    s.cancel('b');
    expect(() => {
      s.yield('b#1');
    }).toThrow(StaleLeaseError);
  });

  test('C7.2 C11 under a reservation nobody gives way to whoever would take what is kept, and its holder is next', () => {
    const s = sim({ slots: 2, sliceMs: 50, maxBypasses: 1 });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    s.add('holder', { needs: { gpu: 1 } });
    s.add('large', { needs: { gpu: 2 } });
    s.add('a', { needs: { gpu: 1 } });
    expect([s.running(), s.core.state.preemption.rooms.reserved?.id]).toEqual([['holder#1', 'a#1'], 'large']);
    s.add('small', { needs: { gpu: 1 } });
    s.advance(100);
    expect(atYield(s, 'a')).toBe('goOn');
    s.complete('holder');
    // A slot and a unit are free, but kept: nobody could start in the place of the one at its yield.
    expect([s.running(), s.state('small')]).toEqual([['a#1'], 'ready']);
    expect(atYield(s, 'a')).toBe('goOn');
    s.complete('a');
    expect([s.running(), s.state('small')]).toEqual([['large#1'], 'ready']);
    s.complete('large');
    expect(s.running()).toEqual(['small#1']);
  });

  test('C10.3 C11 nobody gives way to whoever would take what is kept for one that others make way for', () => {
    const s = sim({ slots: 3, sliceMs: 50, preemption: { graceMs: 1_000, minRunMs: 0, maxPerTask: 3 } });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    s.add('victim', { needs: { gpu: 1 }, preemptible: true, priority: 'low' });
    s.add('sliced');
    s.add('urgent', { needs: { gpu: 2 }, priority: 'critical' });
    s.add('small', { needs: { gpu: 1 } });
    expect([s.running(), s.state('small')]).toEqual([['victim#1', 'sliced#1'], 'ready']);
    s.advance(100);
    expect(atYield(s, 'sliced')).toBe('goOn');
    s.complete('victim');
    expect([s.running(), s.state('small')]).toEqual([['sliced#1', 'urgent#1'], 'ready']);
  });

  test('C7.2 C11 one that gives way keeps its units, and the reservation lasts until they come free', () => {
    const s = sim({ slots: 2, sliceMs: 50, maxBypasses: 1 });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    s.add('holder', { needs: { gpu: 1 } });
    s.add('large', { needs: { gpu: 2 } });
    s.add('a', { needs: { gpu: 1 } });
    s.add('plain');
    s.add('small', { needs: { gpu: 1 } });
    s.advance(100);
    for (const [from, to] of ['a plain', 'plain a', 'a plain'].map((each) => each.split(' '))) {
      expect(atYield(s, from as string)).toBe('giveWay');
      expect(s.running()).toEqual(['holder#1', `${String(to)}#1`]);
      expect(s.core.state.preemption.rooms.reserved?.id).toBe('large');
      s.advance(50);
    }
    s.complete('holder');
    // A slot and a unit are free, and go to nobody but who has the other unit.
    expect(s.running()).toEqual(['a#1', 'plain#1']);
    s.complete('a');
    expect(s.running()).toEqual(['large#1', 'plain#1']);
  });

  test.each([
    ['the units it hands back', 'sharing', 'high', 'goOn'],
    ['the units it hands back', 'sharing', 'normal', 'giveWay'],
    ['its slot', 'plain', 'high', 'goOn'],
    ['its slot', 'plain', 'normal', 'giveWay'],
  ] as const)('C7.2 C11 if it lacks only %s, %s at %s lets the holder of a reservation in: %s', (_, id, level, way) => {
    const s = sim({ slots: 2, sliceMs: 50, maxBypasses: 1 });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
    s.add('sharing', { needs: { gpu: 1 }, yieldable: ['gpu'], priority: level });
    s.add('large', { needs: { gpu: 2 } });
    s.add('a', { needs: { gpu: 1 } });
    s.add('plain', { priority: level });
    s.complete('a');
    expect([...s.running()].sort()).toEqual(['plain#1', 'sharing#1']);
    expect(s.core.state.preemption.rooms.reserved?.id).toBe('large');
    if (id === 'plain') s.send({ kind: 'setCapacity', resource: 'gpu', units: 3 });
    s.advance(50);
    expect(atYield(s, id)).toBe(way);
    const other = id === 'plain' ? 'sharing#1' : 'plain#1';
    expect([...s.running()].sort()).toEqual((way === 'giveWay' ? ['large#1', other] : ['plain#1', 'sharing#1']).sort());
  });

  test('C11 F9 the same facts make the same state, and a snapshot in between changes nothing', () => {
    const s = sliced();
    for (const id of ['a', 'b', 'c']) s.add(id);
    work(s, 50, 4);
    const twin = sliced();
    for (const fact of s.facts.slice(twin.facts.length)) twin.core.apply(throughJson(fact));
    twin.core.check();
    expect(twin.core.snapshot()).toEqual(s.core.snapshot());
    s.core = Core.restore(throughJson(s.core.snapshot()));
    expect(work(s, 25, 4)).toEqual(['b#1', 'b#1', 'c#1', 'c#1']);
  });
});

describe('making way at a yield', () => {
  test('C10.1 C11 an attempt that was asked gives way at its yield and goes on from there as the same', () => {
    const s = sim({ slots: 1 });
    s.add('a', { priority: 'low', preemptible: true });
    s.advance(2_000);
    s.add('urgent', { priority: 'high' });
    s.advance(10);
    s.yield('a');
    expect(s.running()).toEqual(['urgent#1']);
    s.complete('urgent');
    expect(s.running()).toEqual(['a#1']);
    // It has done as it was asked, and can be asked again.
    s.advance(2_000);
    s.add('next', { priority: 'high' });
    expect(s.core.explain('a')).toMatchObject({ kind: 'running', stopBy: s.now.mono + 1_000 });
  });

  test('C10.1 C11 with what it would keep it has to stop', () => {
    const s = sim({ slots: 1 });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    s.add('a', { priority: 'low', preemptible: true, needs: { gpu: 1 } });
    s.advance(2_000);
    s.add('urgent', { priority: 'high', needs: { gpu: 1 } });
    const { attempt } = s.task('a');
    if (attempt === undefined) throw new Error('a does not run');
    expect(s.core.atYield(s.now, attempt)).toBe('stop');
    expect(s.running()).toEqual(['a#1']);
    s.send({ kind: 'release', task: 'a', token: attempt.token });
    expect(s.running()).toEqual(['urgent#1']);
  });
});

describe('a slot is not kept for whoever comes to lack tokens', () => {
  /** `a` has given way to `b`, which needs five tokens and is not claimed yet; `reporter` runs elsewhere. */
  function gaveWayTo(): Sim {
    const s = sim({ sliceMs: 10 });
    s.worker('w', { slots: 1, leaseMs: Infinity });
    s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: { rate: 10, perMs: 1_000, burst: 10 } });
    s.add('reporter', { needs: { api: 1 } });
    s.claim(1, 'elsewhere');
    s.add('a');
    s.claim(1, 'w');
    s.worker('elsewhere', { slots: 1 });
    s.add('b', { needs: { api: 5 } });
    s.advance(20);
    s.yield('a');
    expect(s.facts).toContainEqual(expect.objectContaining({ kind: 'room.kept', task: 'b', workerId: 'w' }));
    return s;
  }

  test('C11 with a burst that is lowered below what it needs', () => {
    const s = gaveWayTo();
    s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: { rate: 10, perMs: 1_000, burst: 1 } });
    expect(s.claim(1, 'w')).toEqual(['a']);
  });

  test('C11 after a cost that is higher than expected', () => {
    const s = gaveWayTo();
    s.send({ kind: 'report', task: 'reporter', token: { epoch: 1, attempt: 1 }, resource: 'api', cost: 8 });
    expect(s.claim(1, 'w')).toEqual(['a']);
  });

  test('C11 while the resource is to be left alone', () => {
    const s = gaveWayTo();
    const token = { epoch: 1, attempt: 1 };
    s.send({ kind: 'report', task: 'reporter', token, resource: 'api', retryAfterMs: 3_600_000 });
    expect(s.claim(1, 'w')).toEqual(['a']);
  });
});
