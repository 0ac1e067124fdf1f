import { once } from 'node:events';
import { Redis, type Cluster, type RedisOptions } from 'ioredis';
import { InvalidConfigError } from '../../model/index.js';
import { OutOfTime, Patience } from '../patience.js';
import type { Script } from './scripts.js';
import { SETTINGS, type ServerSettings } from './server-settings.js';

/** Where a Redis server is: a URL, options for ioredis, or a client of ioredis that is there already. */
export type RedisTarget = string | RedisOptions | Redis | Cluster;

/** Answers that mean "not now": the server starts, is busy, or passes its keys on. */
const NOT_NOW = /^(LOADING|BUSY|CLUSTERDOWN|TRYAGAIN|MASTERDOWN)\b/;

/** Of the time for a call, what a single try may take: a connection that tells nothing is given up for a new one. */
const SHARE_OF_A_TRY = 1 / 3;

/**
 * A way to the server that survives losing it. Whatever is sent must come to the same when it is sent twice, because what
 * was sent over a lost connection may have been done.
 */
export class RedisConnection {
  /** Makes a client; `undefined` where one was brought along. */
  private readonly make: (() => Redis) | undefined;
  private client: Redis | Cluster | undefined;
  private connecting: Promise<void> | undefined = undefined;
  /** Counts connections: behind a new one there may be another server, or the same with other settings. */
  private made = 0;
  private checked = 0;
  private lastError: unknown = undefined;
  private isClosed = false;

  /** `check` looks at each new connection and throws where it will not do. */
  constructor(
    target: RedisTarget,
    private readonly timeoutMs: number,
    private readonly check: () => Promise<void>,
  ) {
    if (isClient(target)) {
      this.client = target;
      this.made = 1;
      return;
    }
    // Nothing happens behind our back: each call connects if need be, sends again what was lost, and ends in time.
    const ours = {
      lazyConnect: true,
      replyMapping: 'legacy' as const,
      retryStrategy: null,
      autoResendUnfulfilledCommands: false,
      connectTimeout: this.tryMs,
    };
    this.make = typeof target === 'string' ? () => new Redis(target, ours) : () => new Redis({ ...target, ...ours });
  }

  /** Tries once; for the first call, which is to fail fast. */
  async once<Value>(send: () => Promise<Value>): Promise<Value> {
    // One that was told to disconnect looks ready until it has.
    if (this.isClosed && this.make !== undefined) this.client = undefined;
    this.isClosed = false;
    if (this.make === undefined) this.client?.off('ready', this.countConnection).on('ready', this.countConnection);
    // A server that reads its file again lets nobody in until it has.
    return this.attempt(send, new Patience(this.timeoutMs), this.timeoutMs);
  }

  /** Tries until it is answered, or time is up. */
  async call<Value>(send: () => Promise<Value>): Promise<Value> {
    const patience = new Patience(this.timeoutMs);
    for (;;) {
      try {
        return await this.attempt(send, patience, this.tryMs);
      } catch (error) {
        if (!isPassing(error) || this.isClosed || !(await patience.pause())) throw error;
      }
    }
  }

  /** Sends a script, or only its name where the server knows it. */
  async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<string[]> {
    const client = this.client as Redis;
    try {
      return (await client.evalsha(script.sha, keys.length, ...keys, ...args)) as string[];
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return (await client.eval(script.text, keys.length, ...keys, ...args)) as string[];
    }
  }

  /** The settings of the server, or of each that may come to hold our keys. */
  async settings(): Promise<ServerSettings[]> {
    const client = this.client as Redis | Cluster;
    const nodes = 'nodes' in client ? client.nodes('master') : [client];
    return Promise.all(
      nodes.map(async (node) => {
        const answers = await Promise.all(SETTINGS.map((name) => node.config('GET', name)));
        return new Map(answers.flatMap(pairsOf));
      }),
    );
  }

  /** Ends what was made here, and leaves a client that was brought along as it is. */
  close(): void {
    this.isClosed = true;
    if (this.make === undefined) this.client?.off('ready', this.countConnection);
    else this.client?.disconnect();
  }

  private get tryMs(): number {
    return Math.max(1, Math.round(this.timeoutMs * SHARE_OF_A_TRY));
  }

  private async attempt<Value>(send: () => Promise<Value>, patience: Patience, connectMs: number): Promise<Value> {
    try {
      await this.connect(patience, connectMs);
      await this.checkNew(patience);
      const value = await patience.await(send(), this.tryMs);
      // A client that was brought along may have connected anew and sent it again.
      await this.checkNew(patience);
      return value;
    } catch (error) {
      if (error instanceof OutOfTime && this.make !== undefined) this.client?.disconnect();
      throw error;
    }
  }

  private async connect(patience: Patience, limitMs: number): Promise<void> {
    if (this.client?.status === 'ready') return;
    if (this.make === undefined) {
      await patience.await(untilReady(this.client as Redis), limitMs);
      return;
    }
    // A record may be appended while a snapshot is saved: both wait for the same connection.
    this.connecting ??= this.connectAnew(this.make, limitMs).finally(() => {
      this.connecting = undefined;
    });
    await patience.await(this.connecting);
  }

  private async connectAnew(make: () => Redis, limitMs: number): Promise<void> {
    this.client?.disconnect();
    const client = make();
    this.client = client;
    this.lastError = undefined;
    client.on('error', (error: unknown) => {
      this.lastError = error;
    });
    try {
      await new Patience(limitMs).await(client.connect());
    } catch (error) {
      client.disconnect();
      // ioredis says no more than that the connection is closed; why, it tells in an event.
      throw this.lastError ?? error;
    }
    this.made += 1;
  }

  private async checkNew(patience: Patience): Promise<void> {
    while (this.checked !== this.made) {
      const { made } = this;
      await patience.await(this.check(), this.tryMs);
      this.checked = made;
    }
  }

  private readonly countConnection = (): void => {
    this.made += 1;
  };
}

function isClient(target: RedisTarget): target is Redis | Cluster {
  return typeof target === 'object' && 'evalsha' in target;
}

/** Waits for a client that connects in its own way, until it is there or has failed once more. */
async function untilReady(client: Redis | Cluster): Promise<void> {
  if (client.status === 'end') throw new Error('the client was ended');
  if (client.status === 'wait') {
    await client.connect();
    return;
  }
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    const closed = once(client, 'close', { signal }).then(() => Promise.reject(new Error('the connection was closed')));
    await Promise.race([once(client, 'ready', { signal }), closed]);
  } finally {
    waiting.abort();
  }
}

/** Whether trying again may help: everything does that is not an answer of the server or a refusal of ours. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof InvalidConfigError) return false;
  return error.name !== 'ReplyError' || NOT_NOW.test(error.message);
}

/** Some clients give a map as a flat list, some as an object. */
function pairsOf(answer: unknown): [string, string][] {
  if (!Array.isArray(answer)) return Object.entries(answer as Record<string, string>);
  const list = answer as string[];
  return list.flatMap((name, n) => (n % 2 === 0 ? [[name, list[n + 1] ?? '']] : []));
}
