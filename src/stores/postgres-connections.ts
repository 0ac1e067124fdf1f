import pg from 'pg';
import { Unanswered, Unreachable } from './postgres-failure.js';

/** Where the database is: an address, what `pg` takes, or a pool of the caller's own, which stays open. */
export type PostgresConnection = string | pg.PoolConfig | pg.Pool;

/** Asks for something, and gives the rows of the answer. */
export type Query = (statement: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;

/** A connection that was taken from the pool. */
export interface Lease {
  readonly query: Query;
  /** Gives it back, or ends it where nobody knows what it is in the middle of. */
  release(state: 'clean' | 'unclear'): void;
}

const ignore = (): void => undefined;

/** Connections to one database, each taken for one operation; no wait for them is without end. */
export class Connections {
  private readonly pool: pg.Pool;
  private readonly isOwn: boolean;

  constructor(
    connection: PostgresConnection,
    private readonly timeoutMs: number,
  ) {
    this.isOwn = !isPool(connection);
    this.pool = isPool(connection) ? connection : poolOf(connection, timeoutMs);
  }

  async take(): Promise<Lease> {
    const taking = this.pool.connect();
    let client: pg.PoolClient;
    try {
      client = await this.inTime(taking);
    } catch (error) {
      // One that comes too late is not kept from others.
      void taking.then((late) => {
        late.release();
      }, ignore);
      throw new Unreachable('No connection', { cause: error });
    }
    client.on('error', ignore);
    return {
      query: async (statement, values = []) => {
        const { rows } = await this.inTime(client.query<Record<string, unknown>>(statement, [...values]));
        return rows;
      },
      release: (state) => {
        if (state === 'clean') client.off('error', ignore);
        client.release(state === 'unclear');
      },
    };
  }

  async use<Result>(work: (query: Query) => Promise<Result>): Promise<Result> {
    const lease = await this.take();
    let state: 'clean' | 'unclear' = 'unclear';
    try {
      const result = await work(lease.query);
      state = 'clean';
      return result;
    } finally {
      lease.release(state);
    }
  }

  async close(): Promise<void> {
    // A connection that does not answer any more must not hold up whoever closes.
    if (this.isOwn) await this.inTime(this.pool.end()).catch(ignore);
  }

  private async inTime<Value>(promise: Promise<Value>): Promise<Value> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Unanswered(`no answer within ${this.timeoutMs} ms`));
      }, this.timeoutMs);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** By what it does: it may come from another copy of the package. */
function isPool(connection: PostgresConnection): connection is pg.Pool {
  return typeof connection === 'object' && 'connect' in connection && typeof connection.connect === 'function';
}

function poolOf(connection: string | pg.PoolConfig, timeoutMs: number): pg.Pool {
  const pool = new pg.Pool({
    // One for what is appended, one for a snapshot that is saved meanwhile.
    max: 2,
    application_name: 'precedence',
    keepAlive: true,
    // What is given up here ends there too.
    statement_timeout: timeoutMs,
    // A connection that nobody uses does not keep the process alive.
    allowExitOnIdle: true,
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
  });
  // One that breaks while nobody uses it is replaced at the next use.
  pool.on('error', ignore);
  return pool;
}
