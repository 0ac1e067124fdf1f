import { describe, expectTypeOf, test } from 'vitest';
import { Scheduler, type Definition, type Handle, type SeriesHandle, type TaskContext } from '../../src/index.js';

const scheduler = new Scheduler();
const resize = scheduler.define('resize', async (input: { readonly url: string }, task) => {
  expectTypeOf(task.input).toEqualTypeOf<{ readonly url: string }>();
  expectTypeOf(task.dependencies).toEqualTypeOf<readonly unknown[]>();
  await Promise.resolve();
  return input.url.length;
});
const tick = scheduler.define('tick', () => 'tock');
const maybe = scheduler.define('maybe', (input: number | undefined) => input ?? 0);
const count = scheduler.add(() => 1);
const needsCount = scheduler.define('needsCount', (_: undefined, task: TaskContext<readonly [number], undefined>) => {
  return task.dependencies[0];
});

describe('a definition carries the types of its input and its result', () => {
  test('the handle has its result, the input is checked', () => {
    expectTypeOf(resize).toEqualTypeOf<Definition<{ readonly url: string }, number>>();
    expectTypeOf(scheduler.add(resize, { url: '' })).toEqualTypeOf<Handle<number>>();
    expectTypeOf(scheduler.add(resize, { url: '' }, { priority: 'high' })).toEqualTypeOf<Handle<number>>();
    // @ts-expect-error the url is a text
    scheduler.add(resize, { url: 1 });
    // @ts-expect-error the input is missing
    scheduler.add(resize);
    // @ts-expect-error there is no such option
    scheduler.add(resize, { url: '' }, { prioirty: 1 });
  });

  test('an input that may be left out can be', () => {
    expectTypeOf(scheduler.add(tick)).toEqualTypeOf<Handle<string>>();
    expectTypeOf(scheduler.add(maybe)).toEqualTypeOf<Handle<number>>();
    expectTypeOf(scheduler.add(maybe, 5, { id: 'five' })).toEqualTypeOf<Handle<number>>();
  });

  test('of a name nothing is known', () => {
    expectTypeOf(scheduler.add('resize', { url: '' })).toEqualTypeOf<Handle<unknown>>();
  });

  test('C4.1 a definition may say which results it needs, and is refused where it gets others', () => {
    const sum = scheduler.define('sum', (by: number, task: TaskContext<readonly [number], number>) => {
      return by * task.dependencies[0];
    });
    expectTypeOf(scheduler.add(sum, 2, { after: [count] })).toEqualTypeOf<Handle<number>>();
    // @ts-expect-error a text is no number
    scheduler.add(sum, 2, { after: [scheduler.add(() => 'a')] });
    // @ts-expect-error it needs one
    scheduler.add(sum, 2);
  });

  test('a function brings its own input', () => {
    scheduler.add((task) => {
      expectTypeOf(task.input).toEqualTypeOf<unknown>();
    });
  });
});

describe('a series carries the types of what it repeats', () => {
  test('its occurrences have the result, the input is checked', () => {
    expectTypeOf(scheduler.repeat(resize, { url: '' }, { every: '1s' })).toEqualTypeOf<SeriesHandle<number>>();
    expectTypeOf(scheduler.repeat(tick, undefined, { cron: '0 9 * * *' })).toEqualTypeOf<SeriesHandle<string>>();
    expectTypeOf(scheduler.repeat('resize', { url: '' }, { every: '1s' })).toEqualTypeOf<SeriesHandle<unknown>>();
    expectTypeOf(scheduler.repeat(() => 1, { every: '1s' })).toEqualTypeOf<SeriesHandle<number>>();
    // @ts-expect-error the url is a text
    scheduler.repeat(resize, { url: 1 }, { every: '1s' });
    // @ts-expect-error when it repeats is missing
    scheduler.repeat(resize, { url: '' });
    // @ts-expect-error there is no such option
    scheduler.repeat(resize, { url: '' }, { evry: '1s' });
    // @ts-expect-error a series comes after nothing
    scheduler.repeat(needsCount, undefined, { every: '1s' });
  });
});
