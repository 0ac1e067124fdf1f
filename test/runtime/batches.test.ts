import { describe, expect, test } from 'vitest';
import { Scheduler, TaskReference, type AddAllEntry, type Adder, type Handle } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

async function codeOf(promise: Promise<unknown> | undefined): Promise<unknown> {
  return promise?.then(
    () => 'none',
    (error: unknown) => (error as { code?: unknown }).code,
  );
}

describe('submit', () => {
  test('resolves to a reference that an async function can return without waiting for the task', async () => {
    const scheduler = new Scheduler({ concurrency: 1 });
    const submitOne = async (): Promise<TaskReference<string>> => scheduler.submit(() => 'done', { id: 'one' });
    const reference = await submitOne();
    expect(reference).toBeInstanceOf(TaskReference);
    expect(['then' in reference, reference.id]).toEqual([false, 'one']);
    const after = scheduler.add((task) => task.dependencies, { after: [reference] });
    expect(await reference.result).toBe('done');
    expect(await after).toEqual(['done']);
    expect(reference.state).toBe('completed');
    await scheduler.close();
  });

  test('takes a definition, and its task can be taken back', async () => {
    const scheduler = new Scheduler({ concurrency: 0 });
    const double = scheduler.define('double', (input: number) => input * 2);
    const reference = await scheduler.submit(double, 4, { id: 'four' });
    reference.cancel('no need');
    await expect(reference.result).rejects.toMatchObject({ code: 'CANCELLED' });
    expect((await scheduler.submit('double', 1)).state).toBe('ready');
    await scheduler.close();
  });

  test('rejects when the task is refused, and when it is malformed', async () => {
    const scheduler = new Scheduler({ concurrency: 0 });
    await expect(scheduler.submit(() => 1, { after: ['nobody'] })).rejects.toMatchObject({
      code: 'UNKNOWN_DEPENDENCY',
    });
    await expect(scheduler.submit(() => 1, { priority: NaN })).rejects.toMatchObject({ code: 'INVALID_TASK' });
    await scheduler.close();
  });

  test('with a bound it resolves when the task is let in', async () => {
    const scheduler = new Scheduler({ concurrency: 0, maxPending: 1, clock: new VirtualClock() });
    const first = await scheduler.submit(() => 1);
    let isIn = false;
    const second = scheduler.submit(() => 2).then(() => (isIn = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIn).toBe(false);
    first.cancel();
    await second;
    await scheduler.close();
  });
});

describe('addAll', () => {
  test('a record: entries name each other by key in any order, and the handles have the same keys', async () => {
    const scheduler = new Scheduler({ concurrency: 1 });
    scheduler.define('double', (input: number, task) => [input * 2, ...task.dependencies]);
    const outside = scheduler.add(() => 'outside', { id: 'elsewhere' });
    const handles = scheduler.addAll({
      last: { run: (task) => task.dependencies, after: ['first', outside, { task: 'middle', onFailure: 'run' }] },
      middle: { name: 'double', input: 4, after: ['first', 'elsewhere'] },
      first: { run: () => 'first' },
    });
    expect(Object.keys(handles)).toEqual(['last', 'middle', 'first']);
    expect(await handles.last).toEqual(['first', 'outside', [8, 'first', 'outside']]);
    await scheduler.close();
  });

  test('a list: entries name each other by id', async () => {
    const scheduler = new Scheduler({ concurrency: 1 });
    const [sum, one] = scheduler.addAll([
      { run: (task) => task.dependencies, after: ['one'] },
      { run: () => 1, id: 'one' },
    ]);
    expect(await sum).toEqual([1]);
    expect(one.id).toBe('one');
    expect(scheduler.addAll([])).toEqual([]);
    expect(scheduler.addAll({})).toEqual({});
    await scheduler.close();
  });

  test('a key comes before an id outside, and keys like those of objects are only names', async () => {
    const scheduler = new Scheduler();
    const outside = scheduler.add(() => 'outside', { id: 'twin' });
    const entries: Record<string, AddAllEntry> = Object.fromEntries([
      ['twin', { run: () => 'inside' }],
      ['__proto__', { run: (task) => task.dependencies, after: ['twin', outside] }],
    ] satisfies [string, AddAllEntry][]);
    const handles = new Map(Object.entries(scheduler.addAll(entries)));
    expect(await handles.get('__proto__')).toEqual(['inside', 'outside']);
    await scheduler.close();
  });

  const refused: readonly [string, readonly AddAllEntry[]][] = [
    [
      'CYCLE',
      [
        { run: () => 1, id: 'a', after: ['b'] },
        { run: () => 1, id: 'b', after: ['a'] },
      ],
    ],
    [
      'DUPLICATE_TASK',
      [
        { run: () => 1, id: 'a' },
        { run: () => 1, id: 'a' },
      ],
    ],
    ['DUPLICATE_TASK', [{ run: () => 1 }, { run: () => 1, id: 'taken' }]],
    ['UNKNOWN_DEPENDENCY', [{ run: () => 1 }, { run: () => 1, after: ['nobody'] }]],
    ['UNSCHEDULABLE', [{ run: () => 1 }, { run: () => 1, needs: { gpu: 1 } }]],
    ['UNKNOWN_HANDLER', [{ run: () => 1 }, { name: 'nobody' }]],
  ];
  test.each(refused)('C1 %s: nothing is added, and every handle says so', async (code, entries) => {
    const scheduler = new Scheduler({ concurrency: 0 });
    void scheduler.add(() => 1, { id: 'taken' });
    const handles = scheduler.addAll(entries);
    expect(await Promise.all(handles.map((handle) => codeOf(handle.accepted)))).toEqual([code, code]);
    expect(await Promise.all(handles.map((handle) => codeOf(handle.result)))).toEqual([code, code]);
    expect(scheduler.size).toBe(1);
    await scheduler.close();
  });

  const malformed: readonly [string, unknown, string][] = [
    ['no list', 7, 'tasks'],
    ['an entry that is none', [{ run: () => 1 }, 5], 'tasks[1]'],
    ['nothing to run', [{ input: 5 }], 'tasks[0]'],
    ['both ways', { a: { run: () => 1, name: 'b' } }, 'tasks.a'],
    ['a bad option', { a: { run: () => 1, priority: NaN } }, 'tasks.a.priority'],
    ['a bad dependency', [{ run: () => 1, after: [7] }], 'tasks[0].after[0]'],
    ['neither attached nor detached', [{ run: () => 1, detached: 5 }], 'tasks[0].detached'],
  ];
  test.each(malformed)('bad input: %s throws at once, and nothing is added', async (_, entries, field) => {
    const scheduler = new Scheduler({ concurrency: 0 });
    expect(() => scheduler.addAll(entries as AddAllEntry[])).toThrow(expect.objectContaining({ field }));
    expect(scheduler.size).toBe(0);
    await scheduler.close();
  });

  test('row 24 a long chain that names itself backwards is taken in whole', () => {
    const scheduler = new Scheduler({ concurrency: 0 });
    const handles = scheduler.addAll(
      Array.from({ length: 20_000 }, (_, i) => ({ run: () => i, id: `t${i}`, after: i < 19_999 ? [`t${i + 1}`] : [] })),
    );
    expect([handles[0]?.state, handles[19_999]?.state, scheduler.size]).toEqual(['waiting', 'ready', 20_000]);
  });
});

describe('batch', () => {
  test('what is added to it comes in together when the function returns, and it gives what that returns', async () => {
    const scheduler = new Scheduler({ concurrency: 1 });
    const handles = scheduler.batch((batch) => {
      const one = batch.add(() => 1);
      const two = batch.add((task) => task.dependencies[0] + 1, { after: [one] });
      expect([scheduler.size, one.state]).toEqual([0, 'waiting']);
      return { two, named: batch.add(() => 3, { id: 'three', priority: 'high' }) };
    });
    expect([scheduler.size, handles.named.id]).toEqual([3, 'three']);
    await handles.two.accepted;
    expect(await handles.two).toBe(2);
    await scheduler.close();
  });

  test('an id that was asked for before it was in is kept', async () => {
    const scheduler = new Scheduler({ concurrency: 0 });
    let early = '';
    const [one, other] = scheduler.batch((batch) => {
      const first = batch.add(() => 1);
      early = first.id;
      return [first, batch.add(() => 2)];
    });
    expect([one.id, other.id]).toEqual([early, 'task-2']);
    expect(scheduler.explain(early)).toMatchObject({ kind: 'ready' });
    await scheduler.close();
  });

  test('C1 refused, nothing is added; what others did meanwhile stays', async () => {
    const scheduler = new Scheduler({ concurrency: 0 });
    const handles = scheduler.batch((batch) => {
      void scheduler.add(() => 0, { id: 'beside' });
      return [batch.add(() => 1), batch.add(() => 2, { id: 'beside' })];
    });
    expect(await Promise.all(handles.map((handle) => codeOf(handle.result)))).toEqual([
      'DUPLICATE_TASK',
      'DUPLICATE_TASK',
    ]);
    expect(scheduler.size).toBe(1);
    await scheduler.close();
  });

  test('a function that throws adds nothing, and its handles settle', async () => {
    const scheduler = new Scheduler({ concurrency: 0 });
    let made: Handle<unknown> | undefined;
    let kept: Adder | undefined;
    const fill = (batch: Adder): never => {
      kept = batch;
      made = batch.add(() => 1);
      throw new RangeError('half way');
    };
    expect(() => scheduler.batch(fill)).toThrow(RangeError);
    expect(await codeOf(made?.result)).toBe('CANCELLED');
    expect(() => kept?.add(() => 2)).toThrow(expect.objectContaining({ field: 'batch' }));
    expect(() => scheduler.batch((batch) => Promise.resolve(batch.add(() => 1).id))).toThrow(/fill/);
    expect(() => {
      scheduler.batch(undefined as unknown as () => void);
    }).toThrow(/fill/);
    expect(scheduler.size).toBe(0);
    await scheduler.close();
  });
});

describe('C8.2 with a bound', () => {
  test('a batch waits until there is room for all of it, and nobody overtakes it', async () => {
    const scheduler = new Scheduler({ concurrency: 0, maxPending: 3, clock: new VirtualClock() });
    const before = scheduler.addAll([
      { run: () => 1, id: 'a' },
      { run: () => 1, id: 'b' },
    ]);
    const both = scheduler.addAll([
      { run: () => 1, id: 'c' },
      { run: () => 1, id: 'd', after: ['c'] },
    ]);
    const single = scheduler.add(() => 1, { id: 'e' });
    expect([scheduler.size, scheduler.waiting]).toEqual([2, 3]);
    before[0].cancel();
    await both[1].accepted;
    expect([scheduler.size, scheduler.waiting, both[1].state]).toEqual([3, 1, 'waiting']);
    scheduler.cancel('c');
    await single.accepted;
    await scheduler.close();
  });

  test('a batch that could never come in is refused whole, also where others would wait', async () => {
    for (const whenFull of ['wait', 'reject', 'drop-oldest'] as const) {
      const scheduler = new Scheduler({ concurrency: 0, maxPending: 2, maxWaiting: 9, whenFull });
      const handles = scheduler.addAll([{ run: () => 1 }, { run: () => 1 }, { run: () => 1 }]);
      expect(await Promise.all(handles.map((handle) => codeOf(handle.accepted)))).toEqual(
        Array.from({ length: 3 }, () => 'SATURATED'),
      );
      expect([scheduler.size, scheduler.waiting]).toEqual([0, 0]);
    }
  });

  test('taking back one of a waiting batch takes back all of it', async () => {
    const scheduler = new Scheduler({ concurrency: 0, maxPending: 2, clock: new VirtualClock() });
    void scheduler.add(() => 1);
    const [first, second] = scheduler.addAll([{ run: () => 1 }, { run: () => 1 }]);
    second.cancel();
    expect(await Promise.all([codeOf(first.accepted), codeOf(second.result)])).toEqual(['CANCELLED', 'CANCELLED']);
    expect(scheduler.waiting).toBe(0);
    await scheduler.close();
  });
});
