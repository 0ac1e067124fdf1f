import { describe, expect, test } from 'vitest';
import { InProcess, type ExecutionOutcome, type Executor, type Work } from '../../src/index.js';
import { EXECUTOR_HANDLERS, executorChecks, type ExecutorCheckName } from '../../src/testing/index.js';
import { WorkerThreads } from '../../src/worker-threads.js';

describe('the executor that runs functions of this process conforms', () => {
  const make = (): Executor => new InProcess({ id: 'here', slots: 3 });
  const reason = 'a function of this process cannot be ended, nor end alone';
  const skip = {
    'ends a handler that does not listen': reason,
    'tells that whatever ran an attempt is gone, and goes on': reason,
  };
  for (const { name, skipped, run } of executorChecks({ make, skip })) {
    test.skipIf(skipped !== undefined)(name, run);
  }
});

describe('worker threads conform', () => {
  const make = (): Executor => new WorkerThreads({ module: EXECUTOR_HANDLERS, threads: 2, grace: 0 });
  for (const { name, run } of executorChecks({ make })) test(name, run);
});

/** One that is right, to be made wrong in one way. */
const right: Executor = {
  id: 'right',
  slots: 2,
  async execute(work, signal): Promise<ExecutionOutcome> {
    if (signal.aborted) return { kind: 'aborted' };
    if (work.name === 'die') return work.attempt === 1 ? { kind: 'lost' } : { kind: 'aborted' };
    if (work.name !== 'spin') return { kind: 'succeeded', value: await work.run() };
    // What would never end is ended from outside.
    work.progress('running');
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    return { kind: 'aborted' };
  },
};

/** The names of the checks that an executor does not pass. */
async function failedChecks(executor: Executor, patienceMs: number): Promise<ExecutorCheckName[]> {
  const failed: string[] = [];
  for (const { name, run } of executorChecks({ make: () => executor, patienceMs })) {
    await run().catch(() => failed.push(name));
  }
  return failed as ExecutorCheckName[];
}

const execute = (work: Work, signal: AbortSignal): Promise<ExecutionOutcome> => right.execute(work, signal);

/** Runs one at a time, for all its slots. */
function inTurn(): Executor['execute'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work, signal) => {
    const turn = last.then(() => execute(work, signal));
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** Gives everybody what the first one got. */
function mixedUp(): Executor['execute'] {
  let first: Promise<ExecutionOutcome> | undefined;
  return async (work, signal) => {
    const own = execute(work, signal);
    if (work.name !== 'listen') return own;
    first ??= own;
    await own;
    return first;
  };
}

const GONE = 'tells that whatever ran an attempt is gone, and goes on';
const AT_ONCE = 'keeps attempts apart that run at once, as many as it has slots';
const KNOWN = 'gives back what a handler returns, and hands over what is known of the attempt';
const ORDER = 'lets progress and checkpoints through in order, before the outcome';

const WRONG: readonly (readonly [fault: string, wrong: Partial<Executor>, caught: ExecutorCheckName])[] = [
  ['has no id', { id: '' }, 'says who it is and how much it takes'],
  ['has no slots', { slots: 0 }, 'says who it is and how much it takes'],
  ['forgets the results of dependencies', { execute: (work, signal) => loses(work, signal) }, KNOWN],
  ['answers with something else than an outcome', { execute: (work, signal) => bare(work, signal) }, KNOWN],
  [
    'takes a failure for a result',
    { execute: (work, signal) => execute(work, signal).catch((value: unknown) => ({ kind: 'succeeded', value })) },
    'tells what a handler throws, and goes on',
  ],
  ['runs one after another', { execute: inTurn() }, AT_ONCE],
  ['mixes up results', { execute: mixedUp() }, AT_ONCE],
  ['drops checkpoints', { execute: (work, signal) => execute(without(work, 'checkpoint'), signal) }, ORDER],
  [
    'never aborts',
    { execute: (work) => (work.name === 'listen' ? never(work) : execute(work, new AbortController().signal)) },
    'aborts a handler that listens',
  ],
  [
    'begins what was aborted before',
    {
      execute: (work, signal) => (signal.aborted ? execute(work, new AbortController().signal) : execute(work, signal)),
    },
    'does not begin what was aborted before',
  ],
  [
    'does not end what does not listen',
    { execute: (work, signal) => (work.name === 'spin' ? never(work) : execute(work, signal)) },
    'ends a handler that does not listen',
  ],
  [
    'takes a loss for a failure',
    { execute: (work, signal) => (work.name === 'die' ? Promise.reject(new Error('exit')) : execute(work, signal)) },
    GONE,
  ],
  ['cannot be closed again', closesOnce(), 'can be closed more than once'],
];

async function bare(work: Work, signal: AbortSignal): Promise<ExecutionOutcome> {
  const outcome = await execute(work, signal);
  return outcome.kind === 'succeeded' ? (outcome.value as ExecutionOutcome) : outcome;
}

function never(work: Work): Promise<never> {
  work.progress('running');
  return new Promise(() => undefined);
}

function without(work: Work, member: 'checkpoint' | 'progress'): Work {
  const tells = { [member]: () => undefined };
  // The work's own function tells by itself, so this one does its part instead of it.
  if (work.name !== 'steps') return work;
  return { ...work, ...tells, run: () => Promise.resolve(work.input) };
}

async function loses(work: Work, signal: AbortSignal): Promise<ExecutionOutcome> {
  const outcome = await execute(work, signal);
  if (outcome.kind !== 'succeeded' || work.name !== 'echo') return outcome;
  return { kind: 'succeeded', value: { ...(outcome.value as object), dependencies: [] } };
}

/** Open again with the next attempt, as the checks share it. */
function closesOnce(): Partial<Executor> {
  let isClosed = false;
  return {
    execute: (work, signal) => {
      isClosed = false;
      return execute(work, signal);
    },
    close: () => {
      if (isClosed) throw new Error('closed already');
      isClosed = true;
    },
  };
}

test('the kit passes an executor that is right', async () => {
  expect(await failedChecks(right, 10_000)).toEqual([]);
});

test.each(WRONG)('the kit finds an executor that %s', async (_, wrong, caught) => {
  expect(await failedChecks({ ...right, ...wrong }, 50)).toContain(caught);
});
