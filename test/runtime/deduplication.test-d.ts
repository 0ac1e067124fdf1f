import { expectTypeOf, test } from 'vitest';
import { Scheduler, type Handle } from '../../src/index.js';

const scheduler = new Scheduler();
const save = scheduler.define('save', (text: string) => text.length, { debounce: '2s' });

test('F4.4 the result of what may be kept is that of the call: whoever names an id says what it stands for', () => {
  const kept = scheduler.add(() => 1, { id: 'a', ifExists: 'keep' });
  expectTypeOf(kept).toEqualTypeOf<Handle<number>>();
  expectTypeOf(scheduler.add(save, 'a', { id: 'a', ifExists: 'replace' })).toEqualTypeOf<Handle<number>>();
  scheduler.add((task) => expectTypeOf(task.dependencies).toEqualTypeOf<readonly [number]>(), {
    after: [kept],
    id: 'b',
    ifExists: 'keep',
  });
  scheduler.add(async (task) => {
    expectTypeOf(task.add(() => 'a', { id: 'c', ifExists: 'keep' })).toEqualTypeOf<Handle<string>>();
    await Promise.resolve();
  });
  expectTypeOf(kept.cancel()).toEqualTypeOf<boolean>();
  expectTypeOf(scheduler.cancel(kept)).toEqualTypeOf<number>();
});

test('F4.4 only keep and replace are said of one that exists', () => {
  // @ts-expect-error it is kept or replaced
  scheduler.add(() => 1, { id: 'a', ifExists: 'ignore' });
  // @ts-expect-error the same in a batch
  scheduler.addAll([{ run: () => 1, id: 'a', ifExists: true }]);
  // @ts-expect-error and of a definition
  scheduler.add(save, 'a', { id: 'a', ifExists: 'update' });
});

test('F4.2 a key is a name, a pace a duration', () => {
  expectTypeOf(scheduler.add(save, 'a', { key: 'draft' })).toEqualTypeOf<Handle<number>>();
  expectTypeOf(scheduler.add(() => 'a', { key: 'k', throttle: 1_000 })).toEqualTypeOf<Handle<string>>();
  // @ts-expect-error a key is a text
  scheduler.add(() => 1, { key: 1 });
  // @ts-expect-error a pace is a duration
  scheduler.add(() => 1, { key: 'k', debounce: true });
  // @ts-expect-error a moment is no duration
  scheduler.add(() => 1, { key: 'k', throttle: new Date() });
  // @ts-expect-error of the shared work only the last call's input counts, and it is checked as ever
  scheduler.add(save, 1, { key: 'draft' });
});
