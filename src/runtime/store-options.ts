import { refuseConfig } from '../model/index.js';
import type { Store } from '../ports/store.js';
import type { Codec } from './codec.js';
import type { SnapshotOptions } from './snapshots.js';

/** What is said about a store. */
export interface StoreOptions {
  /** Keeps what must not be forgotten; a path is a `FileStore` there. Without one, everything is gone with the process. */
  readonly store?: Store | string | undefined;
  /** How inputs, results and checkpoints are written; as JSON with dates, maps, sets and big integers unless given. */
  readonly codec?: Codec | undefined;
  /** How large an input, a result, a checkpoint or metadata may be, as it is written; 1 MiB unless given. */
  readonly maxPayloadBytes?: number | undefined;
  /** How often a snapshot is taken, which lets the journal before it go. */
  readonly snapshotEvery?: SnapshotOptions | undefined;
}

/** What means nothing without a store is a mistake there. */
export function checkStoreless(options: StoreOptions): void {
  if (options.store !== undefined) return;
  for (const name of ['codec', 'maxPayloadBytes', 'snapshotEvery'] as const) {
    if (options[name] === undefined) continue;
    refuseConfig(name, options[name], 'nothing without a store, as nothing is written then');
  }
}

/**
 * How large what a task carries may be in this store, all in all: in a snapshot its input, result, checkpoint and metadata stand in one
 * record, with room for the rest.
 */
export function mostPayloadBytes({ maxRecordBytes = Infinity }: Store): number {
  return Math.floor(maxRecordBytes / 5);
}

/** A store as a user gives it. */
export function checkStore(store: unknown): Store {
  const given = (typeof store === 'object' && store !== null ? store : {}) as Partial<Record<keyof Store, unknown>>;
  const methods = ['open', 'load', 'append', 'saveSnapshot', 'compact', 'close'] as const;
  if (methods.every((method) => typeof given[method] === 'function')) {
    checkRecordBytes(given.maxRecordBytes);
    return store as Store;
  }
  return refuseConfig('store', store, 'the path of a directory, or a store such as new FileStore(path)');
}

/** How long a record may be, as the store says. */
function checkRecordBytes(bytes: unknown): void {
  if (bytes === undefined || (Number.isSafeInteger(bytes) && (bytes as number) > 0)) return;
  refuseConfig('maxRecordBytes', bytes, 'a whole number of bytes above 0');
}
