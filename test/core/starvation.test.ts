import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { STRATEGY_NAMES, type StrategyName } from '../../src/ready/index.js';
import { sim, type Sim, type SimOptions } from '../../src/testing/index.js';
import { throughJson } from './commands.js';

const SERVICE_MS = 20;

interface Arrival {
  readonly gapMs: number;
  readonly level: number;
  readonly takesMs: number;
  readonly channel: string;
}

const arrivals = fc.array(
  fc.record({
    gapMs: fc.constantFrom(0, 0, 1, 5, 12),
    level: fc.integer({ min: -2, max: 5 }),
    takesMs: fc.integer({ min: 1, max: SERVICE_MS }),
    channel: fc.constantFrom('A', 'B'),
  }),
  { minLength: 10, maxLength: 120, size: 'max' },
);

/** Lets the tasks come, run for as long as they take, and end; all in virtual time, until nothing is left. */
function work(s: Sim, coming: readonly Arrival[], type = ''): void {
  const endsAt = new Map<string, number>();
  const takes = new Map(coming.map(({ takesMs }, i) => [`t${i}`, takesMs]));
  const pass = (ms: number): void => {
    for (let left = ms; left > 0; left -= 1) {
      s.advance(1);
      for (const name of s.running()) {
        const id = name.replace(/#.*/, '');
        if (!endsAt.has(id)) endsAt.set(id, s.now.mono - 1 + (takes.get(id) as number));
        if ((endsAt.get(id) as number) <= s.now.mono) s.complete(id);
      }
    }
  };
  for (const [i, { gapMs, level, channel }] of coming.entries()) {
    pass(gapMs);
    s.add(`t${i}`, { type, priority: level, channel });
  }
  while (s.core.state.pending > 0) pass(1);
}

function watched(options: SimOptions): Sim {
  return sim({ serviceMs: SERVICE_MS, check: false, ...options });
}

function starvedIn(s: Sim): string[] {
  return s.facts.flatMap((fact) => (fact.kind === 'task.starved' ? [fact.task] : []));
}

const aging = { everyMs: 30, maxBoost: Infinity, maxWaitMs: Infinity };

describe('the bound on waiting, with service times', () => {
  test.each(['fifo', 'priority', 'critical-path'] as const)(
    'C9.4 %s: nobody starves as long as attempts take no longer than was said',
    (strategy) => {
      let expected = 0;
      fc.assert(
        fc.property(arrivals, fc.integer({ min: 1, max: 3 }), (coming, slots) => {
          const s = watched({ strategy, aging, slots });
          work(s, coming);
          expect(starvedIn(s)).toEqual([]);
          expected += s.facts.filter(({ kind }) => kind === 'task.startExpected').length;
        }),
        { numRuns: 25 },
      );
      // Otherwise nobody has waited for long enough to come near the bound.
      expect(expected).toBeGreaterThan(20);
    },
  );

  test.each(STRATEGY_NAMES)('C9.4 %s with maxWait: nobody starves either', (strategy: StrategyName) => {
    fc.assert(
      fc.property(arrivals, fc.integer({ min: 1, max: 3 }), (coming, slots) => {
        const s = watched({ strategy, aging: { everyMs: 30, maxBoost: 1, maxWaitMs: 40 }, slots });
        work(s, coming);
        expect(starvedIn(s)).toEqual([]);
      }),
      { numRuns: 12 },
    );
  });

  test.each(['global', 'type', 'channel'] as const)(
    'C9.4 under a %s limit as many slots count as it allows',
    (scope) => {
      const s = watched({ strategy: 'fifo', slots: 4 });
      s.send({ kind: 'setLimit', scope, key: { global: '', type: 'work', channel: 'A' }[scope], limit: 1 });
      work(
        s,
        Array.from({ length: 10 }, () => ({ gapMs: 0, level: 2, takesMs: SERVICE_MS, channel: 'A' })),
        'work',
      );
      expect(s.now.mono).toBe(10 * SERVICE_MS);
      expect(starvedIn(s)).toEqual([]);
    },
  );

  test('C9.4 where the order has no bound nobody is watched', () => {
    const s = watched({ strategy: 'lifo', aging });
    s.add('patient');
    s.advance(1e9);
    expect(s.facts.map(({ kind }) => kind)).toEqual(['task.submitted', 'task.ready']);
    expect(s.core.hasMoments).toBe(false);
  });
});

describe('starvation', () => {
  const blocked = (): Sim => {
    const s = sim({
      strategy: 'lifo',
      slots: 2,
      serviceMs: 100,
      maxBypasses: 4,
      aging: { ...aging, maxWaitMs: 1_000 },
    });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    // It takes far longer than was said.
    s.add('hog', { needs: { gpu: 1 } });
    s.add('blocked', { needs: { gpu: 1 } });
    return s;
  };

  test('C9.4 a task that waits for a resource beyond its bound is told of once, and when', () => {
    const s = blocked();
    s.advance(1_000);
    expect(s.facts.at(-1)).toMatchObject({ kind: 'task.startExpected', task: 'blocked', byMono: 1_750 });
    s.advance(749);
    expect(starvedIn(s)).toEqual([]);
    s.advance(1);
    expect(s.facts.at(-1)).toMatchObject({ kind: 'task.starved', task: 'blocked', waitedMs: 1_750 });
    s.advance(1e6);
    s.complete('hog');
    s.complete('blocked');
    expect(starvedIn(s)).toEqual(['blocked']);
  });

  test('C9.4 one that starts in time, was cancelled, or stands aside in a pause, does not starve', () => {
    const s = blocked();
    s.add('cancelled', { needs: { gpu: 1 } });
    s.add('paused', { needs: { gpu: 1 }, channel: 'p' });
    s.advance(1_050);
    s.send({ kind: 'pauseChannel', channel: 'p' });
    s.cancel('cancelled');
    s.complete('hog');
    expect(s.running()).toEqual(['blocked#1']);
    s.advance(1e6);
    expect(starvedIn(s)).toEqual([]);
    // Resumed, it has waited long enough for nobody new to go first, and starts to be expected again.
    s.send({ kind: 'resumeChannel', channel: 'p' });
    s.advance(1e6);
    expect(starvedIn(s)).toEqual(['paused']);
  });

  test('C9.4 a task whose channel was paused is expected anew when it goes on', () => {
    const s = sim({ strategy: 'fifo', slots: 1, serviceMs: 100 });
    s.add('a', { channel: 'x' });
    s.add('b', { channel: 'y' });
    s.advance(10);
    s.send({ kind: 'pauseChannel', channel: 'y' });
    s.advance(40);
    s.complete('a');
    s.advance(900);
    s.add('c', { channel: 'x' });
    s.advance(50);
    s.send({ kind: 'resumeChannel', channel: 'y' });
    s.advance(199);
    expect(starvedIn(s)).toEqual([]);
    s.advance(1);
    expect(s.facts.at(-1)).toMatchObject({ kind: 'task.starved', task: 'b', waitedMs: 210 });
  });

  test('C9.4 a level set later, and another order, count from the time they are set', () => {
    const s = sim({ serviceMs: 10, strategy: 'lifo', aging: { ...aging, everyMs: 100 } });
    s.add('a', { priority: 4 });
    s.send({ kind: 'setStrategy', strategy: 'priority' });
    expect(s.core.nextWakeAt().mono).toBe(500);
    s.send({ kind: 'setPriority', task: 'a', level: 1 });
    expect(s.core.nextWakeAt().mono).toBe(200);
    s.add('urgent', { priority: -1 });
    s.claim();
    expect(s.core.nextWakeAt().mono).toBe(300);
    s.send({ kind: 'setAging', aging: { everyMs: 50 } });
    expect(s.core.nextWakeAt().mono).toBe(150);
  });

  test('C9.4 a task that has run and comes back is expected anew, by what is ahead of it then', () => {
    const s = sim({ strategy: 'fifo', slots: 1, serviceMs: 100, maxBypasses: 4 });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    s.add('hog');
    s.add('a', { needs: { gpu: 1 }, retry: 2 });
    s.advance(50);
    s.complete('hog');
    s.advance(450);
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 0 });
    s.fail('a');
    s.add('b');
    s.advance(0);
    const expected = s.facts.flatMap((fact) => (fact.kind === 'task.startExpected' ? [fact] : []));
    expect(expected).toMatchObject([
      { task: 'a', byMono: 200 + 600 },
      { task: 'a', byMono: 500 + 200 + 600 },
    ]);
    s.advance(800);
    expect(starvedIn(s)).toEqual(['a']);
  });
});

describe('the bound of a task that lacks a resource', () => {
  const MAX_BYPASSES = 4;

  test('C9.4 each reservation that is given to another puts it off by three service times, over a restart too', () => {
    const s = sim({ strategy: 'fifo', slots: 4, serviceMs: 100, maxBypasses: 1 });
    for (const resource of ['gpu', 'disk']) s.send({ kind: 'setCapacity', resource, units: 2 });
    s.add('hog', { needs: { disk: 2 } });
    s.add('patient', { needs: { disk: 1 } });
    s.add('small', { needs: { gpu: 1 } });
    s.advance(0);
    expect(s.facts.at(-1)).toMatchObject({ kind: 'task.startExpected', task: 'patient', byMono: 450 });
    s.add('large', { needs: { gpu: 2 } });
    s.add('passing', { needs: { gpu: 1 } });
    expect(s.core.state.preemption.rooms.reserved?.id).toBe('large');
    s.core = Core.restore(throughJson(s.core.snapshot()));
    s.complete('small');
    s.complete('passing');
    expect(s.running()).toEqual(['hog#1', 'large#1']);
    s.advance(449);
    expect(starvedIn(s)).toEqual([]);
    s.advance(1);
    expect(s.facts.at(-1)).toMatchObject({ kind: 'task.startExpected', task: 'patient', byMono: 750 });
    s.core = Core.restore(throughJson(s.core.snapshot()));
    s.advance(299);
    expect(starvedIn(s)).toEqual([]);
    s.advance(1);
    expect(starvedIn(s)).toEqual(['patient']);
  });

  test('C9.4 one that is never given a reservation has no bound', () => {
    const s = sim({ strategy: 'fifo', slots: 4, serviceMs: 100, maxBypasses: Infinity });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    s.add('hog', { needs: { gpu: 1 } });
    s.add('patient', { needs: { gpu: 1 } });
    s.advance(1e9);
    expect(starvedIn(s)).toEqual([]);
  });

  const crowd = fc.array(
    fc.record({
      gapMs: fc.constantFrom(0, 1, 3, 9),
      level: fc.constantFrom(2, 3),
      takesMs: fc.integer({ min: 1, max: SERVICE_MS }),
      needs: fc.constantFrom({ gpu: 1 }, { gpu: 1 }, { gpu: 2 }, { gpu: 4 }, {}),
    }),
    { minLength: 60, maxLength: 120, size: 'max' },
  );

  test.each([3, 9])('C7.2 C9.4 with %s slots it waits no longer than bypasses and reservations allow', (slots) => {
    let reservations = 0;
    fc.assert(
      fc.property(crowd, (coming) => {
        const s = watched({ slots, maxBypasses: MAX_BYPASSES, aging });
        s.send({ kind: 'setCapacity', resource: 'gpu', units: 4 });
        const endsAt = new Map<string, number>();
        const ahead = new Map<string, number>();
        const kept = (): number => s.facts.filter((f) => f.kind === 'room.kept' && f.workerId === undefined).length;
        const pass = (): void => {
          s.advance(1);
          for (const name of s.running()) {
            const i = Number(/\d+/.exec(name)?.[0]);
            const end = endsAt.get(name) ?? s.now.mono - 1 + (coming[i]?.takesMs ?? 0);
            endsAt.set(name, end);
            if (end <= s.now.mono) s.complete(name);
          }
          const given = kept();
          for (const task of s.core.state.index.all()) {
            const late = s.now.mono - task.ready - (task.urgency + 1) * aging.everyMs;
            if (late < 0) continue;
            if (!ahead.has(task.id)) ahead.set(task.id, s.core.state.pending - 1);
            const before = ahead.get(task.id) ?? 0;
            expect(late).toBeLessThanOrEqual((before / slots + 1 + MAX_BYPASSES + 3 * given + 2) * SERVICE_MS);
          }
        };
        for (const [i, { gapMs, level, needs }] of coming.entries()) {
          for (let left = gapMs; left > 0; left -= 1) pass();
          s.add(`t${i}`, { priority: level, needs });
        }
        while (s.core.state.pending > 0) pass();
        reservations += kept();
        expect(starvedIn(s)).toEqual([]);
      }),
      { numRuns: 15 },
    );
    expect(reservations).toBeGreaterThan(0);
  });

  test('C7.2 C9.4 a large task among small ones that never end coming starts within bypasses and two attempts', () => {
    const s = sim({ slots: 4, strategy: 'fifo', maxBypasses: MAX_BYPASSES });
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 4 });
    const endsAt = new Map<string, number>();
    for (let i = 0; i < 4; i += 1) s.add(`small-${i}`, { needs: { gpu: 1 } });
    s.add('large', { needs: { gpu: 4 } });
    const began = s.now.mono;
    for (let i = 4; s.state('large') !== 'running'; i += 1) {
      s.add(`small-${i}`, { needs: { gpu: 1 } });
      for (const name of s.running()) endsAt.set(name, endsAt.get(name) ?? s.now.mono + SERVICE_MS - (i % 7));
      s.advance(1);
      for (const name of s.running()) if ((endsAt.get(name) ?? Infinity) <= s.now.mono) s.complete(name);
      expect(s.now.mono - began).toBeLessThanOrEqual((MAX_BYPASSES + 2) * SERVICE_MS);
    }
  });
});
