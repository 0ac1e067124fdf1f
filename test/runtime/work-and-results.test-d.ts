import { describe, expectTypeOf, test } from 'vitest';
import {
  InProcess,
  Scheduler,
  type Claim,
  type ClaimedTask,
  type ExecutionOutcome,
  type Executor,
  type FencingToken,
  type FinalState,
  type Occurrence,
  type Work,
} from '../../src/index.js';

const scheduler = new Scheduler({ concurrency: 0 });
const resize = scheduler.define('resize', (input: { readonly url: string }) => Promise.resolve(input.url.length));

describe('F1.1 map carries the types of its source and its results', () => {
  test('an item reaches the handler as what the source gives', () => {
    const sizes = scheduler.map(['a', 'b'], (item, task) => {
      expectTypeOf(item).toEqualTypeOf<string>();
      expectTypeOf(task.input).toEqualTypeOf<string>();
      return Promise.resolve(item.length);
    });
    expectTypeOf(sizes).toExtend<AsyncIterable<number>>();
    async function* pages(): AsyncGenerator<{ readonly url: string }> {
      yield await Promise.resolve({ url: '' });
    }
    expectTypeOf(scheduler.map(pages(), ({ url }) => url)).toExtend<AsyncIterable<string>>();
    expectTypeOf(scheduler.map(pages(), resize, { ahead: 3, retry: 2 })).toExtend<AsyncIterable<number>>();
  });

  test('what does not fit is refused', () => {
    // @ts-expect-error the definition wants a url
    scheduler.map([1, 2], resize);
    // @ts-expect-error a number is nothing to read from
    scheduler.map(5, () => 1);
    // @ts-expect-error there is no such option
    scheduler.map(['a'], () => 1, { ahed: 3 });
    // @ts-expect-error each item has a task of its own
    scheduler.map(['a'], () => 1, { id: 'one' });
  });
});

test('F1.1 the occurrences of a series have the results of what it repeats', async () => {
  const series = scheduler.repeat(resize, { url: '' }, { every: '1s' });
  for await (const occurrence of series.occurrences) {
    expectTypeOf(occurrence).toEqualTypeOf<Occurrence<number>>();
    expectTypeOf(occurrence.result).toEqualTypeOf<Promise<number>>();
    expectTypeOf(occurrence.state).toEqualTypeOf<FinalState>();
  }
  expectTypeOf(series.next).toEqualTypeOf<number | undefined>();
  expectTypeOf(series.state).toEqualTypeOf<'active' | 'paused' | 'ended'>();
});

test('A3.2 a worker gives claims, and what a claim may know is read only', async () => {
  const worker = scheduler.worker({ capabilities: { gpu: true }, lease: '5m', slots: 2, retries: 1 });
  expectTypeOf(worker.claim()).toEqualTypeOf<Promise<Claim | undefined>>();
  expectTypeOf(worker.claimBatch(3)).toEqualTypeOf<Promise<Claim[]>>();
  expectTypeOf(worker.next({ signal: new AbortController().signal })).toEqualTypeOf<Promise<Claim>>();
  for await (const claim of worker) {
    expectTypeOf(claim).toEqualTypeOf<Claim>();
    expectTypeOf(claim.task).toEqualTypeOf<ClaimedTask>();
    expectTypeOf(claim.task.input).toEqualTypeOf<unknown>();
    expectTypeOf(claim.task.dependencies).toEqualTypeOf<readonly unknown[]>();
    expectTypeOf(claim.task.signal).toEqualTypeOf<AbortSignal>();
    expectTypeOf(claim.token).toEqualTypeOf<FencingToken>();
    expectTypeOf(claim.workerId).toEqualTypeOf<string>();
    expectTypeOf(claim.complete({ any: 'result' })).toEqualTypeOf<Promise<void>>();
    expectTypeOf(claim.fail(new Error('no'))).toEqualTypeOf<Promise<void>>();
    expectTypeOf(claim.extend('30s')).toEqualTypeOf<Promise<void>>();
    expectTypeOf(claim.release()).toEqualTypeOf<Promise<void>>();
    // @ts-expect-error a claim is not handed on to another task
    claim.task = claim.task;
    // @ts-expect-error a duration is a number or a text with a unit
    void claim.extend({ seconds: 30 });
  }
  // @ts-expect-error there is no such option
  scheduler.worker({ leese: '5m' });
});

describe('executors', () => {
  test('one of one’s own is an object with these members', () => {
    const echo: Executor = {
      id: 'echo',
      slots: 1,
      capabilities: { echo: ['a', 'b'] },
      execute: (work, signal) => {
        expectTypeOf(work).toEqualTypeOf<Work>();
        expectTypeOf(work.input).toEqualTypeOf<unknown>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        return Promise.resolve({ kind: 'succeeded', value: work.input });
      },
    };
    new Scheduler({ executors: [echo, new InProcess({ id: 'here', slots: 2 })] });
    // @ts-expect-error it cannot run anything
    new Scheduler({ executors: [{ id: 'lame', slots: 1 }] });
  });

  test('how an attempt ended is one of four', () => {
    expectTypeOf<ExecutionOutcome['kind']>().toEqualTypeOf<'succeeded' | 'failed' | 'aborted' | 'lost'>();
    // @ts-expect-error what has failed says why
    const failed: ExecutionOutcome = { kind: 'failed' };
    expectTypeOf(failed).toExtend<ExecutionOutcome>();
  });
});
