import type { Balance, Core, Worker } from '../core/index.js';
import {
  InvalidConfigError,
  recordError,
  refuseConfig,
  type Attempt,
  type Moment,
  type Outcome,
} from '../model/index.js';
import type { ExecutionOutcome, Executor, Work } from '../ports/executor.js';
import type { Breath } from './breath.js';
import { failedBy } from './failure.js';
import { runHandler } from './generator.js';
import type { Keeping } from './keeping.js';
import type { Payload } from './payload.js';
import type { Leases } from './leases.js';
import { promised } from './promised.js';
import type { RunningTask } from './running-task.js';
import { parseWorkerOptions } from './worker-options.js';

/** What executors need of their scheduler. */
export interface ExecutingHost {
  readonly core: Core;
  readonly leases: Leases;
  readonly balance: Balance;
  readonly keeping: Keeping | undefined;
  now(): Moment;
  contextOf(attempt: Attempt): RunningTask;
  readonly breath: Breath;
  /** Whether anything more may start by the load. */
  mayStart(): boolean;
  /** Runs the attempt in a slot of this process. */
  startHere(attempt: Attempt): void;
  /** Hands in how an attempt ended. */
  finish(attempt: Attempt, outcome: Outcome): void;
}

/** How soon an executor that is gone is asked again whether it lives. */
const ASK_AGAIN_MS = 1_000;

/** The executors that a scheduler was made with, and what they run. */
export class Executing {
  /** Monotonic time at which those that are gone are asked again; `Infinity` while all live. */
  askAgainAt = Infinity;
  private readonly executors = new Map<string, Executor>();
  private readonly attached: Worker[] = [];

  private constructor(
    private readonly local: Worker,
    private readonly host: ExecutingHost,
  ) {}

  /** From what a user says; `undefined` when there are only the built-in slots. */
  static of(given: unknown, local: Worker, host: ExecutingHost): Executing | undefined {
    if (given === undefined) return undefined;
    if (!Array.isArray(given)) return refuseConfig('executors', given, 'a list of executors');
    if (given.length === 0) return undefined;
    const executing = new Executing(local, host);
    for (const [at, executor] of given.entries()) executing.attach(executor as unknown, `executors[${at}]`);
    return executing;
  }

  private attach(given: unknown, field: string): void {
    const { core } = this.host;
    if (!isExecutor(given)) refuseConfig(field, given, 'an object with id, slots and a method execute');
    const { id, slots, capabilities, exclusive, lease = Infinity } = given;
    const spec = parseWorkerOptions({ id, slots, capabilities, lease: lease as number, retries: 0 }, () => '');
    if (core.state.workers.has(spec.id)) refuseConfig(`${field}.id`, spec.id, 'an id that no other worker has');
    this.attached.push(core.attach(this.host.now(), exclusive === true ? { ...spec, exclusive } : spec));
    this.executors.set(spec.id, given);
  }

  /** Starts what can start, here or in an executor that suits it. */
  distribute(): void {
    const living = this.living();
    this.start([this.local.id, ...living.map(({ id }) => id)]);
    // What is left may be waiting for one that is gone.
    const isMissed = living.length < this.executors.size && this.host.core.state.index.size > 0;
    this.askAgainAt = isMissed ? this.host.now().mono + ASK_AGAIN_MS : Infinity;
  }

  /** As the core knows them. */
  living(): Worker[] {
    const { workers } = this.host.core.state;
    return [...this.executors].flatMap(([id, executor]) => (isAlive(executor) ? [workers.get(id) as Worker] : []));
  }

  private start(workers: readonly string[]): void {
    const step = { count: 1, balance: this.host.balance, workers };
    while (!this.host.breath.isOut && this.host.mayStart()) {
      const [attempt] = this.host.core.plan(this.host.now(), step);
      if (attempt === undefined) return;
      const executor = this.executors.get(attempt.workerId);
      if (executor === undefined) this.host.startHere(attempt);
      else this.begin(executor, attempt);
    }
  }

  /** Its lease counts from now, also where it begins only when it is kept that it does. */
  private begin(executor: Executor, attempt: Attempt): void {
    const { leases, keeping, breath } = this.host;
    leases.keep(attempt, () => isAlive(executor));
    if (keeping === undefined) void this.execute(executor, attempt);
    else keeping.begin(() => void this.execute(executor, attempt));
    breath.spend();
  }

  /** The executors as they are, for a core that does not know them; gives their ids. */
  attachAll(): readonly string[] {
    for (const { spec } of this.attached) this.host.core.attach(this.host.now(), spec);
    return this.attached.map(({ id }) => id);
  }

  /** Nothing more will come. One that cannot be closed must not keep the others from it. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.executors.values()].map(async (executor) => executor.close?.()));
  }

  private async execute(executor: Executor, attempt: Attempt): Promise<void> {
    const { leases } = this.host;
    const context = this.host.contextOf(attempt);
    let outcome: Outcome;
    try {
      outcome = outcomeOf(await executor.execute(workOf(attempt, context), context.signal), executor.id);
    } catch (error) {
      outcome = failedBy(error);
    }
    leases.drop(attempt);
    this.host.finish(attempt, this.host.keeping?.outcome(attempt, outcome) ?? outcome);
  }
}

function isExecutor(given: unknown): given is Executor {
  return typeof given === 'object' && given !== null && typeof (given as Partial<Executor>).execute === 'function';
}

/** One that cannot even say so is gone. */
function isAlive(executor: Executor): boolean {
  try {
    return executor.isAlive?.() ?? true;
  } catch {
    return false;
  }
}

function workOf(attempt: Attempt, context: RunningTask): Work {
  const payload = attempt.task.payload as Payload;
  return {
    taskId: context.id,
    attempt: context.attempt,
    token: context.token,
    name: attempt.task.spec.type,
    channel: context.channel,
    input: context.input,
    dependencies: context.dependencies,
    resumed: context.resumed,
    metadata: context.metadata,
    run: () => promised(() => runHandler(payload, context)),
    checkpoint: (state) => {
      context.checkpoint(state);
    },
    progress: (progress) => {
      context.progress(progress);
    },
  };
}

/** What an executor has said, which may be anything. */
function outcomeOf(said: ExecutionOutcome, executorId: string): Outcome {
  const given = said as ExecutionOutcome | undefined;
  switch (given?.kind) {
    case 'succeeded':
      return { kind: 'succeeded', value: given.value };
    case 'failed':
      return { ...failedBy(given.error), retryable: given.retryable ?? true };
    case 'aborted':
      return { kind: 'aborted' };
    case 'lost':
      return given.error === undefined
        ? { kind: 'lost' }
        : { kind: 'lost', error: recordError(given.error), cause: given.error };
    default: {
      const field = `execute() of executor ${executorId}`;
      const expected = "an outcome: { kind: 'succeeded', value }, { kind: 'failed', error }, 'aborted' or 'lost'";
      return { ...failedBy(new InvalidConfigError({ field, value: said, expected })), retryable: false };
    }
  }
}
