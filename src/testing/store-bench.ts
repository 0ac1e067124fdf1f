import { inspect, isDeepStrictEqual } from 'node:util';
import type { SchedulerErrorCode } from '../model/index.js';
import type { Opening, SnapshotToSave, Store } from '../ports/store.js';
import { within } from './conformance.js';

/** A place where a store keeps what it is given: a directory, a database, a key. Empty at first. */
export interface StorePlace {
  /**
   * A store on this place, not opened yet: another object at each call, as after a restart or in another process. Where
   * nothing outlives the object it is the same one.
   */
  store(): Store | Promise<Store>;
  /** Called when the check is over and every store is closed. */
  remove?(): void | Promise<void>;
}

/** What a load gave. */
export interface Contents {
  readonly snapshot: { readonly sequence: number; readonly parts: readonly string[] } | undefined;
  /** Those after the snapshot. */
  readonly records: readonly string[];
}

/** A place where stores are tried, and everything that was opened on it. */
export class StoreBench {
  private readonly made: Store[] = [];

  constructor(
    private readonly place: StorePlace,
    private readonly patienceMs: number,
    /** How many records are appended where many are wanted. */
    readonly many: number,
  ) {}

  async store(): Promise<Store> {
    const store = await this.place.store();
    this.made.push(store);
    return store;
  }

  /** Opens and loads a store as a scheduler does that begins. */
  async begin(given?: Store): Promise<Session> {
    const store = given ?? (await this.store());
    const opening = await this.within(store.open(), 'it opens');
    const { epoch, sequence } = opening;
    demand(
      Number.isSafeInteger(epoch) && epoch >= 1,
      `its epoch is ${inspect(epoch)}, expected a whole number above 0`,
    );
    demand(Number.isSafeInteger(sequence) && sequence >= 0, `its sequence is ${inspect(sequence)}`);
    const contents = await this.within(contentsOf(store), 'it loads');
    const last = (contents.snapshot?.sequence ?? 0) + contents.records.length;
    demand(last === sequence, `it opened at sequence ${sequence}, but loads up to ${last}`);
    return new Session(this, store, opening, contents);
  }

  /** Begins beside whoever has the place, also through the same store; `undefined` where that is refused because they have it. */
  async rival(store?: Store): Promise<Session | undefined> {
    try {
      return await this.begin(store);
    } catch (thrown) {
      const { code, kind } = thrown as { readonly code?: unknown; readonly kind?: unknown };
      demand(code === 'STORE' && kind === 'busy', `it refused a rival with ${inspect(thrown)}`);
      return undefined;
    }
  }

  /** Closes it, and begins anew with another store on the same place. */
  async beginAgain({ store }: Session): Promise<Session> {
    await this.within(store.close(), 'it closes');
    return this.begin();
  }

  /** Begins where the owner may have died: without closing it, unless nobody can tell it from one that lives. */
  async takeOver(owner: Session): Promise<Session> {
    return (await this.rival()) ?? this.beginAgain(owner);
  }

  within<Value>(promise: Promise<Value>, claim: string): Promise<Value> {
    return within(promise, this.patienceMs, claim);
  }

  async clear(): Promise<void> {
    for (const store of this.made) await this.within(store.close(), 'it closes');
    await this.place.remove?.();
  }
}

/** An open store, used as a scheduler does. */
export class Session {
  readonly epoch: number;
  /** The number of the last record. */
  sequence: number;

  constructor(
    private readonly bench: StoreBench,
    readonly store: Store,
    opening: Opening,
    readonly loaded: Contents,
  ) {
    this.epoch = opening.epoch;
    this.sequence = opening.sequence;
  }

  async append(...bodies: readonly string[]): Promise<void> {
    for (const body of bodies) {
      await this.bench.within(this.store.append(this.sequence, this.epoch, body), 'a record is appended');
      this.sequence += 1;
    }
  }

  /** Saves a snapshot that stands for all records up to now, or to the one that is named. */
  async save(parts: Iterable<string> | AsyncIterable<string>, sequence = this.sequence): Promise<void> {
    await this.bench.within(this.store.saveSnapshot(snapshotOf(sequence, parts), this.epoch), 'a snapshot is saved');
  }

  async compact(): Promise<void> {
    await this.bench.within(this.store.compact(this.epoch), 'it is compacted');
  }

  /** Closes the store in the name of its own opening, or of another. */
  async close(epoch = this.epoch): Promise<void> {
    await this.bench.within(this.store.close(epoch), `it closes for epoch ${epoch}`);
  }

  async refuses(code: SchedulerErrorCode, claim: string, write: (session: Session) => Promise<void>): Promise<void> {
    const error = await this.bench.within(
      write(this).then(
        () => undefined,
        (thrown: unknown) => ({ thrown }),
      ),
      claim,
    );
    demand(error !== undefined, `it resolved, expected ${claim}`);
    const got = (error?.thrown as { code?: unknown } | undefined)?.code;
    demand(got === code, `it rejected with ${inspect(error?.thrown)}, expected ${claim} with the code ${code}`);
  }

  /** Tries to write everything there is to write in the name of an epoch that has no right to. */
  async refusesEpoch(epoch: number): Promise<void> {
    const { sequence } = this;
    const snapshot = snapshotOf(sequence, ['["stale"]']);
    const saved = `that a snapshot of epoch ${epoch} is refused`;
    await this.refuses('DEPOSED', saved, ({ store }) => store.saveSnapshot(snapshot, epoch));
    const compacted = `that compacting in epoch ${epoch} is refused`;
    await this.refuses('DEPOSED', compacted, ({ store }) => store.compact(epoch));
    const appended = `that a record of epoch ${epoch} is refused`;
    await this.refuses('DEPOSED', appended, ({ store }) => store.append(sequence, epoch, '["stale"]'));
  }

  /** Demands that what was loaded is this. */
  holds(records: readonly string[], snapshot?: Contents['snapshot']): void {
    expectContents(this.loaded, { snapshot, records });
  }
}

function snapshotOf(sequence: number, parts: Iterable<string> | AsyncIterable<string>): SnapshotToSave {
  return { sequence, parts: inTurn(parts) };
}

async function* inTurn(parts: Iterable<string> | AsyncIterable<string>): AsyncIterable<string> {
  for await (const part of parts) yield part;
}

/** Puts together what is loaded piece by piece, and demands that the pieces come in order. */
async function contentsOf(store: Store): Promise<Contents> {
  let snapshot: { readonly sequence: number; readonly parts: string[] } | undefined;
  const records: string[] = [];
  for await (const piece of store.load()) {
    switch (piece.kind) {
      case 'snapshot': {
        demand(records.length === 0, 'it loads a snapshot after records');
        snapshot ??= { sequence: piece.sequence, parts: [] };
        demand(piece.sequence === snapshot.sequence, 'it loads parts of different snapshots');
        snapshot.parts.push(...piece.parts);
        break;
      }
      case 'records': {
        const next = (snapshot?.sequence ?? 0) + records.length + 1;
        demand(piece.first === next, `it loads record ${piece.first} where ${next} was to come`);
        records.push(...piece.bodies);
        break;
      }
    }
  }
  return { snapshot, records };
}

function expectContents(got: Contents, expected: Contents): void {
  if (isDeepStrictEqual(got, expected)) return;
  throw new Error(`The store does not conform: it loads ${brief(got)}, expected ${brief(expected)}.`);
}

function brief(contents: Contents): string {
  return inspect(contents, { depth: 3, maxArrayLength: 10, maxStringLength: 80, breakLength: Infinity });
}

export function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(`The store does not conform: ${otherwise}.`);
}

/** One check, on a bench of its own. */
export type StoreCheck = (bench: StoreBench) => Promise<void>;

// Texts that a store alters if it takes them for something: a value to be normalised, a line, a pattern, a string of its own.
export const BODIES = [
  '[]',
  '[ 1.0, {"b":1,"a":2,"a":3} ]',
  '["\\u0000","\\\\u0000","\\n","\\ud800"]',
  '["äöü ß 漢字 👩‍👩‍👧 \u2028\u2029\ufeff"]',
  '["\'","%s","$1","--;","\\"","\u007f"]',
  '[{"__proto__":{"a":1},"constructor":1}]',
  '[12345678901234567890,1e400,-0]',
];
