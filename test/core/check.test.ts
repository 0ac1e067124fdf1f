import { describe, expect, test } from 'vitest';
import { checkStart, type State } from '../../src/core/index.js';
import { InvariantError, extraOf, type Attempt } from '../../src/model/index.js';
import { sim, type Sim } from '../../src/testing/index.js';

/** Something of everything: running, abandoned, ready, held, waiting, delayed, in backoff, finished, and a series. */
function busy(): Sim {
  const s = sim({ strategy: 'fair' });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 3 });
  s.worker('w', { leaseMs: 5_000 });
  s.add('running', { needs: { gpu: 1 }, timeout: 9_000 });
  s.add('abandoned', { needs: { gpu: 1 } });
  s.add('failing', { retry: { attempts: 2, backoff: 'fixed', base: 500 } });
  s.add('done');
  s.claim(4, 'w');
  s.cancel('abandoned');
  s.fail('failing#1');
  s.complete('done#1');
  s.add('ready', { priority: 'low', expires: new Date(s.now.wall + 60_000) });
  s.add('delayed', { delay: 1_000 });
  s.add('waiting', { after: ['ready', 'running'], priority: 'high', deadline: new Date(s.now.wall + 90_000) });
  s.send({ kind: 'pauseChannel', channel: 'held' });
  s.add('held', { channel: 'held' });
  s.repeat('series', { every: 10_000 });
  return s;
}

function attemptOf(s: Sim, id: string): Attempt {
  return s.task(id).attempt as Attempt;
}

type Corruption = readonly [found: RegExp, what: string, corrupt: (state: State, s: Sim) => void];

const CORRUPTIONS: readonly Corruption[] = [
  [
    /^G3: .*granted twice/,
    'an attempt granted twice',
    (state, s) => {
      const twin = Object.assign(
        Object.create(Object.getPrototypeOf(attemptOf(s, 'running')) as object),
        attemptOf(s, 'running'),
      ) as Attempt;
      twin.abandoned = true;
      state.abandoned.add(twin);
    },
  ],
  [/^G3: .*over and still held/, 'an attempt that is over', (_state, s) => (attemptOf(s, 'running').over = true)],
  [/^G3: .*later epoch/, 'an attempt of a later epoch', (state) => (state.epoch = 0)],
  [
    /^G3: .*abandoned, or neither/,
    'an attempt abandoned in place',
    (_state, s) => (attemptOf(s, 'running').abandoned = true),
  ],
  [/^G3: .*latest number/, 'an attempt with an old number', (_state, s) => (s.task('running').attempts = 5)],
  [/^G3: .*exactly while/, 'a ready task that is called running', (_state, s) => (s.task('held').state = 'running')],
  [/^G7: 2 run, counted 3/, 'a wrong count of attempts', (state) => (state.running += 1)],
  [/^G7: worker "w" runs 2/, 'a wrong count of a worker', (state) => (state.workers.get('w')!.running = 7)],
  [/^G7: "gpu" counts 3/, 'a unit that nobody holds', (state) => (state.resources.pools.get('gpu')!.held += 1)],
  [/^G7: "gpu" is held but no longer known/, 'a pool that is lost', (state) => state.resources.pools.delete('gpu')],
  [/^G6: 2 dependencies/, 'a task that is ready too early', (_state, s) => (s.task('waiting').state = 'delayed')],
  [/^G9: 0 dependencies/, 'a task that waits for nothing', (_state, s) => (s.task('delayed').state = 'waiting')],
  [/^G9: nothing will end the delay/, 'a delay without an end', (_state, s) => (extraOf(s.task('delayed')).eta += 1)],
  [
    /^G9: nothing will end the delay/,
    'a backoff without an end',
    (_state, s) => (extraOf(s.task('failing')).backoffUntil += 1),
  ],
  [
    /^G9: nothing will let it expire/,
    'an expiry that was lost',
    (state) => {
      drop(state.wallLine, 'expiry');
    },
  ],
  [
    /^G9: no timeout is set/,
    'a timeout that was lost',
    (state) => {
      drop(state.monoLine, 'timeout');
    },
  ],
  [
    /^G9: nothing will end the lease/,
    'a lease that was lost',
    (state) => {
      drop(state.monoLine, 'lease');
    },
  ],
  [/^index: .*counts 2 of 1/, 'a wrong count of occurrences', (state) => (state.series.get('series')!.active += 1)],
  [
    /^C5: the effective level should be 1/,
    'a level that was not inherited',
    (_state, s) => (s.task('running').urgency = 2),
  ],
  [
    /^C5: the effective deadline/,
    'a deadline that was not inherited',
    (_state, s) => (extraOf(s.task('running')).deadline = 1),
  ],
  [
    /^C9: nobody looks whether it starves/,
    'a wait that nobody watches',
    (state) => {
      Object.assign(state.starvation, { serviceMs: 10 });
      Object.assign(state.index.main, { choice: 'fifo' });
    },
  ],
  [
    /^C8: 6 tasks are pending, which is told as too many/,
    'a bound that was not reached',
    (state) => (state.pressure.saturated = true),
  ],
  [
    /^C8: it is pending and nobody could drop it/,
    'a pending task that cannot be found',
    (state) => {
      state.pressure.set({ maxPending: 9, whenFull: 'drop-oldest', lowWater: 5 }, []);
    },
  ],
  [/^index: \d+ tasks are unfinished/, 'a wrong count of unfinished tasks', (state) => (state.pending -= 1)],
  [/^index: the table counts/, 'a wrong size', (state) => (state.table.size += 1)],
  [/^index: the next sequence/, 'a sequence that would be used twice', (state) => (state.table.next = 1)],
  [
    /^index: the id leads elsewhere/,
    'two tasks with one id',
    (_state, s) => Object.assign(s.task('held'), { spec: s.task('ready').spec }),
  ],
  [
    /^index: place \d+ counts/,
    'a wrong count at a place',
    (state, s) => (state.places.at(s.task('ready').place).tasks += 1),
  ],
  [
    /^index: a shape or channel counts/,
    'a wrong count of places',
    (state, s) => (state.places.at(s.task('ready').place).shape.places += 1),
  ],
  [
    /^index: the task stands at a place/,
    'a task at a wrong place',
    (_state, s) => (s.task('delayed').place = s.task('held').place),
  ],
  [/^index: 3 tasks are ready, counted 4/, 'a wrong count of ready tasks', (state) => (state.index.size += 1)],
  [
    /^G9: it is held by a channel that is not paused/,
    'a channel that holds on',
    (state) => (state.places.channel('held').paused = false),
  ],
  [
    /^G9: it is ready and missing in what paused/,
    'a held task that was lost',
    (state) => {
      state.places.channel('held').held.clear();
    },
  ],
  [
    /^G9: it is ready and missing in an order/,
    'a ready task that was lost',
    (state, s) => {
      state.index.forget(state.places.at(s.task('ready').place));
    },
  ],
  [/^G12: 1 tasks wait for a turn at "1"/, 'a wrong count of turns', (state) => (state.index.turns.at(1).waiting += 1)],
  [
    /^F5: it would never be forgotten/,
    'a finished task that was dropped',
    (state, s) => {
      state.retention.release(s.task('done'));
    },
  ],
  [
    /^F5: it is unfinished and kept/,
    'an unfinished task that is kept',
    (state, s) => {
      state.retention.restore(s.task('ready'), 0);
    },
  ],
  [
    /^F5: it is kept twice/,
    'a task kept twice',
    (state, s) => {
      state.retention.restore(s.task('done'), 0);
    },
  ],
  [
    /^F5: it is kept and not known/,
    'a forgotten task that is kept',
    (state, s) => {
      state.table.remove(s.task('done'));
    },
  ],
  [
    /^index: a finished task still has/,
    'a finished task that waits',
    (state, s) => {
      state.dependencies.attach(s.task('done'), [{ task: s.task('ready'), onFailure: 'fail' }]);
    },
  ],
];

function drop(line: State['wallLine'], kind: string): void {
  const inner = line as unknown as { held: { heap: { filter(keep: (due: { kind: string }) => boolean): void } } };
  inner.held.heap.filter((due) => due.kind !== kind);
}

describe('G3 G6 G7 G9 check() sees what is broken', () => {
  test('a core in which everything goes on passes', () => {
    expect(() => {
      busy().core.check();
    }).not.toThrow();
  });

  test.each(CORRUPTIONS)('%s: %s', (found, _what, corrupt) => {
    const s = busy();
    corrupt(s.core.state, s);
    expect(() => {
      s.core.check();
    }).toThrow(InvariantError);
    expect(() => {
      s.core.check();
    }).toThrow(found);
  });

  test('the error tells the whole story of the task', () => {
    const s = busy();
    extraOf(s.task('delayed')).eta += 1;
    expect(() => {
      s.core.check();
    }).toThrow(/Task "delayed" is delayed in channel "default": .*urgency 2.*attempt none; after nothing; wall/);
  });

  test('G7 a start beyond a capacity is seen, a capacity lowered later is not one', () => {
    const s = busy();
    s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
    expect(() => {
      s.core.check();
    }).not.toThrow();
    expect(() => {
      checkStart(s.core.state, s.task('running'));
    }).toThrow(/^G7: running started beyond the capacity 1/);
  });

  test('G7 what goes on after a wait takes no tokens, also while there is a debt; what starts does', () => {
    const s = sim({ slots: 2 });
    s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: { rate: 1, perMs: 1_000, burst: 2 } });
    s.add('parent', { needs: { api: 1 }, yieldable: ['api'] });
    s.add('child', { needs: { api: 1 } });
    s.waitFor('parent', 'child');
    const { token } = s.task('child').attempt as Attempt;
    s.send({ kind: 'report', task: 'child', token, resource: 'api', cost: 9 });
    expect(() => {
      checkStart(s.core.state, s.task('child'));
    }).toThrow(/^G7: child started beyond the rate of "api"/);
    s.complete('child');
    expect(s.running()).toEqual(['parent#1']);
  });

  test('a simulation checks after every command unless told not to', () => {
    for (const [check, throws] of [
      [true, true],
      [false, false],
    ] as const) {
      const s = sim({ check });
      s.add('a');
      s.core.state.pending = 5;
      const next = (): void => void s.add('b');
      if (throws) expect(next).toThrow(InvariantError);
      else expect(next).not.toThrow();
    }
  });
});

/** One attempt waits and keeps what others lack, another one has ended in its wait. */
function waiting(): Sim {
  const s = sim();
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 3 });
  for (const id of ['keeper', 'broken']) s.add(id, { needs: { gpu: 1 } });
  s.claim(2, 'w');
  s.add('child', { delay: 1_000, needs: { gpu: 1 } });
  s.add('lacks', { priority: 'high', needs: { gpu: 2 } });
  for (const id of ['keeper', 'broken']) s.waitFor(id, 'child');
  s.cancel('broken');
  return s;
}

const WAIT_CORRUPTIONS: readonly Corruption[] = [
  [/^G7: 1 run, counted 0/, 'a wait that is not counted', (state) => (state.running = 0)],
  [
    /^G7: 2 run|^index: its wait is not known/,
    'a wait that was lost',
    (state) => {
      state.suspended.clear();
    },
  ],
  [
    /^index: place \d+ counts/,
    'a place in line that was left',
    (state, s) => {
      state.places.leave(attemptOf(s, 'keeper').wait!.place);
    },
  ],
  [
    /^index: waiting attempts keep 1 of "gpu", counted 0/,
    'a keeper that was forgotten',
    (state, s) => {
      state.lending.keepNoMore(s.task('keeper'));
    },
  ],
  [/^C5: the effective level should be 1/, 'a level that was not lent', (_state, s) => (s.task('keeper').urgency = 2)],
  [
    /^C12: the effective level should be 1/,
    'a level that only upholds itself',
    (state, s) => {
      state.inheritance.lendThrough(s.task('keeper'), 0);
    },
  ],
  [
    /^G9: nobody can go on: "keeper" → "child" → "keeper"/,
    'a deadlock',
    (state) => (state.resources.pools.get('gpu')!.capacity = 1),
  ],
];

describe('C12.1 C12.2 C12.3 check() sees what is broken about waits', () => {
  test('waits in which nothing is broken pass', () => {
    expect(() => {
      waiting().core.check();
    }).not.toThrow();
  });

  test.each(WAIT_CORRUPTIONS)('%s: %s', (found, _what, corrupt) => {
    const s = waiting();
    corrupt(s.core.state, s);
    expect(() => {
      s.core.check();
    }).toThrow(found);
  });
});
