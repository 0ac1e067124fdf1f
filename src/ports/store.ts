/** What an acknowledged write survives: nothing, the end of the process (`os`), or also a loss of power (`fsync`). */
export type Durability = 'none' | 'os' | 'fsync';

/** What a store says when it is opened. */
export interface Opening {
  /** Larger than that of everybody who has opened the store before: from now on they may not write. */
  readonly epoch: number;
  /** The number of the last record in the journal; 0 when there is none. */
  readonly sequence: number;
}

/**
 * A stretch of what a store holds. First the snapshot, if there is one, in as many stretches as its size asks for, all of
 * the same sequence; then every record after it.
 */
export type Loaded =
  | {
      readonly kind: 'snapshot';
      /** The last record whose effect is in it. */
      readonly sequence: number;
      readonly parts: readonly string[];
    }
  | {
      readonly kind: 'records';
      /** The number of the first of them; the others follow without a gap. */
      readonly first: number;
      readonly bodies: readonly string[];
    };

/** A snapshot on its way into a store. */
export interface SnapshotToSave {
  /** The last record whose effect is in it. It is in the journal by then. */
  readonly sequence: number;
  /** In order; may come slowly, while records are appended. */
  readonly parts: AsyncIterable<string>;
}

/**
 * Keeps what a scheduler must not forget: a journal of numbered records, and a snapshot that stands for all records up to
 * one of them. Both are texts that mean nothing to the store (each is a JSON array). `storeChecks` in `precedence/testing`
 * shows whether one keeps to this.
 *
 * Calls come one at a time, except that records are appended while a snapshot is being saved. What fails, fails with a
 * `StoreError`, and has then either happened or not: a store that cannot tell finds out before it answers.
 */
export interface Store {
  /** For messages, such as `file ./state`. */
  readonly name: string;
  /** What an append survives once it has resolved. A setting that cannot be kept is refused when the store is opened. */
  readonly durability: Durability;
  /**
   * How long a record, or a part of a snapshot, may be, in bytes of UTF-8; what belongs together is cut into several records above that.
   * Without it 256 MiB are taken to be fine.
   */
  readonly maxRecordBytes?: number | undefined;
  /**
   * Makes the caller the only one who may write. Refused with a `StoreError` of the kind `busy` where somebody else is known to be
   * at it; where that cannot be known, the other is deposed.
   */
  open(): Promise<Opening>;
  /** All that is needed to go on; called once, after `open` and before anything is written. Damage is a `CorruptJournalError`. */
  load(): AsyncIterable<Loaded>;
  /**
   * Appends one record, whole or not at all, as number `expectedSequence + 1`. Unless `expectedSequence` is the number of the last
   * record and nobody has opened the store since, nothing is written and it rejects with `DeposedError`. Where there is no
   * space it rejects with a `StoreError` of the kind `full`, has written nothing, and may be asked again.
   */
  append(expectedSequence: number, epoch: number, body: string): Promise<void>;
  /**
   * Keeps a snapshot. Until it has resolved, and if it rejects, what is loaded is what would have been loaded before. One that
   * stands for fewer records than the one that is kept changes nothing.
   */
  saveSnapshot(snapshot: SnapshotToSave, epoch: number): Promise<void>;
  /** Lets go of what no load needs any more. */
  compact(epoch: number): Promise<void>;
  /**
   * Gives up the right to write; idempotent, and allowed after a failure. With an epoch it does so for that owner alone: where
   * somebody else has opened the same object since, it stays open for them. What could not be opened needs no closing.
   */
  close(epoch?: number): Promise<void>;
}
