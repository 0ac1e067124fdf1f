import { expectTypeOf, test } from 'vitest';
import { Scheduler, type Metadata, type TaskView } from '../../src/index.js';

test('metadata is what JSON can say, and is read as that', () => {
  const scheduler = new Scheduler();
  scheduler.add((task) => expectTypeOf(task.metadata).toEqualTypeOf<Metadata | undefined>(), {
    metadata: { tenant: 'acme', tags: ['a', 1, null], nested: { deep: true, left: undefined } },
    durable: false,
  });
  expectTypeOf<TaskView['metadata']>().toEqualTypeOf<Metadata | undefined>();
  // @ts-expect-error a moment is not
  scheduler.add(() => 1, { metadata: { at: new Date() } });
  // @ts-expect-error a list is not an object
  scheduler.add(() => 1, { metadata: ['a'] });
});
