import { expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import type { PlaceFilter } from '../../src/ready/view.js';
import { SIM_START, sim } from '../../src/testing/index.js';

// What the model has found, each as short as it gets.

test('B10.1 a task run again by hand waits for nobody, even if one of its dependencies is unfinished', () => {
  const s = sim();
  s.add('fails');
  s.add('later', { delay: 60_000 });
  s.add('task', { after: ['fails', 'later'] });
  s.add('after', { after: [{ task: 'task', onFailure: 'run' }], delay: 60_000 });
  s.claim();
  s.fail('fails', new Error('no'), false);
  expect(s.state('task')).toBe('failed');
  s.send({ kind: 'retry', task: 'task' });
  expect(s.state('task')).toBe('ready');
});

test('C2.2 whoever went on without a failed dependency can be told to wait for it when it is run again', () => {
  const s = sim();
  s.add('fails');
  s.add('task', { after: [{ task: 'fails', onFailure: 'run' }] });
  s.claim();
  s.fail('fails', new Error('no'), false);
  s.send({ kind: 'retry', task: 'fails' });
  expect(s.state('task')).toBe('ready');
  s.send({ kind: 'addDependency', task: 'task', dependency: 'fails', onFailure: 'fail' });
  expect(s.state('task')).toBe('waiting');
});

test('C9.1 a capped level that was served is still found', () => {
  const s = sim({ strategy: 'fair', aging: { everyMs: 1_000, maxBoost: 3, maxWaitMs: Infinity } });
  s.add('a');
  s.add('b');
  s.advance(10_000);
  expect(s.claim()).toEqual(['a']);
  expect(s.claim()).toEqual(['b']);
});

test('C9.1 a task that is doomed on arrival does not start its level over', () => {
  const s = sim({ strategy: 'fair', aging: { everyMs: 1_000, maxBoost: Infinity, maxWaitMs: Infinity } });
  s.add('failed');
  s.claim();
  s.fail('failed', new Error('no'), false);
  s.add('old', { priority: 4 });
  s.advance(5_000);
  s.add('urgent', { priority: 0, after: ['old', 'failed'] });
  s.add('new', { priority: 1 });
  expect(s.claim()).toEqual(['old']);
});

test('A3.4 a lease that is extended to an earlier moment ends at that moment', () => {
  const s = sim();
  s.add('task');
  s.claim();
  s.send({ kind: 'extend', task: 'task', token: { epoch: 1, attempt: 1 }, leaseMs: 1_000 });
  s.advance(1_000);
  expect(s.state('task')).toBe('ready');
});

test('A3.1 a worker that left and came back still has what it ran', () => {
  const s = sim();
  s.add('one');
  s.add('two');
  s.worker('w', { slots: 1 });
  expect(s.claim(1, 'w')).toEqual(['one']);
  s.send({ kind: 'detachWorker', worker: 'w' });
  s.worker('w', { slots: 1 });
  expect(s.claim(1, 'w')).toEqual([]);
  s.complete('one');
  expect(s.claim(2, 'w')).toEqual(['two']);
});

test('E1.1 an ETA is passed once: a retry after the clock was set back does not wait for it again', () => {
  const s = sim();
  s.add('task', { delay: 1_000 });
  s.advance(1_000);
  s.claim();
  s.jump(-5_000);
  s.fail('task');
  expect(s.state('task')).toBe('ready');
});

test('B1.1 a task that was named has no second id', () => {
  const s = sim();
  s.add('named');
  expect(() => {
    s.cancel('task-1');
  }).toThrow('task-1');
  expect(s.state('named')).toBe('ready');
});

test('E2.2 ticks that wait for the occurrence before count towards the series’ count', () => {
  const s = sim({ slots: 1 });
  s.repeat('series', { every: 10_000, from: 'grid', overlap: 'queue', catchUp: 'none', count: 2 });
  s.advance(60_000);
  for (let [running] = s.running(); running !== undefined; [running] = s.running()) {
    s.complete(running);
    s.advance(10_000);
  }
  expect(s.facts.filter((fact) => fact.kind === 'task.submitted')).toHaveLength(2);
  expect(s.core.state.series.size).toBe(0);
});

test('E2.3 only so many ticks wait for an occurrence that does not end; those beyond are skipped', () => {
  const s = sim({ slots: 1, maxCatchUp: 3 });
  s.repeat('series', { every: 1_000, from: 'grid', overlap: 'queue' });
  s.advance(10_000);
  const series = s.core.state.series.get('series');
  expect(series?.queued).toHaveLength(3);
  expect(series?.skipped).toBe(7);
});

test('A4 a worker’s filter that throws takes nothing, is asked once per place, and leaves every command whole', () => {
  const s = sim();
  let asked = 0;
  const filter: PlaceFilter = ({ channel }) => {
    asked += 1;
    if (channel === 'bad') throw new Error('filter');
    return true;
  };
  s.add('before', { channel: 'bad' });
  s.worker('w', { filter });
  s.add('one', { channel: 'bad' });
  s.add('two', { channel: 'bad' });
  s.send({ kind: 'setPriority', task: 'one', level: 0 });
  s.add('good');
  expect(s.claim(9, 'w')).toEqual(['good']);
  expect(s.core.explain('two')).toMatchObject({ obstacles: [{ kind: 'worker' }] });
  expect(asked).toBe(2);
  expect(s.claim(9)).toEqual(['one', 'before', 'two']);
});

test.each([
  ['slots', { slots: NaN }],
  ['slots', { slots: -1 }],
  ['lease', { leaseMs: NaN }],
  ['lease', { leaseMs: 0 }],
  ['lease', { leaseMs: -1 }],
  ['retries', { retries: NaN }],
  ['retries', { retries: -1 }],
  ['retries', { retries: 1.5 }],
])('A3.1 a worker with a wrong number of %s is refused: %o', (field, options) => {
  const s = sim();
  expect(() => {
    s.worker('w', options);
  }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field }));
  expect(s.core.state.workers.size).toBe(0);
  s.worker('w', { leaseMs: Infinity, retries: 0, slots: 0 });
});

test.each([NaN, 0, -5])('A3.4 a lease cannot be extended by %d', (leaseMs) => {
  const s = sim();
  s.add('task');
  s.claim();
  const before = s.core.nextWakeAt();
  expect(() => {
    s.send({ kind: 'extend', task: 'task', token: { epoch: 1, attempt: 1 }, leaseMs });
  }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field: 'lease' }));
  expect(s.core.nextWakeAt()).toEqual(before);
});

test('A3.4 an attempt without a lease is given none by a heartbeat', () => {
  const s = sim({ slots: 1 });
  s.add('task');
  expect(s.send({ kind: 'extend', task: 'task', token: { epoch: 1, attempt: 1 }, leaseMs: 1_000 })).toEqual([]);
  s.advance(5_000);
  expect(s.running()).toEqual(['task#1']);
});

test('D12.1 channels cannot be charged by anything but turns or time', () => {
  const s = sim();
  expect(() => {
    s.send({ kind: 'setCharge', charge: 'money' as 'time' });
  }).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', field: 'charge' }));
  expect(s.core.state.charge).toBe('turns');
});

test('B10.2 a claim that comes before the tick does not start what has expired', () => {
  const s = sim();
  s.worker('w');
  s.add('task', { expires: s.now.wall + 10 });
  s.add('other');
  const now = { wall: s.now.wall + 1_000, mono: 1_000 };
  const facts = s.core.handle({ kind: 'claim', worker: 'w', count: 2, now });
  expect(facts.map((fact) => fact.kind)).toEqual(['task.cancelled', 'attempt.started']);
  expect(s.task('task').extra?.error).toMatchObject({ code: 'EXPIRED' });
  expect(s.state('other')).toBe('running');
});

test('E1.1 a claim that comes before the tick starts what has become due', () => {
  const s = sim();
  s.worker('w');
  s.add('task', { delay: 10 });
  s.core.handle({ kind: 'claim', worker: 'w', count: 1, now: { wall: s.now.wall + 10, mono: 10 } });
  expect(s.state('task')).toBe('running');
});

test('C9.1 aging windows go on after two thousand million of them', () => {
  const s = sim({ aging: { everyMs: 1, maxBoost: Infinity, maxWaitMs: Infinity } });
  s.advance(2 ** 31 - 10);
  s.add('old', { priority: 4 });
  s.advance(20);
  s.add('new', { priority: 0 });
  expect(s.drain()).toEqual(['old', 'new']);
});

test('C6.1 fractions that add up to the capacity all fit, and leave nothing behind', () => {
  const s = sim();
  s.send({ kind: 'setCapacity', resource: 'cpu', units: 0.6 });
  for (const id of ['a', 'b', 'c', 'd']) s.add(id, { needs: { cpu: 0.2 } });
  expect(s.claim(9)).toEqual(['a', 'b', 'c']);
  expect(s.claim(9)).toEqual([]);
  for (const id of ['a', 'b', 'c']) s.complete(id);
  expect(s.core.state.resources.pools.get('cpu')?.held).toBe(0);
});

test.each([1e308, 5e-324])('A1.1 weights of %d still give everybody a chance', (weight) => {
  const firsts = { a: 0, b: 0, c: 0 };
  for (let seed = 0; seed < 300; seed += 1) {
    const s = sim({ seed, strategy: { name: 'weighted-random', weight: () => weight } });
    for (const id of Object.keys(firsts)) s.add(id);
    expect(s.core.explain('a')).toMatchObject({ standing: { chance: 1 / 3 } });
    firsts[s.claim()[0] as 'a' | 'b' | 'c'] += 1;
  }
  for (const count of Object.values(firsts)) expect(Math.abs(count - 100)).toBeLessThan(40);
});

test('C3.1 a dependency that is added again changes what its failure means, also when replayed', () => {
  const s = sim();
  s.add('fails');
  s.add('task', { after: ['fails'] });
  const again = { kind: 'addDependency', task: 'task', dependency: 'fails', onFailure: 'run' } as const;
  expect(s.send(again)).toMatchObject([{ kind: 'dependency.added', onFailure: 'run' }]);
  expect(s.send(again)).toEqual([]);
  s.claim();
  const replayed = new Core({ origin: { wall: SIM_START, mono: 0 } });
  for (const fact of s.facts) replayed.apply(fact);
  expect(replayed.snapshot()).toEqual(s.core.snapshot());
  s.fail('fails', new Error('no'), false);
  expect(s.state('task')).toBe('ready');
});

test('looking for a shape that nobody has asked for does not make it', () => {
  const s = sim();
  s.add('task');
  const { places } = s.core.state;
  expect(places.knownShape({ ...s.task('task').spec, type: 'never seen' })).toBeUndefined();
  expect([...places.allShapes()]).toHaveLength(1);
});
