import { expect, test } from 'vitest';
import { CycleError, Scheduler, UnknownDependencyError } from '../../src/index.js';

test('C1 what is refused has one id: in its handle, its error and its event, and nobody else gets it', async () => {
  const scheduler = new Scheduler();
  const told: string[] = [];
  scheduler.on('refused', ({ taskId }) => told.push(taskId));
  const refused = scheduler.add(() => 1, { after: ['ghost'] });
  const error = await refused.result.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UnknownDependencyError);
  expect(error).toMatchObject({ taskId: refused.id });
  expect(told).toEqual([refused.id]);
  expect(scheduler.add(() => 1).id).not.toBe(refused.id);
  await scheduler.close();
});

test('C1 so has each task of a batch, also in the path of a circle', async () => {
  const scheduler = new Scheduler();
  const handles = scheduler.addAll({
    a: { run: () => 1, after: ['b'] },
    b: { run: () => 2, after: ['a'] },
  });
  const error = await handles.a.result.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CycleError);
  const ids = [handles.a.id, handles.b.id];
  expect(new Set((error as CycleError).path)).toEqual(new Set(ids));
  expect(ids).not.toContain(scheduler.add(() => 1).id);
  await scheduler.close();
});

test('B3.3 retryIf is given what was thrown, and so is a backoff that is a function', async () => {
  class NotFound extends Error {
    readonly status: number = 404;
  }
  const scheduler = new Scheduler();
  const seen: unknown[] = [];
  const handle = scheduler.add(
    (task) => {
      if (task.attempt === 1) throw new Error('once');
      throw new NotFound('gone');
    },
    {
      retry: {
        attempts: 9,
        backoff: (attempt, error) => {
          seen.push([attempt, error instanceof Error]);
          return 0;
        },
        retryIf: (error) => !(error instanceof NotFound && error.status === 404),
      },
    },
  );
  await expect(handle.result).rejects.toBeInstanceOf(NotFound);
  expect(seen).toEqual([[1, true]]);
  await scheduler.close();
});

test('row 18 what was thrown and is no error is shown to retryIf as its record', async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const shown: string[] = [];
  const scheduler = new Scheduler();
  for (const thrown of [undefined, 'text', proxy]) {
    const fails = async (): Promise<never> => {
      await Promise.resolve();
      throw thrown as Error;
    };
    const retryIf = ({ name }: { name: string }): boolean => {
      shown.push(typeof name);
      return false;
    };
    await scheduler.add(fails, { retry: { attempts: 2, retryIf } }).catch(() => undefined);
  }
  expect(shown).toEqual(['string', 'string', 'string']);
  await scheduler.close();
});
