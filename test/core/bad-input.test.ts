import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { parseSeries, type Submission } from '../../src/core/index.js';
import { InvalidTaskError, parseTaskOptions, type TaskOptions } from '../../src/model/index.js';
import { SIM_START, sim, type Request, type Sim } from '../../src/testing/index.js';

/** What a refused command must leave as it was, down to the position of the random source. */
function picture(s: Sim): string {
  const { table, index, dependencies, pending, running, series, workers, random, wallLine, monoLine } = s.core.state;
  return JSON.stringify({
    tasks: [...table.all()].map(({ id, state, level, urgency, attempts, ready }) => {
      return { id, state, level, urgency, attempts, ready };
    }),
    next: table.next,
    ready: index.size,
    pending,
    running,
    nodes: dependencies.graph.size,
    edges: dependencies.graph.edgeCount,
    series: [...series.keys()],
    workers: [...workers.keys()],
    pools: [...s.core.state.resources.pools.values()].map(({ name, held, capacity }) => [name, held, capacity]),
    random: random.state(),
    wake: [wallLine.next(), monoLine.next()],
  });
}

/** The error of an act that must be refused and must change nothing. */
function refused(s: Sim, act: () => void): unknown {
  const before = picture(s);
  const facts = s.facts.length;
  let caught: unknown;
  try {
    act();
  } catch (error) {
    caught = error;
  }
  expect(caught, 'Nothing was refused.').toBeInstanceOf(Error);
  expect(picture(s)).toBe(before);
  expect(s.facts.length).toBe(facts);
  return caught;
}

/** A simulation in the middle of its work, so that there is something to damage. */
function busy(): Sim {
  const s = sim();
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 4 });
  s.addAll({ a: { needs: { gpu: 1 } }, b: { after: ['a'] }, c: { delay: 500 }, d: {} });
  s.repeat('series', { every: '1h' });
  s.claim(1);
  return s;
}

const STRANGE_IDS = [
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '../x',
  ' ',
  '#',
  'a#1',
  '0',
  '-1',
  '💥',
  'Å',
];

test('row 27 strange ids and names are ordinary keys: they depend, run, are found, and never touch a prototype', () => {
  const before = Object.getOwnPropertyNames(Object.prototype).toSorted();
  const s = sim({ strategy: 'fair', retain: { count: 3, ageMs: 60_000 } });
  for (const name of STRANGE_IDS) s.send({ kind: 'setCapacity', resource: name, units: 1 });
  let previous: string | undefined;
  for (const id of STRANGE_IDS) {
    const needs = Object.fromEntries([[id, 1]]);
    s.add(id, {
      channel: id,
      type: id,
      needs,
      capabilities: {},
      ...(previous === undefined ? {} : { after: [previous] }),
    });
    previous = id;
  }
  const order: string[] = [];
  for (let [id] = s.claim(); id !== undefined; [id] = s.claim()) {
    order.push(id);
    s.send({ kind: 'settle', task: id, token: { epoch: 1, attempt: 1 }, outcome: { kind: 'succeeded', value: id } });
  }
  expect(order).toEqual(STRANGE_IDS);
  for (const id of STRANGE_IDS) {
    const found = s.core.state.table.byId(id)?.state ?? s.core.state.table.tombstone(id);
    expect(found, id).toBe('completed');
  }
  expect(s.core.state.table.byId('valueOf')).toBeUndefined();
  expect(s.core.state.table.tombstone('valueOf')).toBeUndefined();
  expect(Object.getOwnPropertyNames(Object.prototype).toSorted()).toEqual(before);
});

test('row 27 what breaks the rule for names is refused with the field: empty, too long, NUL, lone surrogates', () => {
  const s = busy();
  const names = ['', 'x'.repeat(513), 'x'.repeat(1_000_000), 'a\0b', '\u001b[31m', '\ud800', 'x\udfff'];
  for (const name of names) {
    for (const field of ['id', 'channel'] as const) {
      const error = refused(s, () => s.send(submit({ [field]: name })));
      expect(error).toBeInstanceOf(InvalidTaskError);
      expect(error).toMatchObject({ code: 'INVALID_TASK', field });
      // The message is for people: it does not repeat a megabyte, nor send anything to a terminal.
      expect((error as Error).message.length).toBeLessThan(400);
      expect((error as Error).message).not.toMatch(/\p{Cc}/u);
    }
  }
  expect(refused(s, () => s.send(submit({ id: 'task-7' })))).toMatchObject({ field: 'id' });
});

test('row 27 a type that looks like the key of needs is a type of its own', () => {
  const s = sim({ slots: 9 });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
  s.add('needy', { needs: { gpu: 1 } });
  const { shape } = s.core.state.places.at(s.task('needy').place);
  for (const type of [shape.key, JSON.stringify(['', shape.needs, []])]) {
    // A key with a control character in it can be no type at all; any other text can.
    if (/\p{Cc}/u.test(type)) expect(() => s.send(submit({}, type))).toThrow(InvalidTaskError);
    else s.add(`free${type}`, { type });
  }
  expect(s.running()).toHaveLength(2);
});

test('row 28 a payload that carries __proto__ is handed on as it came', () => {
  const s = sim({ slots: 1 });
  const payload: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
  s.add('task', { payload });
  s.complete('task#1', payload);
  expect(s.task('task').value).toBe(payload);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  const options = JSON.parse('{"__proto__":{"priority":0}}') as TaskOptions;
  expect(refused(s, () => s.send(submit(options)))).toBeInstanceOf(InvalidTaskError);
});

test('row 29 a priority that is no finite number is refused with field and value, at submission and later', () => {
  const s = busy();
  for (const priority of [NaN, Infinity, -Infinity, '5', 'urgent', null, {}, [1], true, 1n]) {
    const bad = priority as number;
    expect(refused(s, () => s.send(submit({ priority: bad })))).toMatchObject({ field: 'priority', value: priority });
    expect(refused(s, () => s.send({ kind: 'setPriority', task: 'd', level: bad }))).toMatchObject({
      code: 'INVALID_TASK',
      field: 'priority',
      value: priority,
    });
  }
  s.add('zero', { priority: -0 });
  expect(Object.is(s.task('zero').urgency, 0)).toBe(true);
});

test('row 30 invalid times, intervals and zones are refused with a typed error', () => {
  const s = busy();
  const times = [
    new Date(NaN),
    '2030-01-01T00:00:00',
    '2030-02-30T00:00:00Z',
    'tomorrow',
    1_700_000_000,
    NaN,
    Infinity,
    9e15,
  ];
  for (const field of ['eta', 'deadline', 'expires'] as const) {
    for (const value of times) {
      expect(refused(s, () => s.send(submit({ [field]: value })))).toMatchObject({ code: 'INVALID_TASK', field });
    }
  }
  for (const value of [-1, NaN, Infinity, '5 parsecs', '', '-3s']) {
    expect(refused(s, () => s.send(submit({ delay: value })))).toMatchObject({ code: 'INVALID_TASK', field: 'delay' });
    expect(refused(s, () => s.send(submit({ timeout: value })))).toMatchObject({ field: 'timeout' });
    const every = () => {
      s.repeat('bad', { every: value });
    };
    expect(refused(s, every)).toMatchObject({ code: 'INVALID_TASK', field: 'every' });
  }
  expect(refused(s, () => s.send(submit({ timeout: 0 })))).toMatchObject({ field: 'timeout' });
  for (const [options, field] of [
    [{ every: 0 }, 'every'],
    [{}, 'every'],
    [{ every: '1s', cron: '* * * * *' }, 'cron'],
    [{ cron: 'every day' }, 'cron'],
    [{ cron: '61 * * * *' }, 'cron'],
    [{ every: '1s', count: 0 }, 'count'],
    [{ every: '1s', until: 'never' }, 'until'],
  ] as const) {
    expect(refused(s, () => parseSeries(options))).toMatchObject({ code: 'INVALID_TASK', field });
  }
  expect(refused(s, () => parseSeries({ cron: '* * * * *', timeZone: 'Mars/Base' }))).toMatchObject({
    code: 'INVALID_TASK',
  });
});

test('row 31 needs that are negative, not a number or above the capacity are refused', () => {
  const s = busy();
  for (const amount of [-1, NaN, Infinity, '1' as unknown as number]) {
    expect(refused(s, () => s.send(submit({ needs: { gpu: amount } })))).toMatchObject({
      code: 'INVALID_TASK',
      field: 'needs.gpu',
    });
  }
  expect(refused(s, () => s.send(submit({ needs: { gpu: 5 } })))).toMatchObject({ code: 'UNSCHEDULABLE' });
});

test('row 31 capacity lowered below what is held: nothing new starts until it is drained', () => {
  const s = sim({ slots: 9 });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 4 });
  for (const id of ['a', 'b', 'c']) s.add(id, { needs: { gpu: 2 } });
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 2 });
  s.complete('a#1');
  expect(s.running()).toEqual(['b#1']);
  s.complete('b#1');
  expect(s.running()).toEqual(['c#1']);
});

test('row 32 F4.1 the same id twice: one record, and an error that names it, alone and in batches', () => {
  const s = busy();
  expect(refused(s, () => s.add('a'))).toMatchObject({ code: 'DUPLICATE_TASK', taskId: 'a' });
  const twins: Submission[] = ['new', 'new'].map((id) => {
    return { spec: parseTaskOptions({ id }, ''), payload: undefined, after: [] };
  });
  expect(refused(s, () => s.send({ kind: 'submitAll', tasks: twins }))).toMatchObject({ taskId: 'new' });
  // A finished task that is still retained keeps its id; a forgotten one leaves it free.
  s.complete('a#1');
  expect(refused(s, () => s.add('a'))).toMatchObject({ code: 'DUPLICATE_TASK' });
  const short = sim({ slots: 1, retain: { count: 0, ageMs: 0 } });
  short.add('again');
  short.complete('again#1');
  expect(short.core.state.table.tombstone('again')).toBe('completed');
  expect(short.add('again').state).toBe('running');
  expect(short.core.state.table.tombstone('again')).toBeUndefined();
});

test('row 25 a dependency forgotten by retention is answered from its tombstone', () => {
  const s = sim({ slots: 4, retain: { count: 0, ageMs: 0 } });
  s.add('good');
  s.complete('good#1');
  s.add('bad');
  s.fail('bad#1');
  s.add('gone');
  s.cancel('gone');
  s.send({ kind: 'submit', spec: parseTaskOptions(undefined, '') });
  const [unnamed = ''] = s.running();
  s.complete(unnamed);
  for (const id of ['good', 'bad', 'gone']) expect(s.core.state.table.byId(id)).toBeUndefined();
  const endOf = (id: string): string | undefined => s.story(id).at(-1) ?? s.story(id)[0];
  s.add('after-good', { after: ['good', unnamed.replace(/#\d+$/, '')] });
  expect(s.running()).toContain('after-good#1');
  s.send(submit({ id: 'after-bad' }, '', ['bad']));
  expect(s.story('after-bad')).toContain('task.failed');
  s.send(submit({ id: 'after-gone' }, '', [{ task: 'gone', onFailure: 'skip' }]));
  expect(s.story('after-gone')).toContain('task.skipped');
  s.add('run-anyway', { after: [{ task: 'bad', onFailure: 'run' }] });
  expect(endOf('run-anyway')).toBe('attempt.started');
  expect(() => s.send(submit({ id: 'lost' }, '', ['never-was']))).toThrow(/never-was/);
});

test('row 25 an added edge to a forgotten task follows the same rules', () => {
  const s = sim({ slots: 1, retain: { count: 0, ageMs: 0 } });
  s.add('bad');
  s.fail('bad#1');
  s.add('blocker');
  s.add('one');
  s.send({ kind: 'addDependency', task: 'one', dependency: 'bad', onFailure: 'run' });
  expect(s.state('one')).toBe('ready');
  s.send({ kind: 'addDependency', task: 'one', dependency: 'bad', onFailure: 'skip' });
  expect(s.story('one')).toContain('task.skipped');
  s.add('two');
  expect(
    refused(s, () => s.send({ kind: 'addDependency', task: 'two', dependency: 'never-was', onFailure: 'run' })),
  ).toMatchObject({ code: 'UNKNOWN_DEPENDENCY' });
});

test('G4 commands about tasks, attempts, series and workers that are not there are refused and change nothing', () => {
  const s = busy();
  const outcome = { kind: 'succeeded', value: 1 } as const;
  const requests: [Request, string][] = [
    [{ kind: 'cancel', task: 'nobody' }, 'UNKNOWN_TASK'],
    [{ kind: 'setPriority', task: 'nobody', level: 1 }, 'UNKNOWN_TASK'],
    [{ kind: 'retry', task: 'nobody' }, 'UNKNOWN_TASK'],
    [{ kind: 'retry', task: 'd' }, 'ILLEGAL_TRANSITION'],
    [{ kind: 'addDependency', task: 'nobody', dependency: 'a', onFailure: 'fail' }, 'UNKNOWN_TASK'],
    [{ kind: 'addDependency', task: 'a', dependency: 'd', onFailure: 'fail' }, 'ILLEGAL_TRANSITION'],
    [{ kind: 'removeDependency', task: 'b', dependency: 'd' }, 'UNKNOWN_DEPENDENCY'],
    [{ kind: 'settle', task: 'nobody', token: { epoch: 1, attempt: 1 }, outcome }, 'UNKNOWN_TASK'],
    [{ kind: 'settle', task: 'd', token: { epoch: 1, attempt: 1 }, outcome }, 'STALE_LEASE'],
    [{ kind: 'settle', task: 'a', token: { epoch: 1, attempt: 2 }, outcome }, 'STALE_LEASE'],
    [{ kind: 'settle', task: 'a', token: { epoch: 2, attempt: 1 }, outcome }, 'STALE_LEASE'],
    [{ kind: 'extend', task: 'a', token: { epoch: 0, attempt: 1 }, leaseMs: 1 }, 'STALE_LEASE'],
    [{ kind: 'release', task: 'a', token: { epoch: 1, attempt: 0 } }, 'STALE_LEASE'],
    [{ kind: 'claim', worker: 'nobody', count: 1 }, 'INVALID_CONFIG'],
    ...[0, -1, 1.5, NaN, undefined as unknown as number].map((count): [Request, string] => [
      { kind: 'claim', worker: 'puller', count },
      'INVALID_CONFIG',
    ]),
    [{ kind: 'pauseSeries', series: 'nobody' }, 'UNKNOWN_TASK'],
    [{ kind: 'resumeSeries', series: 'nobody' }, 'UNKNOWN_TASK'],
    [{ kind: 'cancelSeries', series: 'nobody' }, 'UNKNOWN_TASK'],
    [{ kind: 'setStrategy', strategy: 'magic' as 'fifo' }, 'INVALID_CONFIG'],
    [{ kind: 'setAging', aging: { everyMs: 0 } }, 'INVALID_CONFIG'],
    [{ kind: 'setAging', aging: { maxBoost: -1 } }, 'INVALID_CONFIG'],
    [{ kind: 'setAging', aging: { maxWaitMs: NaN } }, 'INVALID_CONFIG'],
    [{ kind: 'setWeight', channel: 'A', weight: 0 }, 'INVALID_CONFIG'],
  ];
  for (const [request, code] of requests) {
    expect(
      refused(s, () => s.send(request)),
      JSON.stringify(request),
    ).toMatchObject({ code });
  }
  // Whoever settles twice is late the second time.
  s.complete('a#1', 'first');
  expect(
    refused(s, () => {
      s.complete('a#1', 'second');
    }),
  ).toMatchObject({ code: 'STALE_LEASE' });
  expect(s.task('a').value).toBe('first');
});

const MANY = 100_000;

function ids(count: number, prefix: string): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${String(i)}`);
}

function batch(entries: readonly (readonly [id: string, after: readonly string[]])[]): Request {
  const tasks = entries.map(([id, after]) => ({ spec: parseTaskOptions({ id }, ''), payload: undefined, after }));
  return { kind: 'submitAll', tasks };
}

function submit(options: unknown, type = '', after: Submission['after'] = []): Request {
  return { kind: 'submit', spec: parseTaskOptions(options as TaskOptions, type), after };
}

/** Runs the act and expects it to take time in proportion to its size: seconds at worst, where a quadratic one takes minutes. */
function swiftly(act: () => void): void {
  const before = performance.now();
  act();
  expect(performance.now() - before).toBeLessThan(30_000);
}

test('row 26 a chain of 100,000, cancelled at its root, ends to the last task without deep recursion', () => {
  const s = sim();
  swiftly(() => {
    const chain = ids(MANY, 'c');
    // Named in reverse, so that the batch has to be sorted first.
    s.core.handle({
      ...batch(chain.map((id, i) => [id, i === 0 ? [] : [chain[i - 1] as string]] as const).toReversed()),
      now: s.now,
    });
    expect(s.core.state.pending).toBe(MANY);
    s.core.handle({ kind: 'setPriority', task: `c${String(MANY - 1)}`, level: 0, now: s.now });
    expect(s.task('c0').urgency).toBe(0);
    s.core.handle({ kind: 'cancel', task: 'c0', now: s.now });
    expect(s.core.state.pending).toBe(0);
    expect(s.core.state.dependencies.graph.size).toBe(0);
  });
});

test('row 26 a fan-out of 100,000 is freed by one task, and a fan-in of 100,000 by the last', () => {
  const s = sim({ retain: { count: 10, ageMs: 1_000 } });
  swiftly(() => {
    const leaves = ids(MANY, 'leaf');
    const now = s.now;
    s.add('root');
    s.core.handle({ ...batch(leaves.map((id) => [id, ['root']] as const)), now });
    s.core.handle({ ...batch([['sink', leaves]]), now });
    s.worker('w', { leaseMs: Infinity });
    const worker = s.core.state.workers.get('w');
    if (worker === undefined) throw new Error('The worker was not attached.');
    let last = '';
    for (let attempt = s.core.claim(now, worker); attempt !== undefined; attempt = s.core.claim(now, worker)) {
      last = attempt.task.id;
      s.core.settle(now, attempt, { kind: 'succeeded', value: undefined });
    }
    expect(last).toBe('sink');
    expect(s.core.state.pending).toBe(0);
    expect(s.core.state.table.size).toBe(10);
  });
});

test('row 26 cancelling the root of a fan-out of 100,000 reaches every leaf and the sink behind them', () => {
  const s = sim({ retain: { count: 10, ageMs: 1_000 } });
  swiftly(() => {
    const leaves = ids(MANY, 'leaf');
    const entries: [string, string[]][] = [['root', []], ...leaves.map((id) => [id, ['root']] as [string, string[]])];
    entries.push(['sink', leaves]);
    s.core.handle({ ...batch(entries), now: s.now });
    s.core.handle({ kind: 'cancel', task: 'root', now: s.now });
    expect(s.core.state.pending).toBe(0);
    expect(s.core.state.table.size).toBe(10);
  });
});

test('row 26 an edge that would close a cycle through a chain of 100,000 is refused, with all of its path', () => {
  const s = sim();
  swiftly(() => {
    const chain = ids(MANY, 'c');
    s.core.handle({
      ...batch(chain.map((id, i) => [id, i === 0 ? [] : [chain[i - 1] as string]] as const)),
      now: s.now,
    });
    let path: readonly string[] = [];
    try {
      s.send({ kind: 'addDependency', task: 'c0', dependency: `c${String(MANY - 1)}`, onFailure: 'fail' });
    } catch (error) {
      path = (error as { path: readonly string[] }).path;
      expect((error as Error).message.length).toBeLessThan(1_000);
    }
    expect(path.length).toBe(MANY + 1);
    expect(path.slice(0, 2)).toEqual(['c0', `c${String(MANY - 1)}`]);
  });
});

test('row 20 an attempt that settles twice is refused the second time, also by whoever holds the attempt itself', () => {
  const s = sim();
  s.add('task');
  s.worker('w');
  const worker = s.core.state.workers.get('w');
  const attempt = worker === undefined ? undefined : s.core.claim(s.now, worker);
  if (attempt === undefined) throw new Error('Nothing was claimed.');
  s.core.settle(s.now, attempt, { kind: 'succeeded', value: 'first' });
  expect(
    refused(s, () => {
      s.core.settle(s.now, attempt, { kind: 'succeeded', value: 'second' });
    }),
  ).toMatchObject({ code: 'STALE_LEASE' });
  expect(s.task('task').value).toBe('first');
});

test('row 12 a clock that jumps back does not move monotonic time back', () => {
  const s = sim();
  s.add('a', { timeout: 100 });
  s.claim();
  s.core.handle({ kind: 'tick', now: { wall: SIM_START, mono: 50 } });
  s.core.handle({ kind: 'tick', now: { wall: SIM_START - 1e9, mono: 10 } });
  expect(s.core.state.mono).toBe(50);
});

test('row 24 an edge with an unknown policy is refused and not added', () => {
  const s = sim();
  s.add('first');
  s.add('second');
  const request = { kind: 'addDependency', task: 'second', dependency: 'first' } as const;
  expect(() => s.send({ ...request, onFailure: 'boo' as 'fail' })).toThrow(/onFailure.*"boo"/);
  expect(s.core.state.dependencies.of(s.task('second'))).toEqual([]);
  expect(s.state('second')).toBe('ready');
});
