import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Core, SNAPSHOT_VERSION, type CoreSnapshot } from '../../src/core/index.js';
import { Timeline } from '../../src/core/timeline.js';
import { FACT_VERSION, StaleLeaseError, UnsupportedVersionError } from '../../src/model/index.js';
import { sim, type Sim } from '../../src/testing/index.js';
import { OWN_STRATEGIES, converse, reply, someOptions, someSteps, throughJson } from './commands.js';

// Shrinking a long run may take minutes; a shorter one tells hardly more.
const SETTINGS = { numRuns: 200, interruptAfterTimeLimit: 50_000 };

test('F9 G8 snapshot and restore at any point changes nothing that follows', () => {
  fc.assert(
    fc.property(someOptions, someSteps, fc.nat(), (options, steps, at) => {
      const { commands, replies } = converse(new Core(options), steps);
      const cut = at % commands.length;
      const before = new Core(options);
      for (const command of commands.slice(0, cut)) reply(before, command);
      const snapshot = throughJson(before.snapshot());
      const after = Core.restore(snapshot, { strategies: OWN_STRATEGIES });
      after.check();
      expect(throughJson(after.snapshot())).toEqual(snapshot);
      for (const [i, command] of commands.entries()) {
        if (i < cut) continue;
        expect(reply(after, command)).toEqual(replies[i]);
        reply(before, command);
        // Only now do both know the same time: of one that brought no facts the snapshot knows nothing.
        expect(after.nextWakeAt()).toEqual(before.nextWakeAt());
      }
    }),
    SETTINGS,
  );
}, 60_000);

test('F9 same commands, same facts', () => {
  fc.assert(
    fc.property(someOptions, someSteps, (options, steps) => {
      const { commands, replies } = converse(new Core(options), steps);
      const again = new Core(options);
      expect(commands.map((command) => reply(again, command))).toEqual(replies);
    }),
    SETTINGS,
  );
}, 60_000);

function restart(s: Sim, strategies: Parameters<typeof Core.restore>[1] = {}): CoreSnapshot {
  const snapshot = throughJson(s.core.snapshot());
  s.core = Core.restore(snapshot, strategies);
  s.core.check();
  return snapshot;
}

test.each([
  ['records', { version: SNAPSHOT_VERSION + 1 }],
  ['facts', { factVersion: FACT_VERSION + 1 }],
])('row 10 a snapshot whose %s are of a newer version is refused with both versions', (_, newer) => {
  const snapshot = { ...sim().core.snapshot(), ...newer };
  expect(() => Core.restore(snapshot)).toThrow(UnsupportedVersionError);
  expect(() => Core.restore(snapshot)).toThrow(/version 2.*up to version 1/);
});

test('F9 a snapshot is plain data: JSON loses nothing of it', () => {
  const s = sim({ slots: 1, aging: { everyMs: Infinity, maxBoost: Infinity, maxWaitMs: Infinity } });
  s.send({ kind: 'setCapacity', resource: 'cpu', units: Infinity });
  s.add('a', { needs: { cpu: 0.1 }, payload: { list: [1, null] }, deadline: s.now.wall + 5_000, timeout: 900 });
  s.add('b', { after: ['a'], eta: s.now.wall + 1_000 });
  expect(throughJson(s.core.snapshot())).toEqual(s.core.snapshot());
});

test('F9 functions in a retry policy are lost with a snapshot, and the rest of it is kept', () => {
  const s = sim({ slots: 1 });
  s.add('a', { retry: { attempts: 3, backoff: () => 7, max: 5_000, retryIf: () => false } });
  restart(s);
  s.fail('a#1');
  s.advance(999);
  expect(s.running()).toEqual([]);
  s.advance(1);
  expect(s.running()).toEqual(['a#2']);
  s.fail('a#2');
  s.advance(1_000);
  s.fail('a#3');
  expect(s.state('a')).toBe('failed');
});

test("A1 a strategy of one's own is given back by its name, and asked for where it is missing", () => {
  const longest = { name: 'longest', rank: (task: { id: string }) => -task.id.length, describe: () => 'length' };
  const s = sim({ strategy: longest });
  for (const id of ['a', 'aaa', 'aa']) s.add(id);
  expect(() => Core.restore(s.core.snapshot())).toThrow(/strategy named "longest"/);
  restart(s, { strategies: [longest] });
  expect(s.drain()).toEqual(['aaa', 'aa', 'a']);
});

test('A3 a worker with a filter takes nothing after a restart until it is attached again', () => {
  const s = sim();
  s.worker('picky', { filter: ({ channel }) => channel === 'A' });
  s.add('a', { channel: 'A' });
  restart(s);
  expect(s.claim(1, 'picky')).toEqual([]);
  s.worker('picky', { filter: ({ channel }) => channel === 'A' });
  expect(s.claim(1, 'picky')).toEqual(['a']);
});

test('G7 an abandoned attempt keeps what it holds over a restart, also when its task is forgotten', () => {
  const s = sim({ slots: 2, retain: { count: 0, ageMs: 0 } });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
  s.add('a', { needs: { gpu: 1 } });
  s.cancel('a');
  s.add('b', { needs: { gpu: 1 } });
  expect(restart(s)).toMatchObject({ tasks: [{ sequence: 2 }], strays: [{ sequence: 1 }], held: [['gpu', 1]] });
  expect(s.running()).toEqual([]);
  expect(() => {
    s.complete('a#1');
  }).toThrow(StaleLeaseError);
  s.advance(0);
  expect(s.running()).toEqual(['b#1']);
});

test('D12 turns go on over a restart, also right after everybody began to take them', () => {
  const claims = [false, true].map((restarts) => {
    const s = sim();
    for (const id of ['a1', 'b1', 'a2', 'c1', 'b2']) s.add(id, { channel: id.slice(0, 1) });
    s.send({ kind: 'setStrategy', strategy: 'fair' });
    if (restarts) restart(s);
    s.advance(15_000);
    const first = s.claim(2);
    if (restarts) restart(s);
    return [...first, ...s.drain()];
  });
  expect(claims[1]).toEqual(claims[0]);
  expect(claims[0]).toEqual(['a1', 'b1', 'c1', 'a2', 'b2']);
});

test('A1 the longest path still goes first after a restart, and one that got shorter no longer does', () => {
  const s = sim({ strategy: 'critical-path' });
  for (const id of ['short', 'long', 'root']) s.add(id);
  s.add('leaf', { after: ['root'] });
  s.add('middle', { after: ['long'] });
  s.add('last', { after: ['middle'] });
  restart(s);
  expect(s.claim()).toEqual(['long']);
  s.send({ kind: 'removeDependency', task: 'leaf', dependency: 'root' });
  expect(s.claim(3)).toEqual(['short', 'root', 'leaf']);
});

test('G8 edges keep their order on both sides over a restart', () => {
  const s = sim();
  for (const id of ['root', 'first', 'second', 'other']) s.add(id);
  for (const task of ['second', 'first']) {
    s.send({ kind: 'addDependency', task, dependency: 'other', onFailure: 'run' });
    s.send({ kind: 'addDependency', task, dependency: 'root', onFailure: 'skip' });
  }
  restart(s);
  const dependants: string[] = [];
  s.core.state.dependencies.eachUnfinishedDependant(s.task('root'), (task) => dependants.push(task.id));
  expect(dependants).toEqual(['second', 'first']);
  const dependencies = s.core.state.dependencies.of(s.task('first'));
  expect(dependencies.map(({ task, onFailure }) => [task.id, onFailure])).toEqual([
    ['other', 'run'],
    ['root', 'skip'],
  ]);
});

test('F9 leases of two attempts of one task that end together end in the order of the attempts', () => {
  const line = new Timeline<string>((due) => due.at);
  for (const attempt of [3, 1, 2]) line.add(10, 'lease', 1, `a#${String(attempt)}`, attempt);
  expect([1, 2, 3].map(() => line.take(10)?.subject)).toEqual(['a#1', 'a#2', 'a#3']);
});

test('B10 row 12 a task that ran past its expiry still expires when the wall clock was set back meanwhile', () => {
  const s = sim();
  s.add('a', { expires: s.now.wall + 100 });
  s.claim();
  s.advance(150);
  s.jump(-100);
  s.send({ kind: 'release', task: 'a', token: { epoch: 1, attempt: 1 } });
  expect(s.state('a')).toBe('ready');
  restart(s);
  s.advance(50);
  expect(s.state('a')).toBe('cancelled');
});

test('E1 row 12 an ETA that was passed stays passed over a restart, also when the wall clock was set back', () => {
  const s = sim();
  s.add('a', { eta: s.now.wall + 100, retry: { attempts: 2, backoff: 'fixed', base: 50 } });
  s.advance(100);
  s.claim();
  s.jump(-90);
  s.fail('a#1');
  restart(s);
  s.advance(49);
  expect(s.state('a')).toBe('delayed');
  s.advance(1);
  expect(s.state('a')).toBe('ready');
});
