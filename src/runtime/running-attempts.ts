import {
  holdingAttempts,
  mayGiveWay,
  type Aborted,
  type Core,
  type Feedback,
  type Request,
  type Takes,
  type Verdict,
} from '../core/index.js';
import {
  PayloadError,
  recordOwnError,
  type Attempt,
  type Moment,
  type SchedulerError,
  type Task,
} from '../model/index.js';
import { show } from '../model/show.js';
import type { Logger } from '../ports/logger.js';
import { isDurable } from './durable.js';
import { errorOf } from './failure.js';
import type { Handle, HandleHost } from './handle.js';
import type { Keeping } from './keeping.js';
import type { Intake } from './intake.js';
import { valueOf } from './kept.js';
import type { Payload } from './payload.js';
import { RunningTask, type AttemptHost } from './running-task.js';

/** What running attempts need of the engine. */
export interface AttemptsHost extends HandleHost {
  readonly core: Core;
  now(): Moment;
  /** Sends a command that nobody waits for an answer to. */
  tell(request: Request): void;
  dispatchSoon(): void;
  readonly intake: Intake;
  readonly arrivals: { readonly entrance: { letInAbove(task: Handle<unknown>): void } | undefined };
  /** Whether something new may start now. */
  mayStart(): boolean;
  readonly pulling: { takenBy(workerId: string): Takes };
  readonly keeping: Keeping | undefined;
}

/** The attempts whose handlers have asked for something, and what they may ask for. */
export class RunningAttempts implements AttemptHost {
  /** Told how far attempts have come; whoever publishes that sets it. */
  onProgress: ((attempt: Attempt, progress: unknown) => void) | undefined = undefined;
  logger: Logger | undefined = undefined;
  private readonly listening = new Map<Attempt, RunningTask>();
  /** Attempts whose handlers are generators. */
  private readonly yielding = new WeakSet<Attempt>();
  /** Why attempts were aborted, for handlers that ask for their signal afterwards. */
  private readonly aborted = new WeakMap<Attempt, Aborted>();

  constructor(private readonly engine: AttemptsHost) {}

  /** What the attempt's handler is given. */
  contextOf(attempt: Attempt): RunningTask {
    return new RunningTask(attempt, this);
  }

  /** The attempt goes on after a wait. */
  goOn(attempt: Attempt): void {
    this.listening.get(attempt)?.goOn();
  }

  /** What these attempts do is no longer wanted. */
  abort(aborted: readonly Aborted[]): void {
    for (const each of aborted) {
      this.aborted.set(each.attempt, each);
      this.listening.get(each.attempt)?.abort(reasonOf(each));
      this.listening.delete(each.attempt);
    }
  }

  /** What any attempt does is no longer wanted; what that is to the core, its owner says. */
  abortAll(cause: SchedulerError): void {
    const error = recordOwnError(cause);
    this.abort(holdingAttempts(this.engine.core.state).map((attempt) => ({ attempt, error, cause })));
  }

  /** These attempts are to make way for more urgent tasks; they still count. Generators do so at their next yield. */
  preempt(asked: readonly Aborted[]): void {
    for (const each of asked) {
      if (this.yielding.has(each.attempt)) continue;
      this.aborted.set(each.attempt, each);
      this.listening.get(each.attempt)?.abort(reasonOf(each));
    }
  }

  /** The attempt is in nobody's hands any more: its handler has ended, or somebody else has settled it or given it back. */
  forget(attempt: Attempt, by: 'handler' | 'others' = 'handler'): void {
    if (this.listening.size === 0) return;
    const running = this.listening.get(attempt);
    if (by === 'handler') running?.leave();
    else running?.takeBack();
    this.listening.delete(attempt);
  }

  owns(handle: Handle<unknown>): boolean {
    return handle.belongsTo(this.engine);
  }

  resultsFor(task: Task): readonly unknown[] {
    const dependencies = this.engine.core.state.dependencies.of(task);
    const results = dependencies.map((each) =>
      each.task.state === 'completed' ? valueOf(each.task.value) : undefined,
    );
    for (const at of (task.payload as Payload).gaps ?? []) results.splice(at, 0, undefined);
    return results;
  }

  listen(attempt: Attempt, running: RunningTask): void {
    this.listening.set(attempt, running);
  }

  abortReasonOf(attempt: Attempt): Error | undefined {
    const aborted = this.aborted.get(attempt);
    return aborted === undefined ? undefined : reasonOf(aborted);
  }

  checkpoint(attempt: Attempt, state: unknown): void {
    const { task, token } = attempt;
    const { keeping } = this.engine;
    const isKept = keeping !== undefined && isDurable(task.spec);
    const checkpoint = isKept ? keeping.payloads.given(task, state, 'checkpoint') : copyOf(state, task);
    this.engine.tell({ kind: 'checkpoint', task: task.id, token, checkpoint });
  }

  heartbeat(attempt: Attempt): void {
    this.engine.tell({ kind: 'extend', task: attempt.task.id, token: attempt.token, leaseMs: attempt.leaseMs });
  }

  progressed(attempt: Attempt, progress: unknown): void {
    this.onProgress?.(attempt, progress);
  }

  report(attempt: Attempt, resource: string, feedback: Feedback): void {
    this.engine.tell({ kind: 'report', task: attempt.task.id, token: attempt.token, resource, ...feedback });
  }

  yields(attempt: Attempt): void {
    this.yielding.add(attempt);
  }

  atYield(attempt: Attempt): Verdict {
    const { core, pulling } = this.engine;
    const now = this.engine.now();
    if (!mayGiveWay(core.state, attempt, now.mono)) return 'goOn';
    // Whoever gave way to somebody that may not start would leave a slot empty.
    const takes = this.engine.mayStart() ? pulling.takenBy(attempt.workerId) : 'begun';
    const verdict = core.atYield(now, attempt, takes);
    if (verdict === 'giveWay') this.engine.dispatchSoon();
    return verdict;
  }

  addChild(attempt: Attempt, run: unknown, second: unknown, third: unknown): Handle<unknown> {
    return this.engine.intake.add(run, second, third, attempt.task);
  }

  letIn(awaited: Handle<unknown>): void {
    this.engine.arrivals.entrance?.letInAbove(awaited);
  }

  letWait(attempt: Attempt, awaited: string): boolean {
    this.engine.keeping?.check();
    const waits = this.engine.core.waitFor(this.engine.now(), attempt, awaited);
    this.engine.dispatchSoon();
    return waits;
  }
}

/** Only for what no store keeps: of an object of a class it leaves the fields alone. */
function copyOf(state: unknown, { id: taskId }: Task): unknown {
  try {
    return structuredClone(state);
  } catch (error) {
    throw new PayloadError({ taskId, part: 'checkpoint', reason: show(error) });
  }
}

/** What the signal of an aborted attempt says. */
function reasonOf({ attempt, error, cause }: Aborted): Error {
  return cause ?? errorOf(attempt.task, error);
}
