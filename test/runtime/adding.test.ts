import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Definition, Scheduler, type AddOptions, type DefinitionOptions } from '../../src/index.js';

let scheduler: Scheduler;
beforeEach(() => {
  scheduler = new Scheduler({ concurrency: 1, resources: { gpu: 2, disk: 2 } });
});
afterEach(async () => {
  await scheduler.close();
});

describe('a definition', () => {
  test('is added with an input, by itself or by its name, and gives its result', async () => {
    const double = scheduler.define('double', (input: number, task) => [input * 2, task.input, task.attempt]);
    expect(double).toBeInstanceOf(Definition);
    expect(double.name).toBe('double');
    expect(await scheduler.add(double, 4)).toEqual([8, 4, 1]);
    expect(await scheduler.add('double', 5, { priority: 'high' })).toEqual([10, 5, 1]);
    expect(await scheduler.add((task) => task.input)).toBeUndefined();
  });

  test('gives each of its tasks what it came after, and each attempt the same input', async () => {
    const input = { seen: 0 };
    const flaky = scheduler.define(
      'flaky',
      (given: { seen: number }, task) => {
        given.seen += 1;
        if (task.attempt < 3) throw new Error('again');
        return [given === input, task.dependencies];
      },
      { retry: 3 },
    );
    const first = scheduler.add(() => 'first');
    expect(await scheduler.add(flaky, input, { after: [first] })).toEqual([true, ['first']]);
    expect(input.seen).toBe(3);
  });

  test('is the type that limits go by', async () => {
    const limited = new Scheduler({ concurrency: 8, limits: { perType: { render: 2 } } });
    let running = 0;
    let most = 0;
    const render = limited.define('render', async (frame: number) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return frame;
    });
    const handles = [1, 2, 3, 4, 5].map((frame) => limited.add(render, frame));
    expect(await Promise.all(handles.map((handle) => handle.result))).toEqual([1, 2, 3, 4, 5]);
    expect(most).toBe(2);
    await limited.close();
  });

  test('its options count for its tasks, and those of a call count instead of them, one by one', async () => {
    const order: string[] = [];
    const note = scheduler.define('note', (name: string) => order.push(name), { priority: 'low', retry: 2 });
    const failing = scheduler.define('failing', () => Promise.reject(new Error('no')), { retry: 2, priority: 'idle' });
    let attempts = 0;
    scheduler.define(
      'counting',
      () => {
        attempts += 1;
        throw new Error('no');
      },
      { retry: 3, channel: 'count' },
    );
    void scheduler.add(note, 'low');
    void scheduler.add(note, 'high', { priority: 'high' });
    void scheduler.add(() => order.push('normal'));
    await scheduler.onIdle();
    expect(order).toEqual(['high', 'normal', 'low']);
    await expect(scheduler.add('counting', undefined, { priority: 'high' }).result).rejects.toThrow('no');
    expect(attempts).toBe(3);
    await expect(scheduler.add('counting', undefined, { retry: 1 }).result).rejects.toThrow('no');
    expect(attempts).toBe(4);
    await expect(scheduler.add(failing).result).rejects.toThrow('no');
  });

  test('what it says is yieldable counts for the needs that a call leaves', async () => {
    const both = scheduler.define('both', (): string => 'done', {
      needs: { gpu: 1, disk: 1 },
      yieldable: ['gpu'],
    });
    expect(await scheduler.add(both, undefined, { needs: { disk: 2 } })).toBe('done');
    expect(() => scheduler.add(both, undefined, { needs: { disk: 2 }, yieldable: ['gpu'] })).toThrow(/yieldable/);
  });

  const malformed: readonly [string, unknown, unknown, unknown, string][] = [
    ['a name that is no text', 7, () => 1, undefined, 'name'],
    ['an empty name', '', () => 1, undefined, 'name'],
    ['a name that is defined', 'taken', () => 1, undefined, 'name'],
    ['no function', 'other', 'run', undefined, 'handler'],
    ['an id', 'other', () => 1, { id: 'one' }, 'id'],
    ['a bad option', 'other', () => 1, { timeout: -1 }, 'timeout'],
    ['an unknown option', 'other', () => 1, { after: [] }, 'options.after'],
  ];
  test.each(malformed)('bad input: %s is refused, and defines nothing', async (_, name, handler, options, field) => {
    scheduler.define('taken', () => 'kept');
    expect(() => scheduler.define(name as string, handler as () => number, options as DefinitionOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_TASK', field }),
    );
    await expect(scheduler.add('other').result).rejects.toMatchObject({ code: 'UNKNOWN_HANDLER', type: 'other' });
    expect(await scheduler.add('taken')).toBe('kept');
  });

  test.each([
    ['nothing', undefined],
    ['a number', 5],
    ['a definition of another scheduler', new Scheduler().define('taken', () => 1)],
  ])('bad input: %s cannot be added', (_, run) => {
    scheduler.define('taken', () => 'kept');
    expect(() => scheduler.add(run as unknown as string)).toThrow(expect.objectContaining({ field: 'run' }));
    expect(scheduler.size).toBe(0);
  });
});

describe('what is refused because of how things stand rejects accepted and the result, and is never thrown', () => {
  const refusals: readonly [string, string | undefined, AddOptions][] = [
    ['DUPLICATE_TASK', undefined, { id: 'taken' }],
    ['UNKNOWN_DEPENDENCY', undefined, { after: ['nobody'] }],
    ['CYCLE', undefined, { id: 'self', after: ['self'] }],
    ['UNSCHEDULABLE', undefined, { needs: { gpu: 3 } }],
    ['UNSCHEDULABLE', undefined, { needs: { tape: 1 } }],
    ['INVALID_TASK', undefined, { channel: 'shut' }],
    ['UNKNOWN_HANDLER', 'nobody', {}],
  ];

  test.each(refusals)('%s', async (code, name, options) => {
    scheduler.closeChannel('shut');
    const taken = scheduler.add(() => 'taken', { id: 'taken' });
    const handle = name === undefined ? scheduler.add(() => 1, options) : scheduler.add(name, 1, options);
    await expect(handle.accepted).rejects.toMatchObject({ code });
    await expect(handle.result).rejects.toMatchObject({ code });
    await expect(handle).rejects.toMatchObject({ code });
    expect([handle.state, typeof handle.id, scheduler.size]).toEqual(['failed', 'string', 0]);
    if (options.id !== undefined) expect(handle.id).toBe(options.id);
    expect(await taken).toBe('taken');
  });

  test('row 36 a closed scheduler: a typed error', async () => {
    await scheduler.close();
    const handle = scheduler.add(() => 1, { id: 'late' });
    await expect(handle.result).rejects.toMatchObject({ code: 'CLOSED' });
    expect([handle.id, handle.state]).toEqual(['late', 'failed']);
    expect(() => scheduler.add(() => 1, { priority: NaN })).toThrow(/priority/);
  });

  test('and a refusal that nobody listens to does not end the process', async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown): void => {
      unhandled.push(reason);
    };
    process.on('unhandledRejection', listen);
    scheduler.add(() => 1, { after: ['nobody'] });
    void scheduler.add(() => 1, { after: ['nobody'] }).accepted;
    void scheduler.add(() => 1, { after: ['nobody'] }).result;
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', listen);
    expect(unhandled).toEqual([]);
  });

  test('what comes after a refused task is refused too, as an unknown dependency', async () => {
    const refused = scheduler.add(() => 1, { after: ['nobody'] });
    const after = scheduler.add((task) => task.dependencies, { after: [refused] });
    await expect(after.result).rejects.toMatchObject({ code: 'UNKNOWN_DEPENDENCY', dependencyId: refused.id });
    expect(refused.cancel()).toBe(false);
  });
});
