import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { CancelledError, Scheduler, type Handle, type PullingWorker, type SchedulerOptions } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

function scheduler(options: SchedulerOptions = {}) {
  const clock = new VirtualClock();
  return { clock, s: new Scheduler({ clock, concurrency: 1, slice: '50ms', ...options }) };
}

/** A wait of virtual time. */
const sleep = (clock: VirtualClock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.setTimer(resolve, ms);
  });

/** Two tasks of three steps, each longer than a slice; what they have done. */
function twoOfThreeSteps(clock: VirtualClock, s: Scheduler): string[] {
  const trace: string[] = [];
  for (const id of ['a', 'b']) {
    s.add(async function* () {
      for (let i = 1; i <= 3; i += 1) {
        await sleep(clock, 60);
        trace.push(`${id}${i}`);
        yield;
      }
    });
  }
  return trace;
}

/** The worker's loop as it is documented: it asks for a task when the one before has ended. */
function serveOneByOne(worker: PullingWorker): void {
  const serve = async (): Promise<void> => {
    for await (const claim of worker) await claim.run();
  };
  void serve();
}

describe('a handler that is an async generator', () => {
  test("C11 what it returns is the result, and what it yields is nobody else's business", async () => {
    const { s } = scheduler();
    const handle = s.add(async function* () {
      yield 'a';
      await Promise.resolve();
      yield 'b';
      return 42;
    });
    expectTypeOf(handle).toEqualTypeOf<Handle<number>>();
    expect(await handle).toBe(42);
    await s.close();
  });

  test('C11 three of them take turns in one slot, each with its local state intact', async () => {
    const { clock, s } = scheduler();
    const trace: string[] = [];
    const handles = ['a', 'b', 'c'].map((id) =>
      s.add(async function* (task) {
        let sum = 0;
        for (let i = 1; i <= 3; i += 1) {
          await sleep(clock, 60);
          sum += i;
          trace.push(`${id}${i}`);
          yield;
        }
        return `${id}: ${sum}, attempt ${task.attempt}`;
      }),
    );
    await clock.advance('10s');
    expect(await Promise.all(handles)).toEqual(['a: 6, attempt 1', 'b: 6, attempt 1', 'c: 6, attempt 1']);
    expect(trace).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3']);
  });

  test('C11 without anybody who waits it goes on, and inside its slice too', async () => {
    const { clock, s } = scheduler({ slice: '1s' });
    const trace: string[] = [];
    for (const id of ['a', 'b']) {
      s.add(async function* () {
        for (let i = 1; i <= 2; i += 1) {
          await sleep(clock, 300);
          trace.push(`${id}${i}`);
          yield;
        }
      });
    }
    await clock.advance('10s');
    expect(trace).toEqual(['a1', 'a2', 'b1', 'b2']);
  });

  test('C10.1 C11 one that is to make way does so at its next yield, and its signal is left alone', async () => {
    const { clock, s } = scheduler({ slice: '1h' });
    const trace: string[] = [];
    const background = s.add(
      async function* (task) {
        for (let i = 1; i <= 4; i += 1) {
          await sleep(clock, 600);
          trace.push(`step ${i}`);
          yield;
        }
        return [task.attempt, task.signal.aborted];
      },
      { priority: 'low', preemptible: true },
    );
    await clock.advance(1_300);
    s.add(() => trace.push('urgent'), { priority: 'high' });
    await clock.advance('10s');
    expect(trace).toEqual(['step 1', 'step 2', 'step 3', 'urgent', 'step 4']);
    expect(await background).toEqual([1, false]);
  });

  test('C10.1 C11 with what it would keep it stops there, tidies up, and goes again', async () => {
    const { clock, s } = scheduler({ slice: '1h', resources: { gpu: 1 } });
    const trace: string[] = [];
    const background = s.add(
      async function* (task) {
        try {
          for (let i = 1; i <= 3; i += 1) {
            await sleep(clock, 600);
            yield;
          }
          return task.attempt;
        } finally {
          trace.push(`tidied ${task.attempt}`);
        }
      },
      { priority: 'low', preemptible: true, needs: { gpu: 1 } },
    );
    await clock.advance(1_300);
    s.add(() => trace.push('urgent'), { priority: 'high', needs: { gpu: 1 } });
    await clock.advance('10s');
    expect(trace).toEqual(['tidied 1', 'urgent', 'tidied 2']);
    expect(await background).toBe(2);
  });

  test('C11 cancelled while it gives way, it tidies up and rejects', async () => {
    const { clock, s } = scheduler();
    const trace: string[] = [];
    const handle = s.add(async function* () {
      try {
        await sleep(clock, 60);
        yield;
        trace.push('goes on');
      } finally {
        trace.push('tidied');
      }
    });
    s.add(() => sleep(clock, 500));
    await clock.advance(100);
    handle.cancel('enough');
    await expect(handle.result).rejects.toBeInstanceOf(CancelledError);
    await clock.advance('1s');
    expect(trace).toEqual(['tidied']);
  });

  test('C11 cancelled while it works, it ends at its next yield', async () => {
    const { clock, s } = scheduler();
    const trace: string[] = [];
    const handle = s.add(async function* () {
      for (let i = 1; i <= 9; i += 1) {
        await sleep(clock, 60);
        trace.push(`step ${i}`);
        yield;
      }
    });
    await clock.advance(100);
    handle.cancel();
    await expect(handle.result).rejects.toBeInstanceOf(CancelledError);
    await clock.advance('1s');
    expect(trace).toEqual(['step 1', 'step 2']);
  });

  test('C11 F1.2 all its steps run in the context of whoever added it', async () => {
    const { clock, s } = scheduler();
    const storage = new AsyncLocalStorage<string>();
    const add = (id: string): Handle<unknown> =>
      storage.run(id, () =>
        s.add(async function* () {
          const seen = [storage.getStore()];
          await sleep(clock, 60);
          yield;
          seen.push(storage.getStore());
          return seen;
        }),
      );
    const both = [add('a'), add('b')];
    await clock.advance('1s');
    expect(await Promise.all(both)).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
  });

  test('C11 what it throws fails it, and a handler that returns something to iterate is no generator', async () => {
    const { s } = scheduler();
    const failing = s.add(async function* () {
      yield;
      await Promise.resolve();
      throw new Error('no');
    });
    await expect(failing.result).rejects.toThrow('no');
    const list = { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: 1 }) }) };
    expect(await s.add(() => list)).toBe(list);
    await s.close();
  });

  test('C11 a pulled claim that runs it takes part', async () => {
    const { clock, s } = scheduler({ concurrency: 0 });
    const worker = s.worker({ id: 'w', slots: 1 });
    const trace: string[] = [];
    for (const id of ['a', 'b']) {
      s.add(async function* () {
        for (let i = 1; i <= 2; i += 1) {
          await sleep(clock, 60);
          trace.push(`${id}${i}`);
          yield;
        }
      });
    }
    const serve = async (): Promise<void> => {
      for await (const claim of worker) void claim.run();
    };
    void serve();
    await clock.advance('5s');
    expect(trace).toEqual(['a1', 'b1', 'a2', 'b2']);
    await worker.close();
  });

  test('C11 at a worker that asks for a task only when one has ended, it goes on to its end', async () => {
    const { clock, s } = scheduler({ concurrency: 0 });
    const trace = twoOfThreeSteps(clock, s);
    serveOneByOne(s.worker({ id: 'w', slots: 1 }));
    await clock.advance('1m');
    expect(trace).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
    await s.close();
  });

  test('C11 two claims at one worker take turns though nobody waits for a third task', async () => {
    const { clock, s } = scheduler({ concurrency: 0 });
    const worker = s.worker({ id: 'w', slots: 1 });
    const trace = twoOfThreeSteps(clock, s);
    s.add(() => trace.push('c'));
    for (const claim of [worker.next(), worker.next()]) void claim.then((each) => each.run());
    await clock.advance('1m');
    expect(trace).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
    await s.close();
  });

  test.each([
    ['the scheduler is paused', { pause: true }],
    ['admit holds starts back', { pause: false }],
  ])('C11 C8.5 while %s it goes on: nobody new could start in its place', async (_, { pause }) => {
    let open = true;
    const { clock, s } = scheduler({ admit: () => open, admitEvery: '1h' });
    const trace = twoOfThreeSteps(clock, s);
    await clock.advance(10);
    if (pause) s.pause();
    open = pause;
    s.add(() => 1, { delay: 1 });
    await clock.advance(60);
    expect([trace, s.running]).toEqual([['a1'], 1]);
    await clock.advance(10_000);
    expect([trace, s.running]).toEqual([['a1', 'a2', 'a3'], 0]);
    open = true;
    s.resume();
    await clock.advance(10_000);
    expect(trace).toEqual(['a1', 'a2', 'a3', 'b1', 'b2', 'b3']);
    await s.close();
  });

  test('C11 paused, those that have begun still take turns, and a resumed scheduler lets the next one in', async () => {
    const { clock, s } = scheduler();
    const trace = twoOfThreeSteps(clock, s);
    await clock.advance(70);
    expect(trace).toEqual(['a1']);
    s.add(() => trace.push('c'), { priority: 'high' });
    s.pause();
    await clock.advance(150);
    expect([...trace].sort()).toEqual(['a1', 'a2', 'b1']);
    s.resume();
    await clock.advance(60);
    expect(trace).toContain('c');
    await clock.advance(1_000);
    await s.close();
  });

  test('C10.1 C11 asked to make way and then paused, it goes on, as nobody could start in its place', async () => {
    const { clock, s } = scheduler({ preemption: { minRun: 0, grace: '10s' } });
    const trace: string[] = [];
    s.add(
      async function* () {
        for (let i = 1; i <= 3; i += 1) {
          await sleep(clock, 60);
          trace.push(`a${i}`);
          yield;
        }
      },
      { preemptible: true, priority: 'low' },
    );
    await clock.advance(10);
    s.add(() => trace.push('urgent'), { priority: 'critical' });
    await clock.settle();
    s.pause();
    await clock.advance(100);
    expect([trace, s.running]).toEqual([['a1'], 1]);
    s.resume();
    await clock.advance(20);
    expect(trace).toEqual(['a1', 'a2', 'urgent']);
    await clock.advance(1_000);
    expect(trace).toEqual(['a1', 'a2', 'urgent', 'a3']);
    await s.close();
  });

  test('C10.1 C11 one that is to make way ends where its worker takes nobody before that, and goes again', async () => {
    const { clock, s } = scheduler({ concurrency: 0, preemption: { minRun: 0, grace: '1s' } });
    const trace: string[] = [];
    const low = s.add(
      async function* (task) {
        for (let i = 1; i <= 3; i += 1) {
          await sleep(clock, 60);
          trace.push(`low${i}#${task.attempt}`);
          yield;
        }
      },
      { priority: 'low', preemptible: true },
    );
    serveOneByOne(s.worker({ id: 'w', slots: 1 }));
    await clock.advance(70);
    s.add(() => trace.push('urgent'), { priority: 'critical' });
    await clock.advance('1m');
    expect(trace).toEqual(['low1#1', 'low2#1', 'urgent', 'low1#2', 'low2#2', 'low3#2']);
    await low;
    await s.close();
  });
});

test.each([-1, 'soon', null])('refuses %o as a slice', (slice) => {
  expect(() => new Scheduler({ slice } as unknown as SchedulerOptions)).toThrow(
    expect.objectContaining({ field: 'slice' }),
  );
});
