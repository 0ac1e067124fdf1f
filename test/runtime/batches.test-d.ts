import { describe, expectTypeOf, test } from 'vitest';
import { Scheduler, type Handle, type TaskContext, type TaskReference } from '../../src/index.js';

const scheduler = new Scheduler();
const resize = scheduler.define('resize', (input: { readonly url: string }) => input.url.length);

describe('C4.1 types of what is added together', () => {
  test('submit gives a reference with the result, which others can come after', async () => {
    const reference = await scheduler.submit(() => Promise.resolve(1));
    expectTypeOf(reference).toEqualTypeOf<TaskReference<number>>();
    expectTypeOf(await scheduler.submit(resize, { url: '' })).toEqualTypeOf<TaskReference<number>>();
    scheduler.add(
      (task) => {
        expectTypeOf(task.dependencies).toEqualTypeOf<readonly [number]>();
      },
      { after: [reference] },
    );
    // @ts-expect-error the input is missing
    await scheduler.submit(resize);
  });

  test('addAll gives handles in the form of its entries', () => {
    const { text, size, unknown } = scheduler.addAll({
      text: { run: () => 'a' },
      size: {
        run: async (task) => {
          expectTypeOf(task).toEqualTypeOf<TaskContext>();
          await Promise.resolve();
          return 1;
        },
        after: ['text'],
      },
      unknown: { name: 'resize', input: { url: '' } },
    });
    expectTypeOf(text).toEqualTypeOf<Handle<string>>();
    expectTypeOf(size).toEqualTypeOf<Handle<number>>();
    expectTypeOf(unknown).toEqualTypeOf<Handle<unknown>>();
    const list = scheduler.addAll([{ run: () => 'a' }, { run: resize, input: { url: '' } }]);
    expectTypeOf(list).toEqualTypeOf<[Handle<string>, Handle<number>]>();
  });

  test('addAll checks the input of a definition', () => {
    // @ts-expect-error the url is a text
    scheduler.addAll({ size: { run: resize, input: { url: 1 } } });
    // @ts-expect-error the input is missing
    scheduler.addAll([{ run: resize }]);
    // @ts-expect-error a number cannot run
    scheduler.addAll([{ run: 5 }]);
  });

  test('in a batch the results of one reach the other with their types', () => {
    const sum = scheduler.batch((batch) => {
      const one = batch.add(() => 1);
      const size = batch.add(resize, { url: '' });
      return batch.add(
        (task) => {
          expectTypeOf(task.dependencies).toEqualTypeOf<readonly [number, number]>();
          return String(task.dependencies[0]);
        },
        { after: [one, size] },
      );
    });
    expectTypeOf(sum).toEqualTypeOf<Handle<string>>();
  });
});
