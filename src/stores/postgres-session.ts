import { setTimeout as sleep } from 'node:timers/promises';
import { DeposedError, StoreError } from '../model/index.js';
import { Connections, type Lease, type PostgresConnection, type Query } from './postgres-connections.js';
import { failureOf, verdictOf } from './postgres-failure.js';

/** The address and the bounds of a session. */
export interface SessionOptions {
  readonly connection: PostgresConnection;
  /** The store, for messages. */
  readonly name: string;
  readonly patienceMs: number;
  readonly timeoutMs: number;
  /** The statement that asks for the epoch. */
  readonly current: string;
}

const LONGEST_PAUSE_MS = 500;

/** From the opening of a store to its close: connections, and patience where there is none to be had. */
export class PostgresSession {
  private readonly connections: Connections;
  private isClosed = false;

  constructor(private readonly options: SessionOptions) {
    this.connections = new Connections(options.connection, options.timeoutMs);
  }

  take(): Promise<Lease> {
    return this.connections.take();
  }

  /** Asks once. */
  use<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
    return this.connections.use(work);
  }

  /** Tries what may be done twice, until it is known to be done. */
  async patiently<Result>(operation: string, work: () => Promise<Result>): Promise<Result> {
    const { patienceMs, name } = this.options;
    const end = performance.now() + patienceMs;
    for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      if (this.isClosed) throw new StoreError({ operation, cause: 'it is closed' });
      try {
        return await work();
      } catch (error) {
        if (verdictOf(error) === 'final' || performance.now() >= end) throw failureOf(error, operation, name);
      }
      await sleep(pauseMs);
    }
  }

  /** One statement that may be done twice; its first value is the epoch without which it does nothing. */
  async write(operation: string, statement: string, values: readonly [number, ...unknown[]]): Promise<number> {
    const rows = await this.patiently(operation, () => this.use((query) => query(`${statement} RETURNING 1`, values)));
    if (rows.length === 0) await this.checkOwner(operation, values[0]);
    return rows.length;
  }

  async checkOwner(operation: string, epoch: number): Promise<void> {
    const currentEpoch = await this.currentEpoch(operation);
    if (currentEpoch !== epoch) throw new DeposedError({ epoch, currentEpoch });
  }

  async currentEpoch(operation: string): Promise<number> {
    const [row] = await this.patiently(operation, () => this.use((query) => query(this.options.current)));
    return Number(row?.['epoch']);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.connections.close();
  }
}
