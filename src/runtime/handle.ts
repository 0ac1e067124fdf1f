import type { AsyncResource } from 'node:async_hooks';
import type { Explanation, Request } from '../core/index.js';
import {
  IllegalTransitionError,
  isFinal,
  parseLevel,
  type Duration,
  type FailurePolicy,
  type FencingToken,
  type Metadata,
  type Priority,
  type Task,
  type TaskOptions,
  type TaskState,
} from '../model/index.js';
import type { Logger } from '../ports/logger.js';
import { checkReason } from './cancel-reason.js';
import type { Defined } from './defined.js';
import { failureOf } from './failure.js';
import type { Given } from './given.js';
import { valueOf } from './kept.js';
import { Outside } from './outside.js';
import { showAs } from './shown.js';

/** What a handler is given. */
export type Handler<Result, Dependencies extends readonly unknown[] = readonly unknown[]> = (
  task: TaskContext<Dependencies>,
) => Given<Result>;

/** What a handler may know about its task, and do; what it may do it can also take apart, as `({ progress }) => …`. */
export interface TaskContext<Dependencies extends readonly unknown[] = readonly unknown[], Input = unknown> {
  readonly id: string;
  /** The attempt's number, from 1. */
  readonly attempt: number;
  /** Names this attempt for ever; a later one of the same task has a larger token. */
  readonly token: FencingToken;
  readonly channel: string;
  /** What a task of a definition was added with; a function that was added itself brings its own. */
  readonly input: Input;
  /** The results of the tasks it came after, in the order they were named. */
  readonly dependencies: Dependencies;
  /** What the task was added with for its owner; `undefined` when that was nothing. */
  readonly metadata: Metadata | undefined;
  /**
   * Aborted when what the attempt does is no longer wanted; the reason says why: `CancelledError`, `TimeoutError`,
   * `StaleLeaseError` when its lease has ended, `DeadlockError`; or `PreemptedError` when it is to make way for a more
   * urgent task: whoever throws then goes again later, and has lost no attempt.
   */
  readonly signal: AbortSignal;
  /** The last checkpoint of the task, of this attempt or one before; `undefined` when there is none. */
  readonly resumed: unknown;
  /**
   * Keeps a copy of how far the attempt has come: whatever becomes of it, the next one finds that as `resumed`. Refused
   * with `PayloadError` when it cannot be copied, and with `StaleLeaseError` when the attempt no longer counts.
   */
  readonly checkpoint: (state: unknown) => void;
  /** Tells how far the attempt has come: a fraction from 0 to 1, or anything else that says so. */
  readonly progress: (progress: unknown) => void;
  /** Still alive: the lease, where there is one, counts anew. Refused with `StaleLeaseError` when it has ended. */
  readonly heartbeat: () => void;
  /** The scheduler's logger; what it writes states task, attempt, channel, priority and worker. Silent without one. */
  readonly logger: Logger;
  /**
   * Waits for another task and gives its result, or rejects with its failure. Meanwhile the slot, the places under limits
   * and the needs marked `yieldable` are free for others, the other needs stay held, and the timeout stands still.
   *
   * Where that would close a circle of waits it rejects with `DeadlockError`. An attempt waits for one task at a time.
   */
  readonly waitFor: <Result>(task: Handle<Result>) => Promise<Result>;
  /**
   * Tells what the attempt has learnt of a resource: what its use really cost, which corrects the rate, or that the other
   * side asked to be left alone for a while (such as a 429 with a time): nothing that needs it starts before then.
   */
  readonly report: (resource: string, feedback: ResourceFeedback) => void;
  /** Adds a child: it comes in above `maxPending`, and is taken back with its parent unless it is `detached`. */
  readonly add: {
    <Result>(run: Handler<Result>, options?: ChildOptions): Handle<Result>;
    <Input, Result>(definition: Defined<Input, Result>, input: Input, options?: ChildOptions): Handle<Result>;
    (name: string, input?: unknown, options?: ChildOptions): Handle<unknown>;
  };
}

/** What a handler may say about a child; `after` is as with `add`. */
export interface ChildOptions extends TaskOptions {
  readonly after?:
    | readonly (
        Handle<unknown> | string | { readonly task: Handle<unknown> | string; readonly onFailure: FailurePolicy }
      )[]
    | undefined;
  /** Whether it stays when its parent is taken back. */
  readonly detached?: boolean | undefined;
  /** Aborting it takes the child back. */
  readonly signal?: AbortSignal | undefined;
}

/** What an attempt has learnt of a resource: the true cost in tokens, or how long to leave it alone. */
export type ResourceFeedback = { readonly cost: number } | { readonly retryAfter: Duration };

// One executor for all promises: it runs at once, so what it has caught belongs to the promise just made.
const ignore = (): void => undefined;
let captured: (value: unknown) => void;
const capture = (resolve: (value: never) => void): void => {
  captured = resolve as (value: unknown) => void;
};

/** What a handle may ask of its scheduler. */
export interface HandleHost {
  /** The context of whoever adds a task now; `undefined` where handlers do without. */
  capture(): AsyncResource | undefined;
  cancel(task: Task, how: { readonly reason: string | undefined }): number;
  tell(request: Request): void;
  explain(id: string): Explanation;
  /** Takes back a task that waits to be let in. */
  cancelOutside(handle: Handle<unknown>, reason: string | undefined): boolean;
  /** An id for one that is not in. */
  nameOutside(): string;
  /** Only with a store: whether the end of a task may be told; if it never may, why. */
  readonly keeping: { verdictOn(task: Task): 'tell' | 'wait' | Error } | undefined;
}

/** For all tasks that were let in at once. */
const ACCEPTED = Promise.resolve();

/**
 * A task that was added. It can be awaited; only its promise is lazy, never the work.
 *
 * In bulk, await {@link result}: awaiting the handle itself costs about a quarter more.
 */
export class Handle<Result> implements PromiseLike<Result> {
  static {
    // Asking one that is not in for its id would give it one.
    showAs(Handle, 'Handle', (handle) => ({ id: handle.task?.id ?? handle.nameOutside, state: handle.state }));
  }
  private promise: Promise<Result> | undefined = undefined;
  private resolve: ((value: unknown) => void) | undefined = undefined;
  /** @internal Set by the scheduler right after the task was accepted. */
  task: Task | undefined = undefined;
  // Declared only: hardly any handle has these, and a field would cost all of them memory.
  /** @internal */
  declare readonly context?: AsyncResource;
  /** @internal */
  declare gaps?: readonly number[];
  /** @internal Resolves when a store has the task. */
  declare acceptance?: Promise<void>;
  /** @internal */
  declare input?: unknown;
  /** @internal While it is not in. */
  declare outside: Outside | undefined;
  declare private shared: Handle<Result> | undefined;

  /** @internal */
  constructor(
    private readonly host: HandleHost,
    /** @internal */
    readonly run: Handler<Result>,
  ) {
    const context = host.capture();
    if (context !== undefined) this.context = context;
  }

  get id(): string {
    return this.task?.id ?? (this.outside as Outside).id;
  }

  /** One that waits to be let in is `waiting`; one that was turned away has `failed`, or was `cancelled`. */
  get state(): TaskState {
    return this.task?.state ?? (this.outside as Outside).state;
  }

  /** Resolves when the task is in the scheduler, and in its store if it has one; rejects when it was refused, and so does the result then. */
  get accepted(): Promise<void> {
    return this.outside === undefined ? (this.acceptance ?? ACCEPTED) : this.outside.accepted;
  }

  /** The promise of the task's result; it rejects when the task fails, is cancelled or skipped. */
  get result(): Promise<Result> {
    if (this.shared !== undefined) return this.shared.result;
    const { task } = this;
    if (this.promise === undefined && task?.state === 'completed' && this.host.keeping === undefined) {
      this.promise = Promise.resolve(valueOf(task.value) as Result);
    } else if (this.promise === undefined) {
      this.promise = new Promise(capture);
      this.resolve = captured;
      this.settle();
    }
    return this.promise;
  }

  /** Takes the task back, for all who share it, and says whether there was anything to take back: not if it has ended. */
  cancel(reason?: string): boolean {
    if (this.task !== undefined) return this.host.cancel(this.task, { reason: checkReason(reason) }) > 0;
    return this.outside?.error === undefined && this.host.cancelOutside(this, checkReason(reason));
  }

  /** Changes how urgent the task is, unless it has ended. */
  setPriority(priority: Priority): void {
    const { task, id } = this;
    if (task === undefined) this.outside?.setPriority(priority);
    // A handle may outlive its task, and the id belong to another one by then.
    else if (isFinal(task.state)) throw new IllegalTransitionError({ taskId: id, from: task.state, to: task.state });
    else this.host.tell({ kind: 'setPriority', task: id, level: parseLevel(priority) });
  }

  /** Why the task does not run, since when it does, or how it ended. */
  explain(): Explanation {
    return this.host.explain(this.id);
  }

  then<Value = Result, Other = never>(
    onFulfilled?: ((value: Result) => Value | PromiseLike<Value>) | null,
    onRejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Value | Other> {
    return this.result.then(onFulfilled, onRejected);
  }

  /** Runs on failure only, like a promise's. */
  catch<Other = never>(onRejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null): Promise<Result | Other> {
    return this.result.catch(onRejected);
  }

  /** Runs however the task has ended, like a promise's. */
  finally(onFinally?: (() => void) | null): Promise<Result> {
    return this.result.finally(onFinally);
  }

  /** @internal The task is not in, and may come in later; without an id of its own it is given one when somebody asks. */
  stayOutside(id: string | undefined): Outside {
    return (this.outside ??= new Outside(id, () => this.host.nameOutside()));
  }

  /** @internal The id that was given to it before it was in. */
  get nameOutside(): string | undefined {
    return this.outside?.named;
  }

  /** @internal The task is in. */
  comeIn(task: Task, acceptance?: Promise<void>): void {
    this.task = task;
    if (acceptance !== undefined) this.acceptance = acceptance;
    if (this.outside === undefined) return;
    this.outside.comeIn(acceptance);
    this.outside = undefined;
  }

  /** @internal Another call shares its task, and is the one that is told how that has ended: whoever waits here waits there. */
  follow(other: Handle<Result>): void {
    this.shared = other;
    const { resolve } = this;
    if (resolve === undefined) return;
    this.resolve = undefined;
    resolve(other.result);
    this.promise?.catch(ignore);
  }

  /** @internal The task will not come in. */
  turnAway(error: Error, id: string | undefined): void {
    this.stayOutside(id);
    this.outside?.turnAway(error);
    this.settle();
  }

  /** @internal The task runs again: what has been told is over, and its result is to be asked for anew. */
  renew(): void {
    if (this.resolve === undefined) this.promise = undefined;
  }

  /** @internal Whether it was made by this scheduler. */
  belongsTo(host: HandleHost): boolean {
    return this.host === host;
  }

  /** @internal Tells whoever waits how the task has ended, if it has. */
  settle(): void {
    const { resolve, task } = this;
    if (resolve === undefined) return;
    if (task === undefined) {
      this.reject(this.outside?.error);
      return;
    }
    const { keeping } = this.host;
    const verdict = keeping === undefined ? 'tell' : keeping.verdictOn(task);
    if (verdict !== 'tell') {
      if (verdict !== 'wait') this.reject(verdict);
    } else if (task.state === 'completed') {
      resolve(valueOf(task.value));
      this.resolve = undefined;
    } else if (isFinal(task.state)) {
      this.reject(failureOf(task));
    }
  }

  private reject(error: Error | undefined): void {
    if (error === undefined) return;
    // Keeping only `resolve` saves a function for every task somebody waits for.
    this.resolve?.(Promise.reject(error));
    this.resolve = undefined;
    // A result that was asked for and then left alone must not end the process.
    this.promise?.catch(ignore);
  }
}
