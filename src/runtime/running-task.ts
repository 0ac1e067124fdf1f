import type { Dependencies, Feedback } from '../core/index.js';
import { fieldsOf, isFinal, parseDuration, refuseTask, type Attempt, type ErrorRecord } from '../model/index.js';
import { Handle, type HandleHost, type Payload, type ResourceFeedback, type TaskContext } from './handle.js';

/** What an attempt that waits for another task needs of its scheduler. */
export interface WaitHost extends HandleHost {
  /** Lets the attempt wait; `false` when the other task has ended by now. */
  letWait(attempt: Attempt, awaited: string): boolean;
  /** The attempt has learnt something of a resource. */
  report(attempt: Attempt, resource: string, feedback: Feedback): void;
}

/** Somebody who waits for another task. */
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** A handler's view of its task; what few handlers ask for is made when it is asked for. */
export class RunningTask implements TaskContext {
  private controller: AbortController | undefined = undefined;
  /** Who waits for another task, and what those wait for who have asked after it. */
  private waiter: Waiter | undefined = undefined;
  private waits: Promise<void> | undefined = undefined;

  constructor(
    private readonly running: Attempt,
    private readonly graph: Dependencies,
    /** Those that are listened to for an abort. */
    private readonly signals: Map<Attempt, RunningTask>,
    private readonly host: WaitHost,
  ) {}

  get id(): string {
    return this.running.task.id;
  }

  get attempt(): number {
    return this.running.number;
  }

  get channel(): string {
    return this.running.task.spec.channel;
  }

  /** What the task was added with; a function brings its own. */
  get input(): unknown {
    return undefined;
  }

  get dependencies(): readonly unknown[] {
    const { task: self } = this.running;
    const results = this.graph.of(self).map(({ task }) => (task.state === 'completed' ? task.value : undefined));
    for (const at of (self.payload as Payload).gaps ?? []) results.splice(at, 0, undefined);
    return results;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      const { abandoned, over } = this.running;
      if (abandoned || over) this.controller.abort(new Error('The attempt no longer counts.'));
      else this.signals.set(this.running, this);
    }
    return this.controller.signal;
  }

  async waitFor<Result>(awaited: Handle<Result>): Promise<Result> {
    if (!(awaited instanceof Handle && awaited.belongsTo(this.host))) {
      refuseTask('task', awaited, 'a handle of this scheduler');
    }
    // One at a time: whoever asks meanwhile waits for its turn, and then mostly finds its task ended.
    const turn = this.waits === undefined ? this.await(awaited) : this.waits.then(() => this.await(awaited));
    this.waits = turn.catch(() => undefined);
    await turn;
    return awaited.result;
  }

  private async await(awaited: Handle<unknown>): Promise<void> {
    // What still waits to be let in is no task of the core yet, which could be waited for.
    if (awaited.task === undefined) await awaited.accepted;
    const { task } = awaited;
    if (task === undefined) return;
    await new Promise<void>((resolve, reject) => {
      if (isFinal(task.state) || !this.host.letWait(this.running, task.id)) {
        resolve();
        return;
      }
      this.waiter = { resolve, reject };
      this.signals.set(this.running, this);
    });
  }

  report(resource: string, feedback: ResourceFeedback): void {
    const given = new Map(fieldsOf(feedback, 'feedback', refuseTask));
    if (given.size !== 1) refuseTask('feedback', feedback, 'either a cost or a retryAfter');
    const learnt =
      'retryAfter' in feedback
        ? { retryAfterMs: parseDuration(feedback.retryAfter, 'retryAfter', refuseTask) }
        : { cost: feedback.cost };
    this.host.report(this.running, resource, learnt);
  }

  /** Its wait is over. */
  goOn(): void {
    this.waiter?.resolve();
    this.waiter = undefined;
  }

  abort(error: ErrorRecord): void {
    const reason = new Error(error.message);
    reason.name = error.name;
    this.waiter?.reject(reason);
    this.waiter = undefined;
    this.controller?.abort(reason);
  }
}
