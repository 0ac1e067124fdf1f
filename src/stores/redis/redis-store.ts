import { randomUUID } from 'node:crypto';
import {
  CorruptJournalError,
  DeposedError,
  InvalidConfigError,
  SchedulerError,
  StoreError,
  UnsupportedVersionError,
  parsePositiveDuration,
  refuseConfig,
  type Duration,
} from '../../model/index.js';
import type { Durability, Loaded, Opening, SnapshotToSave, Store } from '../../ports/store.js';
import { oneOf } from '../one-of.js';
import { stretches } from '../stretches.js';
import { RedisConnection, type RedisTarget } from './connection.js';
import * as scripts from './scripts.js';
import { checkSettings, refuseSilence } from './server-settings.js';

export type { RedisTarget } from './connection.js';

/** How a store uses a Redis server. */
export interface RedisStoreOptions {
  /** What the keys begin with; `precedence` unless given. Each scheduler needs one of its own. */
  readonly prefix?: string | undefined;
  /** What an acknowledged write survives; `fsync` unless given. A server that cannot keep it is refused. */
  readonly durability?: Durability | undefined;
  /**
   * `checked` (the default) asks the server with CONFIG GET whether it evicts nothing and keeps what the durability says, at
   * each new connection. With `trusted` it is not asked: you declare that it does.
   */
  readonly settings?: 'checked' | 'trusted' | undefined;
  /** How long a call may take, connecting anew and trying again included; 10 seconds unless given. */
  readonly timeout?: Duration | undefined;
}

/** About how many bytes go over the connection at once, so that nobody else waits long for the server. */
const BYTES_AT_ONCE = 1_000_000;
const RECORDS_TO_TRIM = 1_000;
/** The smallest limit that a server can be given for a single text is a megabyte, the usual one is this. */
const LONGEST_TEXT = 512 * 1024 * 1024 - 1;

/**
 * Keeps everything in Redis (or what speaks like it), through ioredis. Appends are compare-and-set scripts; what was not
 * answered is sent again and known by the server, so that nothing is written twice. A server that may forget is refused.
 *
 * @example
 * ```ts
 * const scheduler = new Scheduler({ store: new RedisStore('redis://localhost:6379', { prefix: 'crawler' }) });
 * ```
 */
export class RedisStore implements Store {
  readonly name: string;
  readonly durability: Durability;
  private readonly connection: RedisConnection;
  private readonly keys: readonly string[];
  private readonly settings: 'checked' | 'trusted';
  private isOpen = false;
  private epoch = 0;
  private instance = '';
  private owner = '';
  /** The last record that is known to be kept: where the server has fewer, it has lost some. */
  private known = 0;
  private appends = 0;
  private snapshots = 0;
  /** Why nothing may be written any more. */
  private failure: SchedulerError | undefined = undefined;

  constructor(target: RedisTarget, options: RedisStoreOptions = {}) {
    const { durability = 'fsync', settings = 'checked', timeout = '10s' } = options;
    const prefix = parsePrefix(options.prefix ?? 'precedence');
    const timeoutMs = parsePositiveDuration(timeout, 'timeout', refuseConfig);
    this.name = `redis ${prefix}`;
    this.durability = oneOf(['none', 'os', 'fsync'], durability, 'durability');
    this.settings = oneOf(['checked', 'trusted'], settings, 'settings');
    // What is in braces decides where a cluster keeps a key: all of ours are in one place.
    this.keys = ['head', 'journal', 'snapshot', 'saving'].map((key) => `{${prefix}}:${key}`);
    this.connection = new RedisConnection(parseTarget(target), timeoutMs, () => this.checkServer());
  }

  async open(): Promise<Opening> {
    try {
      return await this.takeOver(randomUUID());
    } catch (error) {
      if (!this.isOpen) this.connection.close();
      throw error;
    }
  }

  private async takeOver(owner: string): Promise<Opening> {
    const answer = await this.send('open the journal', () =>
      this.connection.once(() => this.connection.run(scripts.OPEN, this.keys, [randomUUID(), owner])),
    );
    const [outcome, ...data] = answer;
    if (outcome === 'format') {
      throw new UnsupportedVersionError({
        source: `journal in ${this.name}`,
        version: Number(data[0]),
        supported: scripts.FORMAT,
      });
    }
    if (outcome === 'damaged') throw this.damaged(Number(data[0]), String(data[1]));
    const [instance, epoch, sequence] = data;
    this.owner = owner;
    this.instance = String(instance);
    this.epoch = Number(epoch);
    this.known = Number(sequence);
    this.appends = 0;
    this.snapshots = 0;
    this.failure = undefined;
    this.isOpen = true;
    return { epoch: this.epoch, sequence: this.known };
  }

  async *load(): AsyncIterable<Loaded> {
    const operation = 'load the journal';
    const contents = await this.run(operation, this.epoch, scripts.CONTENTS, []);
    const [snapshot, parts, first, last] = contents.map(Number) as [number, number, number, number];
    if (snapshot > 0 && parts === 0) yield { kind: 'snapshot', sequence: snapshot, parts: [] };
    for (let at = 0; at < parts;) {
      const read = await this.read(operation, 'snapshot', at);
      if (read.length === 0) throw this.damaged(at, 'parts of the snapshot are missing');
      yield { kind: 'snapshot', sequence: snapshot, parts: read };
      at += read.length;
    }
    if (first > snapshot + 1) throw this.damaged(first, `the records after ${snapshot} are missing`);
    for (let next = snapshot + 1; next <= last;) {
      const bodies = await this.read(operation, 'journal', next - first);
      if (bodies.length === 0) throw this.damaged(next, 'records are missing');
      yield { kind: 'records', first: next, bodies };
      next += bodies.length;
    }
  }

  async append(expectedSequence: number, epoch: number, body: string): Promise<void> {
    const operation = 'append a record';
    this.checkOwner(operation, epoch);
    this.checkLength(operation, body);
    this.appends += 1;
    const call = String(this.appends);
    const args = [String(expectedSequence), String(expectedSequence + 1), call, body];
    await this.run(operation, epoch, scripts.APPEND, args, call).catch((error: unknown) => {
      const isKnown = error instanceof DeposedError || (error instanceof StoreError && error.kind === 'full');
      // Where nobody knows whether it happened, nothing may be built on either.
      if (!isKnown && error instanceof SchedulerError) this.failure ??= error;
      throw error;
    });
    this.known = Math.max(this.known, expectedSequence + 1);
  }

  async saveSnapshot({ sequence, parts }: SnapshotToSave, epoch: number): Promise<void> {
    const operation = 'save a snapshot';
    this.checkOwner(operation, epoch);
    this.snapshots += 1;
    const snapshot = String(this.snapshots);
    await this.run(operation, epoch, scripts.BEGIN_SNAPSHOT, [snapshot]);
    let count = 0;
    for await (const some of stretches(parts, BYTES_AT_ONCE / 4)) {
      for (const part of some) this.checkLength(operation, part);
      await this.run(operation, epoch, scripts.PUSH_PARTS, [snapshot, String(count), ...some]);
      count += some.length;
    }
    await this.run(operation, epoch, scripts.COMMIT_SNAPSHOT, [snapshot, String(sequence), String(count)]);
  }

  async compact(epoch: number): Promise<void> {
    const operation = 'compact the journal';
    for (;;) {
      const [left] = await this.run(operation, epoch, scripts.TRIM, [String(RECORDS_TO_TRIM)]);
      if (left === '0') return;
    }
  }

  close(epoch = this.epoch): Promise<void> {
    if (epoch !== this.epoch) return Promise.resolve();
    this.isOpen = false;
    this.connection.close();
    return Promise.resolve();
  }

  private read(operation: string, list: 'journal' | 'snapshot', from: number): Promise<string[]> {
    const key = list === 'journal' ? 2 : 3;
    return this.run(operation, this.epoch, scripts.READ, [key, from, BYTES_AT_ONCE].map(String));
  }

  /** Runs a script as the owner of the journal, and gives what it answers. `call` says which of the appends it is. */
  private async run(
    operation: string,
    epoch: number,
    script: scripts.Script,
    args: readonly string[],
    call?: string,
  ): Promise<string[]> {
    this.checkOwner(operation, epoch);
    const fenced = [this.instance, this.owner, String(this.known), ...args];
    const answer = await this.send(operation, () =>
      this.connection.call(() => this.connection.run(script, this.keys, fenced)),
    );
    const [outcome, ...data] = answer;
    switch (outcome) {
      case 'ok':
        return data;
      case 'owner':
        // It was done, then somebody else opened the journal, and only the answer was lost.
        if (call !== undefined && data[1] === this.owner && data[2] === call) return [];
        if (Number(data[0]) > epoch) throw new DeposedError({ epoch, currentEpoch: Number(data[0]) });
        throw this.lost(operation, `it is back at epoch ${String(data[0])}`);
      case 'sequence':
        throw new DeposedError({ epoch, currentEpoch: epoch });
      case 'refused':
        throw new StoreError({ operation, cause: data[0] });
      default:
        throw this.lost(operation, String(data[0]));
    }
  }

  private async send<Value>(operation: string, send: () => Promise<Value>): Promise<Value> {
    try {
      return await send();
    } catch (error) {
      if (error instanceof InvalidConfigError) throw error;
      throw new StoreError({ operation, kind: isFull(error) ? 'full' : 'failed', cause: error });
    }
  }

  private lost(operation: string, what: string): StoreError {
    const cause = `the server has lost what it acknowledged: ${what}`;
    const error = new StoreError({ operation, cause });
    this.failure ??= error;
    return error;
  }

  private damaged(position: number, reason: string): CorruptJournalError {
    return new CorruptJournalError({ source: this.name, position, reason });
  }

  private checkOwner(operation: string, epoch: number): void {
    if (this.failure !== undefined) throw this.failure;
    if (!this.isOpen) throw new StoreError({ operation, cause: 'it is not open' });
    if (epoch !== this.epoch) throw new DeposedError({ epoch, currentEpoch: this.epoch });
  }

  private checkLength(operation: string, text: string): void {
    // A server answers a longer text by closing the connection, which looks like a fault that passes.
    const length = Buffer.byteLength(text);
    if (length <= LONGEST_TEXT) return;
    throw new StoreError({ operation, cause: `a text of ${length} bytes is too long, at most ${LONGEST_TEXT} go` });
  }

  private async checkServer(): Promise<void> {
    if (this.settings === 'trusted') return;
    const settings = await this.connection.settings().catch((error: unknown) => {
      if (error instanceof Error && error.name === 'ReplyError') refuseSilence(error);
      throw error;
    });
    for (const each of settings) checkSettings(each, this.durability);
  }
}

/** There is no room in the server's memory, or on its disk. Nothing was written: that is looked at before. */
function isFull(error: unknown): boolean {
  return error instanceof Error && /^OOM\b|^MISCONF\b.*No space left on device/s.test(error.message);
}

function parsePrefix(prefix: unknown): string {
  if (typeof prefix === 'string' && /^[\w.:/-]{1,200}$/.test(prefix)) return prefix;
  return refuseConfig('prefix', prefix, '1 to 200 letters, digits or any of _ - . : /');
}

function parseTarget(target: RedisTarget): RedisTarget {
  if (typeof target === 'string') {
    if (URL.canParse(target) && /^rediss?:$/.test(new URL(target).protocol)) return target;
    // It may hold a password, so it is not shown.
    return refuseConfig(
      'redis',
      'a text',
      'a URL such as "redis://localhost:6379", options for ioredis, or its client',
    );
  }
  if (typeof target === 'object' && (target as unknown) !== null) return target;
  return refuseConfig('redis', target, 'a URL such as "redis://localhost:6379", options for ioredis, or its client');
}
