import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareFifo, type Task } from '../../src/model/index.js';
import { sim, type Sim } from '../../src/testing/index.js';

/** What may happen between two starts. */
type Event =
  | { readonly kind: 'add'; readonly level: number; readonly deadline: number; readonly channel: string }
  | { readonly kind: 'after'; readonly level: number; readonly on: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'start' }
  | { readonly kind: 'fail'; readonly which: number }
  | { readonly kind: 'priority'; readonly which: number; readonly level: number }
  | { readonly kind: 'pause' | 'resume'; readonly channel: string };

const quarter = (min: number, max: number): fc.Arbitrary<number> =>
  fc.integer({ min: 4 * min, max: 4 * max }).map((n) => n / 4);
const channel = fc.constantFrom('A', 'B');
const which = fc.nat(1_000);

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('add' as const), level: quarter(-3, 8), deadline: fc.nat(3), channel }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('after' as const), level: quarter(-3, 8), on: which }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(40) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('start' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('priority' as const), which, level: quarter(-3, 8) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('pause' as const, 'resume' as const), channel }) },
);

/** Ready tasks outside paused channels, as an array that nobody could get wrong. */
function eligible(s: Sim): Task[] {
  const { table, places } = s.core.state;
  return [...table.all()].filter((task) => task.state === 'ready' && !places.at(task.place).channel.paused);
}

/** Lets the events happen; every start is shown to `check`, with the tasks that waited at that moment. */
function play(s: Sim, events: readonly Event[], check: (started: string, waiting: readonly Waiting[]) => void): void {
  const start = (): boolean => {
    const waiting = eligible(s).map((task) => ({ task, ready: task.ready, urgency: task.urgency }));
    const [id] = s.claim();
    // Whoever finds nothing although somebody waits has lost a task.
    expect(id === undefined).toBe(waiting.length === 0);
    if (id === undefined) return false;
    check(id, waiting);
    return true;
  };
  const pick = (at: number, states: readonly string[]): Task | undefined => {
    const tasks = [...s.core.state.table.all()].filter((task) => states.includes(task.state));
    return tasks[at % Math.max(1, tasks.length)];
  };
  for (const [i, happens] of events.entries()) {
    const id = `t${String(i)}`;
    switch (happens.kind) {
      case 'add': {
        const { level, deadline } = happens;
        const due = deadline === 0 ? {} : { deadline: s.now.wall + deadline * 20 };
        s.add(id, { priority: level, channel: happens.channel, retry: 3, ...due });
        break;
      }
      case 'after': {
        const dependency = pick(happens.on, ['ready', 'waiting', 'running']);
        if (dependency !== undefined) s.add(id, { priority: happens.level, after: [dependency.id], retry: 3 });
        break;
      }
      case 'wait':
        s.advance(happens.ms);
        break;
      case 'start':
        start();
        break;
      case 'fail': {
        const task = pick(happens.which, ['running']);
        if (task !== undefined) s.fail(task.id);
        break;
      }
      case 'priority': {
        const task = pick(happens.which, ['ready', 'waiting', 'running']);
        if (task !== undefined) s.send({ kind: 'setPriority', task: task.id, level: happens.level });
        break;
      }
      case 'pause':
      case 'resume':
        s.send({ kind: happens.kind === 'pause' ? 'pauseChannel' : 'resumeChannel', channel: happens.channel });
    }
  }
  for (const name of ['A', 'B']) s.send({ kind: 'resumeChannel', channel: name });
  for (;;) {
    for (const name of s.running()) s.complete(name);
    if (!start()) break;
  }
}

interface Waiting {
  readonly task: Task;
  readonly ready: number;
  readonly urgency: number;
}

// Long runs, so that windows pass while many wait.
const events = fc.array(event, { minLength: 1, maxLength: 150, size: 'max' });

test('G11 C9.2 priority with aging: nobody starts before an equally eligible task by more than the bound', () => {
  fc.assert(
    fc.property(events, fc.integer({ min: 1, max: 60 }), (happenings, every) => {
      const s = sim({ aging: { everyMs: every, maxBoost: Infinity, maxWaitMs: Infinity } });
      play(s, happenings, (started, waiting) => {
        const y = waiting.find(({ task }) => task.id === started) as Waiting;
        for (const x of waiting) {
          if (x !== y) expect(y.ready).toBeLessThan(x.ready + (x.urgency - y.urgency + 1) * every);
        }
      });
      expect(s.core.state.pending).toBe(0);
    }),
  );
});

test('C9.1 priority starts exactly the smallest of (past maxWait by r, effective level, deadline, FIFO)', () => {
  const caps = fc.oneof({ weight: 1, arbitrary: fc.constant(Infinity) }, { weight: 4, arbitrary: fc.nat(4) });
  const waits = fc.oneof(
    { weight: 2, arbitrary: fc.constant(Infinity) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 300 }) },
  );
  fc.assert(
    fc.property(events, fc.integer({ min: 1, max: 60 }), caps, waits, (happenings, every, maxBoost, maxWaitMs) => {
      const s = sim({ aging: { everyMs: every, maxBoost, maxWaitMs } });
      play(s, happenings, (started, waiting) => {
        const now = s.now.mono;
        const keys = waiting.map(({ task, ready, urgency }) => {
          const windows = Math.floor(now / every) - Math.floor(ready / every);
          const overdue = now - ready >= maxWaitMs;
          // An overdue task goes by ready time alone, so its level and deadline count as nothing.
          const rank = overdue ? [0, ready, 0] : [1, urgency - Math.min(maxBoost, windows), task.deadline];
          return { task, rank };
        });
        const [first] = keys.toSorted((x, y) => {
          for (const [i, value] of x.rank.entries()) {
            const other = y.rank[i] as number;
            if (value !== other) return value < other ? -1 : 1;
          }
          return compareFifo(x.task, y.task);
        });
        expect(started).toBe(first?.task.id);
      });
    }),
    { numRuns: 200 },
  );
});

test('row 29 the order is total for any finite levels and any moments: each task starts once, twice in the same order', () => {
  const level = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, -0, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 53, -(2 ** 53)),
  );
  const strategies = ['priority', 'fifo', 'lifo', 'deadline', 'fair', 'critical-path', 'weighted-random'] as const;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(level, fc.nat(100_000), channel), { minLength: 1, maxLength: 40 }),
      fc.constantFrom(...strategies),
      fc.oneof(fc.constant(Infinity), fc.nat(3)),
      (tasks, strategy, maxBoost) => {
        const run = (): string[] => {
          const s = sim({ strategy, aging: { everyMs: 10_000, maxBoost, maxWaitMs: Infinity } });
          tasks.forEach(([priority, waitMs, name], i) => {
            s.add(`t${String(i)}`, { priority, channel: name });
            s.advance(waitMs);
          });
          return s.drain();
        };
        const order = run();
        expect(order.toSorted()).toEqual(tasks.map((_, i) => `t${String(i)}`).toSorted());
        expect(run()).toEqual(order);
      },
    ),
  );
});
