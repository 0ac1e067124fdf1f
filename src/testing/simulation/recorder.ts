import type { Loaded, Opening, SnapshotToSave, Store } from '../../ports/store.js';
import { SnapshotReader } from '../../runtime/snapshot-text.js';
import type { Ledger } from './ledger.js';

/** What a recorder must know of whoever uses the store. */
export interface RecorderHost {
  /** Whether anybody is there to whom the store answers. */
  readonly isAlive: boolean;
  /** The store is open and everything was read. */
  opened(opening: Opening): void;
  /** A record was refused or has failed, for another reason than want of space. */
  failed(error: unknown): void;
}

/** A store as it is, and a ledger that hears of all that it is given and answers. */
export class Recorder implements Store {
  private opening: Opening = { epoch: 0, sequence: 0 };
  private hasFailed = false;

  constructor(
    private readonly store: Store,
    private readonly ledger: Ledger,
    private readonly host: RecorderHost,
  ) {}

  get name(): string {
    return this.store.name;
  }

  get durability(): Store['durability'] {
    return this.store.durability;
  }

  async open(): Promise<Opening> {
    this.opening = await this.store.open();
    return this.opening;
  }

  async *load(): AsyncIterable<Loaded> {
    const reader = new SnapshotReader(this.name, () => undefined);
    const tail = new Map<number, string>();
    for await (const loaded of this.store.load()) {
      if (loaded.kind === 'snapshot') for (const part of loaded.parts) reader.add(part);
      else for (const [at, body] of loaded.bodies.entries()) tail.set(loaded.first + at, body);
      yield loaded;
    }
    if (!this.host.isAlive) return;
    this.ledger.recovered({ sequence: this.opening.sequence, snapshot: reader.snapshot, tail });
    this.host.opened(this.opening);
  }

  async append(expectedSequence: number, epoch: number, body: string): Promise<void> {
    this.ledger.offer(expectedSequence + 1, body);
    try {
      await this.store.append(expectedSequence, epoch, body);
    } catch (error) {
      if (this.host.isAlive && (error as { kind?: unknown }).kind !== 'full') {
        this.hasFailed = true;
        this.host.failed(error);
      }
      throw error;
    }
    if (!this.host.isAlive) return;
    this.ledger.kept(expectedSequence + 1, body);
    this.ledger.goesOn(this.hasFailed);
  }

  saveSnapshot(snapshot: SnapshotToSave, epoch: number): Promise<void> {
    return this.store.saveSnapshot(snapshot, epoch);
  }

  compact(epoch: number): Promise<void> {
    return this.store.compact(epoch);
  }

  close(epoch?: number): Promise<void> {
    return this.store.close(epoch);
  }
}
