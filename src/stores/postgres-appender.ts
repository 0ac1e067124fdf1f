import { DeposedError, StoreError } from '../model/index.js';
import { Unanswered, verdictOf } from './postgres-failure.js';
import type { PostgresStatements } from './postgres-schema.js';
import type { PostgresSession } from './postgres-session.js';

/** What the owner knows of the row of the store. */
export interface Ownership {
  readonly epoch: number;
  readonly writer: number;
  readonly sequence: number;
}

const OPERATION = 'append a record';

/**
 * Appends records for one owner, one after the other. Where a connection is lost before the answer has come, the record may be
 * there, or not, or still be under way. Then the owner becomes another writer, which what is under way is not let in any more by,
 * and learns by the same statement what is there.
 */
export class PostgresAppender {
  private readonly epoch: number;
  private writer: number;
  private sequence: number;
  /** Settled when the append before has been answered. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly session: PostgresSession,
    private readonly statements: PostgresStatements,
    private readonly durability: 'os' | 'fsync',
    { epoch, writer, sequence }: Ownership,
  ) {
    this.epoch = epoch;
    this.writer = writer;
    this.sequence = sequence;
  }

  append(expected: number, epoch: number, body: string): Promise<void> {
    const appended = this.turn.then(() => this.appendNext(expected, epoch, body));
    this.turn = appended.catch(() => undefined);
    return appended;
  }

  private async appendNext(expected: number, epoch: number, body: string): Promise<void> {
    // What is not this owner's next is not even sent: of a record that is found there later, nobody could tell whose it is.
    if (epoch !== this.epoch || expected !== this.sequence) return this.refuse(epoch);
    await this.session.patiently(OPERATION, () => this.attempt(expected, body));
    this.sequence = expected + 1;
  }

  private async attempt(expected: number, body: string): Promise<void> {
    let lost: Error | undefined = undefined;
    try {
      const values = [this.epoch, this.writer, expected, body];
      const [row] = await this.session.use((query) => query(this.statements.append, values));
      if (row !== undefined) {
        this.checkDurable(row['synchronous']);
        return;
      }
    } catch (error) {
      if (verdictOf(error) !== 'unknown') throw error;
      lost = error instanceof Error ? error : new Unanswered(String(error));
    }
    const last = await this.session.patiently(OPERATION, () => this.changeWriter());
    if (lost !== undefined && (await this.isThere(expected + 1, last))) return;
    if (last !== expected) return this.refuse(this.epoch);
    // It is not there, and will not be: it is tried again, by the writer that counts now.
    throw lost ?? new Unanswered('another writer has answered');
  }

  /** The number of the last record, once nothing that is under way can change it; `undefined` for who is no longer the owner. */
  private async changeWriter(): Promise<number | undefined> {
    const [row] = await this.session.use((query) => query(this.statements.changeWriter, [this.epoch]));
    if (row === undefined) return undefined;
    this.writer = Number(row['writer']);
    return Number(row['sequence']);
  }

  private async isThere(sequence: number, last: number | undefined): Promise<boolean> {
    if (last !== undefined) return last === sequence;
    // Somebody has taken over, perhaps with this record.
    const rows = await this.session.patiently(OPERATION, () =>
      this.session.use((query) => query(this.statements.isRecordOf, [this.epoch, sequence])),
    );
    return rows.length > 0;
  }

  /** The server may have been told otherwise since the store was opened. */
  private checkDurable(synchronous: unknown): void {
    if (this.durability === 'os' || synchronous !== 'off') return;
    throw new StoreError({ operation: OPERATION, cause: 'synchronous_commit was switched off' });
  }

  private async refuse(epoch: number): Promise<never> {
    throw new DeposedError({ epoch, currentEpoch: await this.session.currentEpoch(OPERATION) });
  }
}
