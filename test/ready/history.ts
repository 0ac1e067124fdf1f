import fc from 'fast-check';
import { expect } from 'vitest';
import type { Task } from '../../src/model/index.js';
import type { Sim } from '../../src/testing/index.js';

/** What may happen between two starts. */
type Event =
  | {
      readonly kind: 'add';
      readonly level: number;
      readonly deadline: number;
      readonly delay: number;
      readonly channel: string;
    }
  | { readonly kind: 'after'; readonly level: number; readonly on: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'start' }
  | { readonly kind: 'fail'; readonly which: number }
  | { readonly kind: 'priority'; readonly which: number; readonly level: number }
  | { readonly kind: 'pause' | 'resume'; readonly channel: string };

const quarter = (min: number, max: number): fc.Arbitrary<number> =>
  fc.integer({ min: 4 * min, max: 4 * max }).map((n) => n / 4);
const CHANNELS = ['A', 'B', 'C', 'D'] as const;
const LONGEST_DELAY = 50;
export const channel = fc.constantFrom(...CHANNELS);
const which = fc.nat(1_000);

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      level: quarter(-3, 8),
      deadline: fc.nat(3),
      delay: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(LONGEST_DELAY) }),
      channel,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('after' as const), level: quarter(-3, 8), on: which }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(40) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('start' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('priority' as const), which, level: quarter(-3, 8) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('pause' as const, 'resume' as const), channel }) },
);

/** Ready tasks outside paused channels, as an array that nobody could get wrong. */
export function eligible(s: Sim): Task[] {
  const { table, places } = s.core.state;
  return [...table.all()].filter((task) => task.state === 'ready' && !places.at(task.place).channel.paused);
}

/**
 * Lets the events happen; every start is shown to `check`, with the tasks that waited at that moment. `look` is called
 * before and after each start, and after each event.
 */
export function play(
  s: Sim,
  events: readonly Event[],
  check: (started: string, waiting: readonly Waiting[]) => void,
  look: () => void = () => undefined,
): void {
  const start = (): boolean => {
    look();
    const waiting = eligible(s).map((task) => ({ task, ready: task.ready, urgency: task.urgency }));
    const [id] = s.claim();
    // Whoever finds nothing although somebody waits has lost a task.
    expect(id === undefined).toBe(waiting.length === 0);
    if (id === undefined) return false;
    check(id, waiting);
    look();
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
        const { level, deadline, delay } = happens;
        const due = deadline === 0 ? {} : { deadline: s.now.wall + deadline * 20 };
        s.add(id, { priority: level, channel: happens.channel, retry: 3, delay, ...due });
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
    look();
  }
  for (const name of CHANNELS) s.send({ kind: 'resumeChannel', channel: name });
  look();
  s.advance(LONGEST_DELAY);
  for (;;) {
    for (const name of s.running()) s.complete(name);
    if (!start()) break;
  }
}

/** A task that waited when another one started, with the values it had then. */
export interface Waiting {
  readonly task: Task;
  readonly ready: number;
  readonly urgency: number;
}

// Long runs, so that windows pass while many wait.
export const events = fc.array(event, { minLength: 1, maxLength: 150, size: 'max' });
