import { expect, test } from 'vitest';
import { Scheduler, type DependencyFailedError, type Handle } from '../../src/index.js';
import { Core, type CoreSnapshot } from '../../src/core/index.js';
import type { Fact, Task } from '../../src/model/index.js';
import { failureOf } from '../../src/runtime/failure.js';
import { VirtualClock, sim } from '../../src/testing/index.js';

const thrownBy = (handle: Handle<unknown>): Promise<unknown> =>
  handle.result.then(
    () => expect.fail('it has completed'),
    (error: unknown) => error,
  );

/** The codes, or else the messages, of an error and its causes. */
function story(error: unknown): string[] {
  const told: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) told.push((at as { code?: string }).code ?? at.message);
  return told;
}

test('C3.1 the cause is the very error that the dependency threw, whether the dependant fails or is skipped', async () => {
  const scheduler = new Scheduler();
  const thrown = new TypeError('no');
  const failing = scheduler.add(() => Promise.reject(thrown), { id: 'failing' });
  const below = [
    scheduler.add(() => 1, { after: [failing] }),
    scheduler.add(() => 1, { after: [failing], onDependencyFailure: 'skip' }),
  ];
  await scheduler.onIdle();
  below.push(scheduler.add(() => 1, { after: ['failing'] }));
  for (const handle of below)
    expect(await thrownBy(handle)).toMatchObject({ code: 'DEPENDENCY_FAILED', cause: thrown });
  for (const handle of below) expect(((await thrownBy(handle)) as Error).cause).toBe(thrown);
  const text: unknown = 'text';
  const odd = scheduler.add(() => {
    throw text;
  });
  const belowOdd = await thrownBy(scheduler.add(() => 1, { after: [odd] }));
  expect(belowOdd).toMatchObject({ cause: { message: 'text', cause: 'text' } });
  await scheduler.close();
});

test('C3.1 dependants of dependants tell each step, down to where it began', async () => {
  const scheduler = new Scheduler();
  const thrown = new Error('no');
  scheduler.add(() => Promise.reject(thrown), { id: 'a' });
  scheduler.add(() => 1, { id: 'b', after: ['a'] });
  scheduler.add(() => 1, { id: 'c', after: ['b'], onDependencyFailure: 'skip' });
  const last = scheduler.add(() => 1, { id: 'd', after: ['c'] });
  const error = (await thrownBy(last)) as Error;
  expect(story(error)).toEqual(['DEPENDENCY_FAILED', 'DEPENDENCY_FAILED', 'DEPENDENCY_FAILED', 'no']);
  expect(error).toMatchObject({
    ...{ taskId: 'd', dependencyId: 'c', state: 'skipped' },
    cause: {
      taskId: 'c',
      dependencyId: 'b',
      state: 'failed',
      cause: { taskId: 'b', dependencyId: 'a', cause: thrown },
    },
  });
  expect((((error.cause as Error).cause as Error).cause as Error) === thrown).toBe(true);
  await scheduler.close();
});

test('C3.1 what a handler throws on is its own error, also where it waited for one that did not run', async () => {
  const scheduler = new Scheduler();
  const failing = scheduler.add(() => Promise.reject(new Error('no')));
  const below = scheduler.add(() => 1, { after: [failing] });
  const waiting = scheduler.add((task) => task.waitFor(below));
  expect(await thrownBy(waiting)).toMatchObject({ taskId: below.id, cause: { message: 'no' } });
  await scheduler.close();
});

test('C3.1 a dependency that was taken back is told as that', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock });
  const expires = clock.now().wall + 1_000;
  const cancelled = scheduler.add(() => 1, { delay: '1h' });
  const expired = scheduler.add(() => 1, { delay: '1h', expires });
  const slow = scheduler.add(() => new Promise(() => undefined), { timeout: '1s' });
  const skips = { onDependencyFailure: 'skip' } as const;
  const below = [cancelled, expired, slow].map((each) => scheduler.add(() => 1, { after: [each], ...skips }));
  cancelled.cancel('enough');
  await clock.advance(1_000);
  const errors = await Promise.all(below.map(thrownBy));
  expect(errors).toMatchObject([
    { state: 'cancelled', cause: { code: 'CANCELLED', taskId: cancelled.id, reason: 'enough' } },
    { state: 'cancelled', cause: { code: 'EXPIRED', taskId: expired.id, expires } },
    { state: 'failed', cause: { code: 'TIMEOUT', taskId: slow.id } },
  ]);
});

test('C3.1 of a long chain the middle is left out, and nobody keeps more than a few errors', async () => {
  const scheduler = new Scheduler({ retain: { count: 10_000 } });
  const thrown = new Error('no');
  const handles: Handle<unknown>[] = [scheduler.add(() => Promise.reject(thrown))];
  for (let at = 1; at < 2_000; at += 1)
    handles.push(scheduler.add(() => at, { after: [handles.at(-1) as Handle<unknown>] }));
  await scheduler.onIdle();
  for (const handle of handles.slice(2)) {
    const error = (await thrownBy(handle)) as DependencyFailedError;
    expect(story(error).length).toBeLessThanOrEqual(5);
    expect(story(error).at(-1)).toBe('no');
    expect(error.cause).toMatchObject({ code: 'DEPENDENCY_FAILED', taskId: error.dependencyId });
  }
  await scheduler.close();
});

test('C3.1 of a dependency that is forgotten no cause is known', async () => {
  const scheduler = new Scheduler({ retain: { count: 0 } });
  await thrownBy(scheduler.add(() => Promise.reject(new Error('no')), { id: 'a' }));
  const error = await thrownBy(scheduler.add(() => 1, { after: ['a'] }));
  expect(error).toMatchObject({ code: 'DEPENDENCY_FAILED', dependencyId: 'a', state: 'failed' });
  expect('cause' in (error as Error)).toBe(false);
  await scheduler.close();
});

test('C3.1 G8 causes are in the records: after a restart, and when the facts happen again, their codes and texts are told', () => {
  const s = sim();
  s.add('a');
  s.add('b', { after: ['a'] });
  s.add('c', { after: [{ task: 'b', onFailure: 'skip' }] });
  s.add('x', { delay: 1_000 });
  s.add('y', { after: ['x'] });
  s.claim(1);
  s.fail('a', Object.assign(new Error('no'), { code: 'E_NO' }), false);
  s.cancel('x');
  const saved = JSON.parse(JSON.stringify(s.core.snapshot())) as CoreSnapshot;
  const replayed = new Core({ origin: saved.origin });
  for (const fact of JSON.parse(JSON.stringify(s.facts)) as Fact[]) replayed.apply(fact);
  expect(JSON.parse(JSON.stringify(replayed.snapshot().tasks))).toEqual(saved.tasks);
  for (const core of [Core.restore(saved), replayed]) {
    const taskOf = (id: string): Task => core.state.table.byId(id) as Task;
    expect(['b', 'c', 'y'].map((id) => story(failureOf(taskOf(id))))).toEqual([
      ['DEPENDENCY_FAILED', 'E_NO'],
      ['DEPENDENCY_FAILED', 'DEPENDENCY_FAILED', 'E_NO'],
      ['DEPENDENCY_FAILED', 'CANCELLED'],
    ]);
    expect(failureOf(taskOf('b')).cause).toMatchObject({ message: 'no', code: 'E_NO' });
    expect(taskOf('b').extra?.error?.because).toEqual({ name: 'Error', message: 'no', code: 'E_NO' });
  }
});
