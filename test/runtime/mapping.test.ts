import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { MemoryStore, Scheduler, type MapOptions } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

/** Counts what is taken from it, and whether it was let go. */
class Numbers {
  taken = 0;
  isLetGo = false;

  *sync(count = Infinity): Generator<number> {
    try {
      for (let i = 0; i < count; i += 1) {
        this.taken += 1;
        yield i;
      }
    } finally {
      this.isLetGo = true;
    }
  }

  async *async(count = Infinity): AsyncGenerator<number> {
    await Promise.resolve();
    yield* this.sync(count);
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function take<Value>(from: AsyncIterable<Value>): Promise<Value[]> {
  const values: Value[] = [];
  for await (const value of from) values.push(value);
  return values;
}

describe('map', () => {
  test('C8.3 a text is read character by character, as any other iterable', async () => {
    const scheduler = new Scheduler();
    expect(await take(scheduler.map('añ', (character) => `${character}!`))).toEqual(['a!', 'ñ!']);
    expect(await take(scheduler.map('', () => 'never'))).toEqual([]);
  });

  test.each([null, 5, 'ahead', new Map()])('bad input: %s are no options', (options) => {
    const scheduler = new Scheduler();
    expect(() => scheduler.map([], () => 1, options as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_TASK', field: 'options', value: options }),
    );
  });

  test('C8.3 results come in the order of the items, whichever ends first, from lists and streams alike', async () => {
    const scheduler = new Scheduler({ concurrency: 4 });
    const slowFirst = async (item: number): Promise<number> => {
      for (let i = item; i < 6; i += 1) await turn();
      return item * 10;
    };
    expect(await take(scheduler.map([0, 1, 2, 3, 4, 5], slowFirst))).toEqual([0, 10, 20, 30, 40, 50]);
    expect(await take(scheduler.map(new Numbers().async(5), slowFirst))).toEqual([0, 10, 20, 30, 40]);
    const double = scheduler.define('double', (input: number) => input * 2);
    expect(await take(scheduler.map(new Set([1, 2]), double, { priority: 'high' }))).toEqual([2, 4]);
    expect(await take(scheduler.map([], double))).toEqual([]);
    await scheduler.close();
  });

  test.each(['sync', 'async'] as const)('C8.3 a %s source is read no further than so many ahead', async (kind) => {
    const scheduler = new Scheduler({ concurrency: 2 });
    const numbers = new Numbers();
    const results = scheduler.map(numbers[kind](), (item) => item, { ahead: 5 });
    await turn();
    expect(numbers.taken).toBe(0);
    for (let taken = 0; taken < 20; taken += 1) {
      expect(await results.next()).toEqual({ done: false, value: taken });
      await turn();
      expect(numbers.taken - (taken + 1)).toBeLessThanOrEqual(5);
    }
    await results.return();
    expect([numbers.isLetGo, scheduler.size]).toEqual([true, 0]);
    await scheduler.close();
  });

  test('C8.3 a result is given as soon as it is there, also when the next item is not', async () => {
    const scheduler = new Scheduler();
    let give = (_: IteratorResult<string>): void => undefined;
    const items: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => {
        let asked = 0;
        return {
          next: () => {
            asked += 1;
            if (asked === 1) return Promise.resolve({ done: false, value: 'first' });
            return new Promise((resolve) => {
              give = resolve;
            });
          },
        };
      },
    };
    const results = scheduler.map(items, (item) => item.toUpperCase());
    expect(await results.next()).toEqual({ done: false, value: 'FIRST' });
    const second = results.next();
    await turn();
    give({ done: false, value: 'second' });
    expect(await second).toEqual({ done: false, value: 'SECOND' });
    const end = results.next();
    await turn();
    give({ done: true, value: undefined });
    expect(await end).toEqual({ done: true, value: undefined });
    await scheduler.close();
  });

  test('C8.3 with a bound on pending tasks the source waits like everybody else', async () => {
    const scheduler = new Scheduler({ concurrency: 1, maxPending: 2, maxWaiting: 1, clock: new VirtualClock() });
    const numbers = new Numbers();
    expect(await take(scheduler.map(numbers.sync(30), (item) => item, { ahead: 20 }))).toHaveLength(30);
    await scheduler.close();
  });

  test('a failure ends it with that error, lets the source go, and takes the other tasks back', async () => {
    const scheduler = new Scheduler({ concurrency: 1 });
    const numbers = new Numbers();
    const seen: number[] = [];
    const results = scheduler.map(
      numbers.sync(),
      (item) => {
        if (item === 2) throw new RangeError('two');
        return item;
      },
      { ahead: 4 },
    );
    await expect(
      (async () => {
        for await (const value of results) seen.push(value);
      })(),
    ).rejects.toThrow(RangeError);
    expect([seen, numbers.isLetGo, scheduler.size]).toEqual([[0, 1], true, 0]);
    await scheduler.close();
  });

  test.each(['fails', 'is left'] as const)(
    'a source that is silent does not hold up the end when a task %s',
    async (how) => {
      const scheduler = new Scheduler();
      let isLetGo = false;
      const silent: AsyncIterable<number> = {
        [Symbol.asyncIterator]: () => {
          const items = [1];
          return {
            next: () => {
              const value = items.shift();
              return value === undefined ? new Promise(() => undefined) : Promise.resolve({ done: false, value });
            },
            return: () => {
              isLetGo = true;
              // As that of a generator, which ends only after what it was asked for before.
              return new Promise(() => undefined);
            },
          };
        },
      };
      const results = scheduler.map(silent, (item) => {
        if (how === 'fails') throw new RangeError('one');
        return item;
      });
      if (how === 'fails') await expect(results.next()).rejects.toThrow(RangeError);
      else {
        expect(await results.next()).toEqual({ done: false, value: 1 });
        await results.return();
      }
      expect(isLetGo).toBe(true);
      await scheduler.close();
    },
  );

  test.each(['before', 'meanwhile'] as const)(
    'F1.1 a signal that is aborted %s ends it, also while the source is silent',
    async (when) => {
      const scheduler = new Scheduler();
      const controller = new AbortController();
      let isLetGo = false;
      const silent: AsyncIterable<number> = {
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise(() => undefined),
          return: () => {
            isLetGo = true;
            return when === 'before' ? Promise.resolve({ done: true, value: undefined }) : new Promise(() => undefined);
          },
        }),
      };
      if (when === 'before') controller.abort('enough');
      const results = scheduler.map(silent, (item) => item, { signal: controller.signal });
      const next = results.next().catch((error: unknown) => error);
      await turn();
      controller.abort('enough');
      expect(await next).toMatchObject({ code: 'CANCELLED', reason: 'enough' });
      expect(isLetGo).toBe(true);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      await scheduler.close();
    },
  );

  test('a source is let go also when an item cannot be added', async () => {
    const scheduler = new Scheduler({ store: new MemoryStore() });
    const keep = scheduler.define('keep', (input: unknown) => input);
    let isLetGo = false;
    const items = function* (): Generator {
      try {
        yield () => 'no store can keep a function';
      } finally {
        isLetGo = true;
      }
    };
    await expect(take(scheduler.map(items(), keep))).rejects.toMatchObject({ code: 'PAYLOAD' });
    expect(isLetGo).toBe(true);
    await scheduler.close();
  });

  test('a source that fails is told of after the results of what came before', async () => {
    const scheduler = new Scheduler();
    const broken = function* (): Generator<number> {
      yield 1;
      yield 2;
      throw new RangeError('no more');
    };
    const seen: number[] = [];
    await expect(
      (async () => {
        for await (const value of scheduler.map(broken(), (item) => item)) seen.push(value);
      })(),
    ).rejects.toThrow('no more');
    expect(seen).toEqual([1, 2]);
    await scheduler.close();
  });

  test('a signal ends it', async () => {
    const scheduler = new Scheduler({ concurrency: 1 });
    const controller = new AbortController();
    const results = scheduler.map(new Numbers().sync(), (item) => item, { signal: controller.signal });
    await results.next();
    controller.abort('enough');
    await expect(take(results)).rejects.toMatchObject({ code: 'CANCELLED' });
    await scheduler.close();
  });

  const malformed: readonly [string, unknown, unknown, unknown, string][] = [
    ['a source that cannot be read', 5, () => 1, {}, 'source'],
    ['nothing to run', [1], undefined, {}, 'run'],
    ['a bad number', [1], () => 1, { ahead: 0 }, 'ahead'],
    ['an id', [1], () => 1, { id: 'a' }, 'id'],
    ['a bad option', [1], () => 1, { timeout: -1 }, 'timeout'],
  ];
  test.each(malformed)('bad input: %s throws at once', (_, source, run, options, field) => {
    const scheduler = new Scheduler();
    expect(() => scheduler.map(source as number[], run as () => number, options as MapOptions)).toThrow(
      expect.objectContaining({ code: 'INVALID_TASK', field }),
    );
  });
});
