import { DeposedError, StoreError } from '../model/index.js';
import type { Durability, Loaded, Opening, SnapshotToSave, Store } from '../ports/store.js';

/**
 * Keeps everything for as long as the process lives: for tests of what happens after a restart.
 *
 * @example
 * ```ts
 * const store = new MemoryStore();
 * await new Scheduler({ store }).close();
 * const again = new Scheduler({ store }); // goes on where the first one was
 * ```
 */
export class MemoryStore implements Store {
  readonly name = 'memory';
  readonly durability: Durability = 'none';
  private epoch = 0;
  private isOpen = false;
  /** The number of the first record that is kept. */
  private first = 1;
  private bodies: string[] = [];
  private snapshot: { readonly sequence: number; readonly parts: readonly string[] } | undefined = undefined;

  open(): Promise<Opening> {
    this.epoch += 1;
    this.isOpen = true;
    return Promise.resolve({ epoch: this.epoch, sequence: this.sequence });
  }

  async *load(): AsyncIterable<Loaded> {
    await Promise.resolve();
    const { snapshot, first, bodies } = this;
    if (snapshot !== undefined) yield { kind: 'snapshot', ...snapshot };
    const after = snapshot === undefined ? 0 : snapshot.sequence + 1 - first;
    if (after < bodies.length) yield { kind: 'records', first: first + after, bodies: bodies.slice(after) };
  }

  async append(expectedSequence: number, epoch: number, body: string): Promise<void> {
    await Promise.resolve();
    this.checkOwner(epoch, 'append a record');
    if (expectedSequence !== this.sequence) throw new DeposedError({ epoch, currentEpoch: this.epoch });
    this.bodies.push(body);
  }

  async saveSnapshot({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> {
    const saved: string[] = [];
    for await (const part of parts) saved.push(part);
    this.checkOwner(epoch, 'save a snapshot');
    if (sequence >= (this.snapshot?.sequence ?? 0)) this.snapshot = { sequence, parts: saved };
  }

  async compact(epoch: number): Promise<void> {
    await Promise.resolve();
    this.checkOwner(epoch, 'compact the journal');
    if (this.snapshot === undefined) return;
    this.bodies = this.bodies.slice(this.snapshot.sequence + 1 - this.first);
    this.first = this.snapshot.sequence + 1;
  }

  close(epoch = this.epoch): Promise<void> {
    if (epoch === this.epoch) this.isOpen = false;
    return Promise.resolve();
  }

  private get sequence(): number {
    return this.first + this.bodies.length - 1;
  }

  private checkOwner(epoch: number, operation: string): void {
    if (epoch !== this.epoch) throw new DeposedError({ epoch, currentEpoch: this.epoch });
    if (!this.isOpen) throw new StoreError({ operation, cause: 'it is closed' });
  }
}
