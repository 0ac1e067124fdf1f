import { expect } from 'vitest';
import { FileStore, StoreError, type Files, type Loaded } from '../../src/index.js';

export const DIRECTORY = '/state';

/** What was asked of a store, and what it has acknowledged: a plain account that nobody could get wrong. */
export class Account {
  /** The records by number, from 1; the last one may not have been acknowledged. */
  readonly records: string[] = [];
  acknowledged = 0;
  /** What was saved for a sequence, whether acknowledged or not. */
  readonly snapshots = new Map<number, (readonly string[])[]>();
  /** The newest snapshot that was acknowledged. */
  snapshot = 0;

  /** Demands that what was loaded is the state before or after the last call. */
  matches({ snapshot, records, sequence }: Contents): void {
    expect(sequence).toBeGreaterThanOrEqual(this.acknowledged);
    expect(sequence).toBeLessThanOrEqual(this.records.length);
    const from = snapshot?.sequence ?? 0;
    expect(records).toEqual(this.records.slice(from, sequence));
    if (snapshot !== undefined) expect(this.snapshots.get(snapshot.sequence)).toContainEqual(snapshot.parts);
  }

  /** From here on what was loaded is what counts. */
  goOnFrom({ sequence }: Contents): void {
    this.records.length = sequence;
    this.acknowledged = sequence;
  }
}

export interface Contents {
  readonly epoch: number;
  readonly sequence: number;
  readonly snapshot: { readonly sequence: number; readonly parts: readonly string[] } | undefined;
  readonly records: readonly string[];
}

/** A store in use, with an account of it. */
export class Session {
  constructor(
    readonly store: FileStore,
    readonly account: Account,
    readonly contents: Contents,
  ) {}

  async append(body: string): Promise<void> {
    const { account } = this;
    const number = account.acknowledged;
    account.records.length = number;
    account.records.push(body);
    await this.store.append(number, this.contents.epoch, body);
    account.acknowledged = number + 1;
  }

  /** Saves a snapshot of all there is; where bodies are given they are appended between its parts. */
  async save(...beside: readonly string[]): Promise<void> {
    const { account } = this;
    const sequence = account.acknowledged;
    const parts = ['["of"]', `[${sequence}]`, ...beside.map((body) => `["before",${body}]`)];
    account.snapshots.set(sequence, [...(account.snapshots.get(sequence) ?? []), parts]);
    await this.store.saveSnapshot({ sequence, parts: this.partsBeside(parts, beside) }, this.contents.epoch);
    account.snapshot = sequence;
  }

  async compact(): Promise<void> {
    await this.store.compact(this.contents.epoch);
  }

  private async *partsBeside(parts: readonly string[], beside: readonly string[]): AsyncIterable<string> {
    const ahead = parts.length - beside.length;
    for (const [n, part] of parts.entries()) {
      const body = beside[n - ahead];
      if (body !== undefined) await this.append(body);
      yield part;
    }
  }
}

export const warnings: string[] = [];
export const logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (_: object, message: string) => warnings.push(message),
  error: () => undefined,
};

export async function begin(
  files: Files,
  account = new Account(),
  durability: 'fsync' | 'os' = 'fsync',
): Promise<Session> {
  const store = new FileStore(DIRECTORY, { durability, files, logger });
  return new Session(store, account, await contentsOf(store));
}

/** Opens a store and loads what it holds. */
export async function contentsOf(store: FileStore): Promise<Contents> {
  const { epoch, sequence } = await store.open();
  let snapshot: { sequence: number; parts: string[] } | undefined;
  const records: string[] = [];
  try {
    for await (const piece of store.load()) take(piece);
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
  return { epoch, sequence, snapshot, records };

  function take(piece: Loaded): void {
    if (piece.kind === 'records') {
      expect(piece.first).toBe((snapshot?.sequence ?? 0) + records.length + 1);
      records.push(...piece.bodies);
      return;
    }
    snapshot ??= { sequence: piece.sequence, parts: [] };
    snapshot.parts.push(...piece.parts);
  }
}

type Step = (session: Session) => Promise<unknown>;

const BODY = `["${'x'.repeat(700)}"]`;

/** Everything that a store does, in an order that uses all of it. */
const STEPS: readonly Step[] = [
  (session) => session.append('["first"]'),
  (session) => session.append(BODY),
  (session) => session.save(),
  (session) => session.append('["third"]'),
  (session) => session.compact(),
  (session) => session.save('["beside"]'),
  (session) => session.compact(),
  (session) => session.append(BODY),
];

/**
 * Goes through the whole history twice, with a new store the second time. What fails for want of space is tried once more; at
 * any other failure it ends, after the store was seen to refuse everything.
 */
export async function live(files: Files, account: Account, durability?: 'fsync' | 'os'): Promise<unknown> {
  for (let round = 0; round < 2; round++) {
    const session = await begin(files, account, durability).catch((thrown: unknown) => failure(thrown));
    if (!(session instanceof Session)) return session.cause;
    account.matches(session.contents);
    account.goOnFrom(session.contents);
    for (const step of STEPS) {
      const failed = await attempt(session, step);
      if (failed !== undefined) return failed;
    }
    const failed = await session.store.close().catch((thrown: unknown) => failure(thrown));
    if (failed !== undefined) return failed.cause;
  }
  return undefined;
}

/** Tries again what failed for want of space; otherwise nothing may be taken any more. */
async function attempt(session: Session, step: Step): Promise<unknown> {
  for (;;) {
    try {
      await step(session);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof StoreError && thrown.kind === 'full') continue;
      const { account, contents, store } = session;
      await expect(store.append(account.acknowledged, contents.epoch, '["late"]')).rejects.toBe(thrown);
      await session.store.close().catch(() => undefined);
      return thrown;
    }
  }
}

function failure(cause: unknown): { readonly cause: unknown } {
  expect(cause).toBeInstanceOf(StoreError);
  return { cause };
}
