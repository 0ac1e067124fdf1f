import { checkCount, checkStrategy, type StrategyChoice } from '../core/index.js';
import { ClosedError } from '../model/index.js';
import type { WaitOptions } from './abortable.js';
import type { Claim } from './claim.js';
import { promised } from './promised.js';
import { showAs } from './shown.js';

/** What a worker may ask of its scheduler. */
export interface WorkerHost {
  /** Grants up to so many tasks at once. */
  claim(worker: PullingWorker, count: number): Claim[];
  /** Gives what the work hands out when that may be known. */
  soon<Value>(work: () => Value): Promise<Value>;
  /** Waits for the next task; `undefined` when the worker is closed meanwhile. */
  wait(worker: PullingWorker, options: WaitOptions | undefined): Promise<Claim | undefined>;
  setStrategy(worker: PullingWorker, strategy: StrategyChoice): void;
  /** Whether the worker, or the whole scheduler, takes no more tasks. */
  isClosed(worker: PullingWorker): boolean;
  leave(worker: PullingWorker): void;
}

/**
 * A worker that asks for tasks when it has room for them. What it has claimed is its own until it settles the claim,
 * gives it back, or the lease ends.
 *
 * @example
 * ```ts
 * const worker = scheduler.worker({ capabilities: { gpu: 'a100' }, lease: '5m' });
 * for await (const claim of worker) await claim.run();
 * ```
 */
export class PullingWorker implements AsyncIterable<Claim> {
  static {
    showAs(PullingWorker, 'PullingWorker', ({ id }) => ({ id }));
  }

  /** @internal */
  constructor(
    private readonly host: WorkerHost,
    /** Names the worker in claims and explanations. */
    readonly id: string,
  ) {}

  /** Claims the best task that it could begin now, if there is one. */
  claim(): Promise<Claim | undefined> {
    return this.host.soon(() => this.take(1)[0]);
  }

  /** Claims up to so many tasks, in one step that no other claim can divide. */
  claimBatch(count: number): Promise<Claim[]> {
    return this.host.soon(() => {
      checkCount(count);
      return this.take(count);
    });
  }

  /** Claims the next task as soon as there is one that it could begin; whoever has waited for longest is served first. */
  async next(options?: WaitOptions): Promise<Claim> {
    const claim = await this.host.wait(this, options);
    if (claim === undefined) throw new ClosedError({ workerId: this.id });
    return claim;
  }

  /** Claims one task after another, for as long as the worker is open. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Claim, void, undefined> {
    for (;;) {
      const claim = await this.host.wait(this, undefined);
      if (claim === undefined) return;
      yield claim;
    }
  }

  /** Claims in another order from now on. */
  setStrategy(strategy: StrategyChoice | 'weighted_random'): void {
    this.checkOpen();
    this.host.setStrategy(this, checkStrategy(strategy, 'strategy'));
  }

  /** Claims no more tasks, and gives back unharmed what it still holds. */
  close(): Promise<void> {
    return promised(() => {
      this.host.leave(this);
    });
  }

  /** Closes the worker at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private take(count: number): Claim[] {
    this.checkOpen();
    return this.host.claim(this, count);
  }

  private checkOpen(): void {
    if (this.host.isClosed(this)) throw new ClosedError({ workerId: this.id });
  }
}
