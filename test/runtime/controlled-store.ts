import {
  MemoryStore,
  StoreError,
  type Durability,
  type Loaded,
  type Opening,
  type SnapshotToSave,
  type Store,
} from '../../src/index.js';

/** What has been asked of the store and waits for an answer. */
interface Held {
  readonly body: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The facts of a record, without its version. */
export function factsOf(body: string): { readonly kind: string; readonly task?: string }[] {
  return (JSON.parse(body) as unknown[]).slice(1) as { kind: string; task?: string }[];
}

/**
 * A store whose appends resolve, reject or hang as the test says. What has resolved is kept for whoever opens it next; of
 * what was asked for and not answered, a crash keeps as much as it is told to.
 */
export class ControlledStore implements Store {
  readonly name = 'controlled';
  readonly durability: Durability = 'os';
  /** How long a record may be. One with more than one fact that is longer is refused. */
  maxRecordBytes: number | undefined = undefined;
  /** Whether appends wait for the test. */
  holds = false;
  held: Held[] = [];
  /** Every record that was ever kept, also what a snapshot has replaced. */
  readonly bodies: string[] = [];
  snapshots = 0;
  /** What the next appends fail with, one after another. */
  failures: Error[] = [];
  /** The same for snapshots and compactions. */
  snapshotFailures: Error[] = [];
  compactFailures: Error[] = [];
  compactions = 0;
  /** Its process is gone. */
  private isDead = false;
  private kept = new MemoryStore();
  private epoch = 0;

  async open(): Promise<Opening> {
    const opening = await this.kept.open();
    this.epoch = opening.epoch;
    return opening;
  }

  load(): AsyncIterable<Loaded> {
    return this.kept.load();
  }

  async append(expectedSequence: number, epoch: number, body: string): Promise<void> {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const bytes = Buffer.byteLength(body);
    if (bytes > (this.maxRecordBytes ?? Infinity) && factsOf(body).filter(({ kind }) => kind !== 'part').length > 1) {
      throw new StoreError({ operation: 'append', cause: `a record has ${bytes} bytes` });
    }
    if (this.holds || this.isDead) {
      await new Promise<void>((resolve, reject) => {
        this.held.push({ body, resolve, reject });
      });
    }
    await this.kept.append(expectedSequence, epoch, body);
    this.bodies.push(body);
  }

  async saveSnapshot(snapshot: SnapshotToSave, epoch: number): Promise<void> {
    if (this.isDead) await new Promise(() => undefined);
    const failure = this.snapshotFailures.shift();
    if (failure !== undefined) throw failure;
    await this.kept.saveSnapshot(snapshot, epoch);
    this.snapshots += 1;
  }

  async compact(epoch: number): Promise<void> {
    const failure = this.compactFailures.shift();
    if (failure !== undefined) throw failure;
    await this.kept.compact(epoch);
    this.compactions += 1;
  }

  async close(epoch?: number): Promise<void> {
    if (!this.isDead) await this.kept.close(epoch);
  }

  /** Lets what is held be kept. */
  letGo(): void {
    for (const { resolve } of this.held.splice(0)) resolve();
  }

  /** The process is gone: nothing that is held is ever answered. It is kept or lost, as nobody can know. */
  async crash(unanswered: 'kept' | 'lost'): Promise<ControlledStore> {
    this.isDead = true;
    const next = new ControlledStore();
    next.maxRecordBytes = this.maxRecordBytes;
    next.kept = this.kept;
    next.bodies.push(...this.bodies);
    if (unanswered === 'kept') {
      for (const { body } of this.held) {
        await this.kept.append(this.bodies.length, this.epoch, body);
        next.bodies.push(body);
      }
    }
    return next;
  }
}
