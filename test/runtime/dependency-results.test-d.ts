import { describe, expectTypeOf, test } from 'vitest';
import { Scheduler, type AddOptions, type Handle, type Handler, type TaskContext } from '../../src/index.js';

const scheduler = new Scheduler();
const count = scheduler.add(() => 1);
const name = scheduler.add(() => Promise.resolve('a'));

describe('C4.1 the results of dependencies reach the handler with their types', () => {
  test('C4.1 handles give a tuple of their results, in the order named', () => {
    const both = scheduler.add(
      (task) => {
        expectTypeOf(task.dependencies).toEqualTypeOf<readonly [number, string]>();
        const [first, second] = task.dependencies;
        return second.repeat(first);
      },
      { after: [count, name] },
    );
    expectTypeOf(both).toEqualTypeOf<Handle<string>>();
  });

  test('C4.1 an id says nothing about what it gives, and does not spoil the others', () => {
    scheduler.add(
      (task) => {
        expectTypeOf(task.dependencies).toEqualTypeOf<readonly [unknown, string]>();
      },
      { after: ['some-id', name] },
    );
  });

  test('C4.1 a dependency that may fail without stopping the task may have given nothing', () => {
    scheduler.add(
      (task) => {
        expectTypeOf(task.dependencies).toEqualTypeOf<readonly [number | undefined, string, unknown]>();
      },
      {
        after: [
          { task: count, onFailure: 'run' },
          { task: name, onFailure: 'skip' },
          { task: 'id', onFailure: 'fail' },
        ],
      },
    );
    scheduler.add(
      (task) => {
        expectTypeOf(task.dependencies).toEqualTypeOf<readonly [number | undefined, string]>();
      },
      { after: [count, { task: name, onFailure: 'fail' }], onDependencyFailure: 'run' },
    );
    scheduler.add(
      (task) => {
        expectTypeOf(task.dependencies).toEqualTypeOf<readonly [number]>();
      },
      { after: [count], onDependencyFailure: 'skip' },
    );
  });

  test('C4.1 without dependencies there is nothing to read', () => {
    scheduler.add((task) => {
      expectTypeOf(task.dependencies).toEqualTypeOf<readonly []>();
    });
    scheduler.add(
      (task) => {
        expectTypeOf(task.dependencies).toEqualTypeOf<readonly []>();
      },
      { priority: 'high' },
    );
  });

  test('C4.1 a list whose length is not known gives a list of what its handles give', () => {
    const counts: Handle<number>[] = [count];
    scheduler.add(
      (task) => {
        expectTypeOf(task.dependencies).toEqualTypeOf<readonly number[]>();
      },
      { after: counts },
    );
    const options: AddOptions = { after: [count] };
    scheduler.add((task) => {
      expectTypeOf(task.dependencies).toEqualTypeOf<readonly unknown[]>();
    }, options);
  });

  test('C4.1 a handler written apart from its call says what it needs, and is refused where it gets something else', () => {
    const shout = (task: TaskContext<readonly [string]>): string => task.dependencies[0].toUpperCase();
    expectTypeOf(scheduler.add(shout, { after: [name] })).toEqualTypeOf<Handle<string>>();
    // @ts-expect-error the handle gives a number
    scheduler.add(shout, { after: [count] });
    // @ts-expect-error the dependency may have given nothing
    scheduler.add(shout, { after: [{ task: name, onFailure: 'run' }] });
    const any: Handler<number> = (task) => task.dependencies.length;
    expectTypeOf(scheduler.add(any, { after: [count, name] })).toEqualTypeOf<Handle<number>>();
  });
});
