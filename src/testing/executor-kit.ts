import { inspect, isDeepStrictEqual } from 'node:util';
import type { ExecutionOutcome, Executor, Work } from '../ports/executor.js';
import { within, type ConformanceCheck } from './conformance.js';
import * as handlers from './executor-handlers.js';

/** The file with the handlers that executors are checked with, for those that load handlers from a module. */
export const EXECUTOR_HANDLERS = new URL('./executor-handlers.js', import.meta.url);

/** What is checked of an executor. */
export type ExecutorCheckName =
  | 'says who it is and how much it takes'
  | 'gives back what a handler returns, and hands over what is known of the attempt'
  | 'tells what a handler throws, and goes on'
  | 'keeps attempts apart that run at once, as many as it has slots'
  | 'lets progress and checkpoints through in order, before the outcome'
  | 'aborts a handler that listens'
  | 'does not begin what was aborted before'
  | 'ends a handler that does not listen'
  | 'tells that whatever ran an attempt is gone, and goes on'
  | 'can be closed more than once';

/** The executor to check. */
export interface ExecutorSubject {
  /** A new one, for each check: it runs the handlers of {@link EXECUTOR_HANDLERS} by name, or the work's own function. */
  make(): Executor | Promise<Executor>;
  /** What does not apply to it, with the reason. */
  readonly skip?: Partial<Readonly<Record<ExecutorCheckName, string>>> | undefined;
  /** How long anything may take that should end; 10 seconds unless given. */
  readonly patienceMs?: number | undefined;
}

/**
 * What every executor must keep to, as checks for any test runner.
 *
 * @example
 * ```ts
 * for (const { name, skipped, run } of executorChecks({ make: () => new MyExecutor() })) {
 *   test(name, { skip: skipped !== undefined }, run);
 * }
 * ```
 */
export function executorChecks(subject: ExecutorSubject): ConformanceCheck[] {
  return (Object.entries(CHECKS) as [ExecutorCheckName, Body][]).map(([name, body]) => ({
    name,
    skipped: subject.skip?.[name],
    run: async () => {
      const executor = await subject.make();
      try {
        await body(new Bench(executor, subject.patienceMs ?? 10_000));
      } finally {
        await executor.close?.();
      }
    },
  }));
}

type Body = (bench: Bench) => Promise<void>;

const CHECKS: Readonly<Record<ExecutorCheckName, Body>> = {
  'says who it is and how much it takes': async ({ executor }) => {
    const { id, slots } = executor;
    demand(typeof id === 'string' && id !== '', `its id is ${inspect(id)}, expected a text that is not empty`);
    demand(slots === Infinity || (Number.isSafeInteger(slots) && slots > 0), `it has ${inspect(slots)} slots`);
    await Promise.resolve();
  },
  'gives back what a handler returns, and hands over what is known of the attempt': async (bench) => {
    const known = {
      ...{ attempt: 3, channel: 'acme', dependencies: [{ first: 1 }, 'second'] },
      ...{ resumed: { page: 7 }, metadata: { tenant: 'acme' } },
    };
    const { outcome } = bench.start('echo', { list: [1, null] }, known);
    expectOutcome(await outcome, { kind: 'succeeded', value: { input: { list: [1, null] }, ...known } });
  },
  'tells what a handler throws, and goes on': async (bench) => {
    const said = await bench.start('fail', 'on purpose').outcome;
    const message = said.kind === 'failed' ? (said.error as Error | undefined)?.message : undefined;
    demand(message === 'on purpose', `it said ${inspect(said)}, expected a failure with the message "on purpose"`);
    demand((await bench.start('echo', 1).outcome).kind === 'succeeded', 'the next attempt did not succeed');
  },
  'keeps attempts apart that run at once, as many as it has slots': async (bench) => {
    const count = Math.min(bench.executor.slots, 4);
    const started = Array.from({ length: count }, (_, n) => bench.start('listen', n));
    await bench.within(Promise.all(started.map(({ running }) => running)), `all of ${count} attempts run at once`);
    // Ended in another order than begun.
    for (const each of started.toReversed()) each.abort();
    for (const [n, each] of started.entries()) {
      const said = await each.outcome;
      if (said.kind === 'succeeded') expectOutcome(said, { kind: 'succeeded', value: n });
    }
  },
  'lets progress and checkpoints through in order, before the outcome': async (bench) => {
    const { outcome, told } = bench.start('steps', 'a');
    await outcome;
    const expected = [1, 2, 3].flatMap((step) => [{ progress: { step } }, { checkpoint: { input: 'a', step } }]);
    demand(isDeepStrictEqual(told, expected), `it let through ${inspect(told)}, expected ${inspect(expected)}`);
  },
  'aborts a handler that listens': async (bench) => {
    const attempt = bench.start('listen', 0);
    await bench.within(attempt.running, 'the handler runs');
    attempt.abort();
    await attempt.outcome;
  },
  'does not begin what was aborted before': async (bench) => {
    const attempt = bench.start('steps', 0, {}, AbortSignal.abort());
    const said = await attempt.outcome;
    demand(attempt.told.length === 0 && said.kind !== 'succeeded', `it ran all the same, and said ${inspect(said)}`);
  },
  'ends a handler that does not listen': async (bench) => {
    const attempt = bench.start('spin', 0);
    await bench.within(attempt.running, 'the handler runs');
    attempt.abort();
    await attempt.outcome;
    demand((await bench.start('echo', 1).outcome).kind === 'succeeded', 'the next attempt did not succeed');
  },
  'tells that whatever ran an attempt is gone, and goes on': async (bench) => {
    const said = await bench.start('die', 0).outcome;
    demand(said.kind === 'lost', `it said ${inspect(said)}, expected that the attempt is lost`);
    demand((await bench.start('echo', 1).outcome).kind === 'succeeded', 'the next attempt did not succeed');
  },
  'can be closed more than once': async (bench) => {
    await bench.start('echo', 1).outcome;
    await bench.within(Promise.resolve(bench.executor.close?.()), 'it closes');
    await bench.within(Promise.resolve(bench.executor.close?.()), 'it closes again');
  },
};

/** An attempt that an executor was handed. */
interface Started {
  /** Resolves when its handler says that it runs. */
  readonly running: Promise<void>;
  /** How it ended; what `execute` throws is a failure. */
  readonly outcome: Promise<ExecutionOutcome>;
  /** What it has told, in order. */
  readonly told: unknown[];
  abort(): void;
}

type Known = Partial<Pick<Work, 'attempt' | 'channel' | 'dependencies' | 'resumed' | 'metadata'>>;
type Handler = (input: unknown, task: object) => unknown;

/** Where an executor is tried: hands over attempts as a scheduler would. */
class Bench {
  private made = 0;

  constructor(
    readonly executor: Executor,
    private readonly patienceMs: number,
  ) {}

  start(name: keyof typeof handlers, input: unknown, known: Known = {}, signal?: AbortSignal): Started {
    const controller = new AbortController();
    const told: unknown[] = [];
    let run: () => void;
    const running = new Promise<void>((resolve) => (run = resolve));
    const given = signal ?? controller.signal;
    const tells = {
      progress: (progress: unknown) => {
        told.push({ progress });
        run();
      },
      checkpoint: (checkpoint: unknown) => void told.push({ checkpoint }),
    };
    const work = this.work(name, input, known, tells, given);
    const outcome = this.within(settled(this.executor, work, given), `the attempt "${name}" ends`);
    // Whoever waits for something else first must not end the process by it.
    outcome.catch(() => undefined);
    const abort = (): void => {
      controller.abort(new Error('no longer wanted'));
    };
    return { running, outcome, told, abort };
  }

  /** Rejects where it takes longer than anybody should wait. */
  within<Value>(promise: Promise<Value>, claim: string): Promise<Value> {
    return within(promise, this.patienceMs, claim);
  }

  private work(
    name: keyof typeof handlers,
    input: unknown,
    known: Known,
    tells: Pick<Work, 'progress' | 'checkpoint'>,
    signal: AbortSignal,
  ): Work {
    this.made += 1;
    const taskId = `checked-${this.made}`;
    const unsaid = { attempt: 1, channel: 'default', dependencies: [], resumed: undefined, metadata: undefined };
    const facts = { ...unsaid, ...known };
    const run = (): Promise<unknown> =>
      new Promise((resolve) => {
        resolve((handlers[name] as Handler)(input, { id: taskId, ...facts, ...tells, signal }));
      });
    return { taskId, token: { epoch: 1, attempt: facts.attempt }, name, input, ...facts, ...tells, run };
  }
}

async function settled(executor: Executor, work: Work, signal: AbortSignal): Promise<ExecutionOutcome> {
  let said: ExecutionOutcome;
  try {
    said = await executor.execute(work, signal);
  } catch (error) {
    return { kind: 'failed', error };
  }
  const kind = (said as ExecutionOutcome | undefined)?.kind;
  const known: unknown[] = ['succeeded', 'failed', 'aborted', 'lost'] satisfies ExecutionOutcome['kind'][];
  demand(known.includes(kind), `it said ${inspect(said)}, expected an outcome`);
  return said;
}

function expectOutcome(said: ExecutionOutcome, expected: ExecutionOutcome): void {
  demand(isDeepStrictEqual({ ...said }, expected), `it said ${inspect(said)}, expected ${inspect(expected)}`);
}

function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(`The executor does not conform: ${otherwise}.`);
}
