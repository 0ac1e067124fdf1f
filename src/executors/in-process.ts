import type { ExecutionOutcome, Executor, Work } from '../ports/executor.js';

/**
 * Runs tasks in this process, beside the built-in slots: for a group of slots with capabilities of its own.
 *
 * @example
 * ```ts
 * const browser = new InProcess({ id: 'browser', slots: 2, capabilities: { browser: true } });
 * const scheduler = new Scheduler({ concurrency: 16, executors: [browser] });
 * scheduler.add(screenshot, { capabilities: { browser: true } });
 * ```
 */
export class InProcess implements Executor {
  readonly id: string;
  readonly slots: number;
  readonly capabilities: Executor['capabilities'];
  readonly exclusive: boolean | undefined;

  constructor(options: Pick<Executor, 'id' | 'slots' | 'capabilities' | 'exclusive'>) {
    this.id = options.id;
    this.slots = options.slots;
    this.capabilities = options.capabilities;
    this.exclusive = options.exclusive;
  }

  /** Runs the task's own function. */
  async execute(work: Work, signal: AbortSignal): Promise<ExecutionOutcome> {
    if (signal.aborted) return { kind: 'aborted' };
    return { kind: 'succeeded', value: await work.run() };
  }
}
