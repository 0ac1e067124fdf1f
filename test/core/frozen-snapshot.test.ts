import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ENTRIES, type FrozenSnapshot } from '../../src/core/frozen-snapshot.js';
import { Core, SnapshotPuzzle } from '../../src/core/index.js';
import { parseTaskOptions } from '../../src/model/index.js';
import { sim } from '../../src/testing/index.js';
import { converse, reply, someOptions, someSteps, throughJson } from './commands.js';

/** A snapshot whose parts are asked for one by one, each with so many entries at the most. */
class Telling {
  readonly frozen: FrozenSnapshot;
  private readonly parts: ReturnType<ReturnType<FrozenSnapshot['parts']>[typeof Symbol.iterator]>;
  private readonly puzzle = new SnapshotPuzzle();

  constructor(core: Core, entries?: number) {
    this.frozen = core.freeze().begin();
    this.parts = this.frozen.parts(entries)[Symbol.iterator]();
  }

  /** `false` once there is nothing more to tell. */
  next(): boolean {
    const next = this.parts.next();
    if (next.done !== true) this.puzzle.add(next.value);
    return next.done !== true;
  }

  whole() {
    while (this.next());
    return this.puzzle.whole(this.frozen.head);
  }
}

test('F9 G8 a snapshot that is told in parts while commands go on is that of its moment', () => {
  fc.assert(
    fc.property(
      someOptions,
      someSteps,
      fc.nat(80),
      fc.array(fc.nat(1), { minLength: 1 }),
      (options, steps, at, pace) => {
        const core = new Core(options);
        let telling: Telling | undefined;
        let expected: unknown;
        let count = 0;
        converse(core, steps, (_, command) => {
          const answer = reply(core, command);
          count += 1;
          if (count === at) {
            expected = throughJson(core.snapshot());
            telling = new Telling(core, 1);
          }
          for (let parts = pace[count % pace.length] as number; parts > 0; parts -= 1) telling?.next();
          return answer;
        });
        if (telling !== undefined) expect(throughJson(telling.whole())).toEqual(expected);
        core.check();
      },
    ),
    { numRuns: 200, interruptAfterTimeLimit: 50_000 },
  );
}, 60_000);

test('F9 G8 no command changes a snapshot that was begun just before it', () => {
  fc.assert(
    fc.property(someOptions, someSteps, (options, steps) => {
      const core = new Core(options);
      converse(core, steps, (_, command) => {
        const expected = core.snapshot();
        const telling = new Telling(core);
        const answer = reply(core, command);
        const told = telling.whole();
        // Comparing texts is many times as fast.
        if (JSON.stringify(told) !== JSON.stringify(expected)) expect(throughJson(told)).toEqual(throughJson(expected));
        return answer;
      });
    }),
    { numRuns: 200, interruptAfterTimeLimit: 50_000 },
  );
}, 60_000);

test('F9 a cost, a debounced renewal and a missed service that come after the moment are not in its snapshot', () => {
  const s = sim({ slots: 1, serviceMs: 5, maxBypasses: 1 });
  s.send({ kind: 'setCapacity', resource: 'api', units: 2 });
  s.send({ kind: 'setRate', scope: 'resource', key: 'api', rate: { rate: 10, perMs: 1_000, burst: 10 } });
  s.add('running', { needs: { api: 1 } });
  s.add('waiting', { key: 'k', debounce: 50, payload: 'before' });
  s.advance(0);
  const expected = throughJson(s.core.snapshot());
  const telling = new Telling(s.core);
  s.send({ kind: 'report', task: 'running', token: { epoch: 1, attempt: 1 }, resource: 'api', cost: 3 });
  s.send({ kind: 'submit', spec: parseTaskOptions({ key: 'k', debounce: 50 }, ''), payload: 'after', after: [] });
  s.advance(10_000);
  expect(s.task('waiting').payload).toBe('after');
  expect(s.task('running').attempt?.costs?.get('api')).toBe(3);
  expect(throughJson(telling.whole())).toEqual(expected);
});

/** How many tasks are looked at, by those that carry something else than before. */
function watchedPayloads(core: Core): { looks: number } {
  const watched = { looks: 0 };
  for (const task of core.state.table.all()) {
    Object.defineProperty(task, 'payload', {
      get: () => {
        watched.looks += 1;
        return undefined;
      },
    });
  }
  return watched;
}

test('F9 the moment of a snapshot looks at no task, and each part of it at no more than it tells', () => {
  const s = sim({ slots: 0 });
  const spec = parseTaskOptions({}, '');
  for (let i = 0; i < 5_000; i += 1) s.core.submit(s.now, spec, undefined, i % 2 === 0 ? [] : [`task-${i}`]);
  const watched = watchedPayloads(s.core);
  const telling = new Telling(s.core);
  expect(watched.looks).toBe(0);
  const looks: number[] = [];
  for (const { list, entries } of telling.frozen.parts()) {
    expect(entries.length).toBeLessThanOrEqual(ENTRIES);
    if (list === 'tasks') looks.push(watched.looks);
    // Specs come just before the part that names them, which has been made by then.
    else if (list !== 'specs') expect(watched.looks).toBe(looks.at(-1));
  }
  expect(looks).toEqual([1, 2, 3, 4].map((parts) => parts * ENTRIES).concat(5_000));
});

test('F9 what was not told of a snapshot is not kept once it is over, and another one may begin', () => {
  const s = sim();
  s.add('a');
  const first = s.core.freeze().begin();
  expect(() => s.core.freeze().begin()).toThrow(/another one/);
  expect(s.core.snapshot().tasks).toHaveLength(1);
  first.end();
  const second = new Telling(s.core);
  first.end();
  s.advance(0);
  expect(second.whole().tasks).toMatchObject([{ state: 'ready', attempts: 0 }]);
  expect([s.core.state.table.frozen, s.core.state.dependencies.graph.frozen]).toEqual([undefined, undefined]);
});
