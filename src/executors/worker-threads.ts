import { availableParallelism } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MessageChannel, type ResourceLimits } from 'node:worker_threads';
import { Piscina } from 'piscina';
import {
  ExecutorLostError,
  PayloadError,
  UnknownHandlerError,
  parseDuration,
  recordError,
  refuseConfig,
  type Duration,
} from '../model/index.js';
import type { ExecutionOutcome, Executor, Work } from '../ports/executor.js';

/** What threads are made with. */
export interface WorkerThreadsOptions {
  /** The file whose exported functions are the handlers, by the names that they are defined with. */
  readonly module: string | URL;
  /** Unique among the executors of a scheduler; `threads` unless given. */
  readonly id?: string | undefined;
  /** How many there are, each of which runs one attempt at a time; as many as the machine runs at once unless given. */
  readonly threads?: number | undefined;
  /** What tasks ask for to run here; `{ thread: true }` unless given. */
  readonly capabilities?: Executor['capabilities'];
  /** How long a handler that was aborted may go on before its thread is ended; one second unless given. */
  readonly grace?: Duration | undefined;
  /** What each thread may use of memory; one that needs more is ended, and its attempt is lost. */
  readonly resourceLimits?: ResourceLimits | undefined;
}

/** What a handler in a thread may know about its task, and tell. */
export interface ThreadTask extends Pick<
  Work,
  'attempt' | 'token' | 'channel' | 'dependencies' | 'resumed' | 'metadata'
> {
  readonly id: string;
  /** Aborted when what the attempt does is no longer wanted; the reason has the name and code of the typed error. */
  readonly signal: AbortSignal;
  /** Keeps a copy of how far the attempt has come, for the next one. */
  checkpoint(state: unknown): void;
  /** Tells how far the attempt has come: a fraction from 0 to 1, or anything that can be copied. */
  progress(progress: unknown): void;
}

/** What a thread tells about its attempt. */
type Told =
  | { readonly kind: 'progress'; readonly progress: unknown }
  | { readonly kind: 'checkpoint'; readonly state: unknown }
  | { readonly kind: 'succeeded'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: { readonly message: string } }
  | { readonly kind: 'unclonable'; readonly reason: string }
  | { readonly kind: 'unknown' };

const ENTRY = fileURLToPath(new URL('./thread-entry.js', import.meta.url));
const ignore = (): void => undefined;

/**
 * Runs handlers in threads of this process, for work that would keep its event loop busy. It takes only tasks that ask
 * for it; what goes in and comes out is copied. A thread that dies is replaced, and its attempt is lost.
 *
 * @example
 * ```ts
 * // handlers.js: export function hash(input, task) { ... }
 * const threads = new WorkerThreads({ module: new URL('./handlers.js', import.meta.url), threads: 4 });
 * const scheduler = new Scheduler({ executors: [threads] });
 * const hash = scheduler.define('hash', handlers.hash, { capabilities: { thread: true } });
 * ```
 */
export class WorkerThreads implements Executor {
  readonly id: string;
  readonly slots: number;
  readonly capabilities: Executor['capabilities'];
  readonly exclusive = true;
  readonly lease = '1m';
  private readonly module: string;
  private readonly graceMs: number;
  private readonly resourceLimits: ResourceLimits | undefined;
  private pool: Piscina | undefined = undefined;
  private closed = false;

  constructor(options: WorkerThreadsOptions) {
    this.id = options.id ?? 'threads';
    this.slots = options.threads ?? availableParallelism();
    this.capabilities = options.capabilities ?? { thread: true };
    this.module = parseModule(options.module);
    this.graceMs = options.grace === undefined ? 1_000 : parseDuration(options.grace, 'grace', refuseConfig);
    this.resourceLimits = options.resourceLimits;
  }

  /** Runs the attempt in a thread. */
  async execute(work: Work, signal: AbortSignal): Promise<ExecutionOutcome> {
    if (signal.aborted || this.closed) return { kind: 'aborted' };
    const { port1: here, port2: there } = new MessageChannel();
    const end = new AbortController();
    const told = new Promise<ExecutionOutcome>((resolve) => {
      here.on('message', (message: Told) => {
        this.hear(message, work, resolve);
      });
    });
    let grace: NodeJS.Timeout | undefined;
    const abort = (): void => {
      const { name, message, code } = recordError(signal.reason);
      here.postMessage(code === undefined ? { name, message } : { name, message, code });
      grace = setTimeout(() => {
        end.abort();
      }, this.graceMs);
    };
    signal.addEventListener('abort', abort, { once: true });
    try {
      const message = { module: this.module, work: dataOf(work), port: there };
      await this.threads().run(message, { transferList: [there], signal: end.signal });
      return await told;
    } catch (error) {
      return end.signal.aborted ? { kind: 'aborted' } : this.failure(work, error);
    } finally {
      clearTimeout(grace);
      signal.removeEventListener('abort', abort);
      here.close();
    }
  }

  /** Whether it was not closed yet. */
  isAlive(): boolean {
    return !this.closed;
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    this.closed = true;
    await this.pool?.destroy();
  }

  private threads(): Piscina {
    if (this.pool === undefined) {
      this.pool = new Piscina({
        filename: ENTRY,
        minThreads: this.slots,
        maxThreads: this.slots,
        // A thread that waits for the next attempt must still do what the one before has left running, or die of it.
        atomics: 'disabled',
        ...(this.resourceLimits === undefined ? {} : { resourceLimits: this.resourceLimits }),
      });
      // One that dies between two attempts is replaced, and nobody is harmed.
      this.pool.on('error', ignore);
    }
    return this.pool;
  }

  private hear(told: Told, work: Work, resolve: (outcome: ExecutionOutcome) => void): void {
    switch (told.kind) {
      case 'progress':
        tell(() => {
          work.progress(told.progress);
        });
        return;
      case 'checkpoint':
        tell(() => {
          work.checkpoint(told.state);
        });
        return;
      case 'succeeded':
        resolve(told);
        return;
      case 'failed':
        resolve({ kind: 'failed', error: Object.assign(new Error(told.error.message), told.error) });
        return;
      case 'unclonable': {
        const error = new PayloadError({ taskId: work.taskId, part: 'result', reason: told.reason });
        resolve({ kind: 'failed', error, retryable: false });
        return;
      }
      case 'unknown':
        resolve({ kind: 'failed', error: new UnknownHandlerError({ type: work.name }), retryable: false });
    }
  }

  /** The thread never rejects by itself: either it was not reached, or it is gone. */
  private failure({ taskId, attempt }: Work, error: unknown): ExecutionOutcome {
    const { name, message } = recordError(error);
    if (name === 'DataCloneError') {
      const refused = new PayloadError({ taskId, part: 'input', reason: message });
      return { kind: 'failed', error: refused, retryable: false };
    }
    return { kind: 'lost', error: new ExecutorLostError({ taskId, attempt, executorId: this.id, cause: error }) };
  }
}

/** What the scheduler refuses of an attempt that no longer counts concerns nobody here: its signal has told it. */
function tell(say: () => void): void {
  try {
    say();
  } catch {
    // It was refused.
  }
}

function dataOf({ taskId: id, attempt, token, name, channel, input, dependencies, resumed, metadata }: Work): object {
  return { id, attempt, token, name, channel, input, dependencies, resumed, metadata };
}

function parseModule(module: unknown): string {
  if (module instanceof URL) return module.href;
  if (typeof module === 'string' && module !== '') return pathToFileURL(module).href;
  return refuseConfig('module', module, 'the path or the URL of a file that exports handlers');
}
