import type { Dependencies } from '../core/index.js';
import type { Attempt, ErrorRecord } from '../model/index.js';
import type { Payload, TaskContext } from './handle.js';

/** A handler's view of its task; what few handlers ask for is made when it is asked for. */
export class RunningTask implements TaskContext {
  private controller: AbortController | undefined = undefined;

  constructor(
    private readonly running: Attempt,
    private readonly graph: Dependencies,
    /** Those that are listened to for an abort. */
    private readonly signals: Map<Attempt, RunningTask>,
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

  abort(error: ErrorRecord): void {
    const reason = new Error(error.message);
    reason.name = error.name;
    this.controller?.abort(reason);
  }
}
