import type { Feedback, Verdict } from '../core/index.js';
import {
  StaleLeaseError,
  fieldsOf,
  isFinal,
  parseDuration,
  refuseTask,
  refuseUnknown,
  type Attempt,
  type FencingToken,
  type Metadata,
  type Task,
} from '../model/index.js';
import type { Logger } from '../ports/logger.js';
import { Handle, type ResourceFeedback, type TaskContext } from './handle.js';
import { Kept, valueOf } from './kept.js';
import { MADE_WAY } from './made-way.js';
import type { Payload } from './payload.js';
import { showAs } from './shown.js';
import { TaskLogger } from './task-logger.js';
import { allowUnbound } from './unbound.js';

/** What a running attempt needs of its scheduler. */
export interface AttemptHost {
  /** The scheduler's own, if it has one. */
  readonly logger: Logger | undefined;
  /** Whether the handle was made by the same scheduler. */
  owns(handle: Handle<unknown>): boolean;
  /** The results of the tasks that it came after. */
  resultsFor(task: Task): readonly unknown[];
  /** Tells the running task when it goes on after a wait, and when it is aborted. */
  listen(attempt: Attempt, running: RunningTask): void;
  /** Why the attempt was aborted, if it was and that has been told. */
  abortReasonOf(attempt: Attempt): Error | undefined;
  /** The attempt's handler has yields, at which it is asked to make way. */
  yields(attempt: Attempt): void;
  /** The attempt is at a yield: what it is to do there. */
  atYield(attempt: Attempt): Verdict;
  /** Lets in what still waits for that, as a running task waits for it. */
  letIn(awaited: Handle<unknown>): void;
  /** Lets the attempt wait; `false` when the other task has ended by now. */
  letWait(attempt: Attempt, awaited: string): boolean;
  /** Adds a child of the attempt's task. */
  addChild(attempt: Attempt, run: unknown, second: unknown, third: unknown): Handle<unknown>;
  /** The attempt has learnt something of a resource. */
  report(attempt: Attempt, resource: string, feedback: Feedback): void;
  /** Keeps a copy of how far the attempt has come. */
  checkpoint(attempt: Attempt, state: unknown): void;
  /** The attempt's lease counts anew. */
  heartbeat(attempt: Attempt): void;
  /** The attempt says how far it has come. */
  progressed(attempt: Attempt, progress: unknown): void;
}

const FEEDBACK = ['cost', 'retryAfter'];

/** Somebody who waits for another task. */
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** A handler's view of its task; what few handlers ask for is made when it is asked for. */
export class RunningTask implements TaskContext {
  static {
    showAs(RunningTask, 'Task', ({ id, attempt, channel, input }) => ({ id, attempt, channel, input }));
    allowUnbound(RunningTask, ['checkpoint', 'progress', 'heartbeat', 'waitFor', 'report', 'add']);
  }

  private controller: AbortController | undefined = undefined;
  /** Who waits for another task, and what those wait for who have asked after it. */
  private waiter: Waiter | undefined = undefined;
  private waits: Promise<void> | undefined = undefined;

  constructor(
    private readonly running: Attempt,
    private readonly host: AttemptHost,
  ) {}

  get id(): string {
    return this.running.task.id;
  }

  get attempt(): number {
    return this.running.number;
  }

  get token(): FencingToken {
    return this.running.token;
  }

  get channel(): string {
    return this.running.task.spec.channel;
  }

  /** What the task was added with; a function brings its own. */
  get input(): unknown {
    return valueOf((this.running.task.payload as Payload).input);
  }

  get dependencies(): readonly unknown[] {
    return this.host.resultsFor(this.running.task);
  }

  get metadata(): Metadata | undefined {
    return this.running.task.spec.rare?.metadata;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      const reason = this.host.abortReasonOf(this.running);
      if (reason !== undefined) this.controller.abort(reason);
      else if (this.running.over) this.controller.abort(this.stale('it has ended'));
      // One that was given up just now is told of that in a moment.
      else this.host.listen(this.running, this);
    }
    return this.controller.signal;
  }

  get resumed(): unknown {
    // A copy, so that what a handler does to it is not done to what the task keeps.
    const checkpoint = this.running.task.extra?.checkpoint;
    return checkpoint instanceof Kept ? checkpoint.read() : structuredClone(checkpoint);
  }

  checkpoint(state: unknown): void {
    this.host.checkpoint(this.running, state);
  }

  progress(progress: unknown): void {
    if (typeof progress === 'number' && !(progress >= 0 && progress <= 1)) {
      refuseTask('progress', progress, 'a fraction from 0 to 1');
    }
    const { over, abandoned } = this.running;
    // Nobody wants to know how far an attempt is that no longer counts.
    if (!over && !abandoned) this.host.progressed(this.running, progress);
  }

  get logger(): Logger {
    return new TaskLogger(this.host.logger, this.running);
  }

  heartbeat(): void {
    this.host.heartbeat(this.running);
  }

  async waitFor<Result>(awaited: Handle<Result>): Promise<Result> {
    if (!(awaited instanceof Handle && this.host.owns(awaited))) {
      refuseTask('task', awaited, 'a handle of this scheduler');
    }
    // One at a time: whoever asks meanwhile waits for its turn, and then mostly finds its task ended.
    const turn = this.waits === undefined ? this.await(awaited) : this.waits.then(() => this.await(awaited));
    this.waits = turn.catch(() => undefined);
    await turn;
    return awaited.result;
  }

  private async await(awaited: Handle<unknown>): Promise<void> {
    // What still waits to be let in is no task of the core yet; the slot of this attempt may be what that waits for.
    if (awaited.task === undefined) this.host.letIn(awaited);
    if (awaited.task === undefined) await awaited.accepted;
    const { task } = awaited;
    if (task === undefined) return;
    await new Promise<void>((resolve, reject) => {
      if (isFinal(task.state) || !this.host.letWait(this.running, task.id)) {
        resolve();
        return;
      }
      this.waiter = { resolve, reject };
      this.host.listen(this.running, this);
    });
  }

  add<Result>(run: unknown, second?: unknown, third?: unknown): Handle<Result> {
    // Which result it has is known to the types only.
    return this.host.addChild(this.running, run, second, third) as Handle<Result>;
  }

  report(resource: string, feedback: ResourceFeedback): void {
    const given = fieldsOf(feedback, 'feedback', refuseTask);
    for (const [key, value] of given) {
      if (!FEEDBACK.includes(key)) refuseUnknown('feedback', key, value, FEEDBACK, refuseTask);
    }
    const [one, ...others] = given;
    if (one === undefined || others.length > 0) refuseTask('feedback', feedback, 'either a cost or a retryAfter');
    const [key, value] = one;
    const learnt =
      key === 'retryAfter'
        ? { retryAfterMs: parseDuration(value, 'retryAfter', refuseTask) }
        : { cost: value as number };
    this.host.report(this.running, resource, learnt);
  }

  /** Its handler is a generator. */
  yields(): void {
    this.host.yields(this.running);
  }

  /** At a yield of its handler: resolves when it goes on, at once or after others; rejects where it ends. */
  async atYield(): Promise<void> {
    switch (this.host.atYield(this.running)) {
      case 'goOn':
        return;
      case 'stop':
        throw MADE_WAY;
      case 'giveWay':
        await new Promise<void>((resolve, reject) => {
          this.waiter = { resolve, reject };
          this.host.listen(this.running, this);
        });
    }
  }

  /** Its wait is over. */
  goOn(): void {
    this.waiter?.resolve();
    this.waiter = undefined;
  }

  /** Its handler has ended; a wait that it left behind ends too. */
  leave(): void {
    this.waiter?.reject(this.stale('it has ended'));
    this.waiter = undefined;
  }

  /** Somebody else has settled the attempt or given it back: what its handler does is no longer wanted. */
  takeBack(): void {
    this.abort(this.stale('it was settled or given back while it ran'));
  }

  abort(reason: Error): void {
    this.waiter?.reject(reason);
    this.waiter = undefined;
    this.controller?.abort(reason);
  }

  private stale(reason: string): StaleLeaseError {
    return new StaleLeaseError({ taskId: this.id, attempt: this.attempt, reason });
  }
}
