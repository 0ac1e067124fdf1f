import { setImmediate } from 'node:timers/promises';
import type { Core, FrozenSnapshot } from '../core/index.js';
import { StoreError, fieldsOf, refuseConfig, refuseUnknown } from '../model/index.js';
import type { Store } from '../ports/store.js';
import { headText, partTexts } from './snapshot-text.js';

/** How often a snapshot is taken: whichever comes first. */
export interface SnapshotOptions {
  /** After so many facts; 100,000 unless given. */
  readonly facts?: number | undefined;
  /** After so many bytes of journal, 32 MiB unless given; at least as many as the last snapshot had. */
  readonly bytes?: number | undefined;
}

/** How much is written before a snapshot is worth it. */
interface Measure {
  readonly facts: number;
  readonly bytes: number;
}

const NAMES = ['facts', 'bytes'];

/** How often snapshots are taken, as a user says it. */
export function parseSnapshotOptions(options: unknown): Measure {
  const given = new Map(options === undefined ? [] : fieldsOf(options, 'snapshotEvery', refuseConfig));
  for (const [key, value] of given) {
    if (!NAMES.includes(key)) refuseUnknown(`snapshotEvery.${key}`, key, value, NAMES, refuseConfig);
  }
  const count = (name: string, unless: number): number => {
    const value = given.get(name) ?? unless;
    if (value === Infinity || (Number.isSafeInteger(value) && (value as number) > 0)) return value as number;
    return refuseConfig(`snapshotEvery.${name}`, value, 'a whole number of at least 1, or Infinity');
  };
  return { facts: count('facts', 100_000), bytes: count('bytes', 32 * 1_048_576) };
}

/** What is to be saved when its last record is kept. */
interface Due {
  readonly sequence: number;
  readonly snapshot: FrozenSnapshot;
}

/** Takes snapshots from time to time and lets the journal before them go, while the scheduler goes on. */
export class Snapshots {
  private facts = 0;
  private bytes = 0;
  /** Of the last snapshot. */
  private size = 0;
  private due: Due | undefined = undefined;
  private saving: Promise<void> | undefined = undefined;
  private mayCompact = false;
  private isFinishing = false;

  constructor(
    private readonly store: Store,
    private readonly epoch: number,
    private readonly core: Core,
    private readonly every: Measure,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Everything that has happened is in this record, which is about to be written: the moment for a snapshot, if one is due. */
  sealed(sequence: number): void {
    const { facts, bytes } = this.every;
    if (this.isFinishing || this.saving !== undefined || this.due !== undefined || this.mayCompact) return;
    if (this.facts < facts && this.bytes < Math.max(bytes, bytes === Infinity ? 0 : this.size)) return;
    this.due = { sequence, snapshot: this.core.freeze().begin() };
  }

  /** The record is kept. */
  appended(facts: number, bytes: number): void {
    this.facts += facts;
    this.bytes += bytes;
    const { due } = this;
    if (due === undefined) return;
    this.due = undefined;
    this.facts = this.bytes = 0;
    this.saving = this.save(due).finally(() => {
      this.saving = undefined;
    });
  }

  /** Nothing is kept any more: one whose record was never kept is not to be made. */
  stop(): void {
    this.due?.snapshot.end();
    this.due = undefined;
  }

  /** Nothing is appended now: what a snapshot stands for is let go. */
  async compact(): Promise<void> {
    if (!this.mayCompact) return;
    this.mayCompact = false;
    await this.store.compact(this.epoch);
  }

  /** From now on none begins by itself; resolves when none is being made. To be called when everything is kept. */
  async finish(): Promise<void> {
    this.isFinishing = true;
    await this.saving;
  }

  /** The last one: everything is kept up to this record. What is still asked for while it is made comes after it. */
  async saveLast(sequence: number): Promise<void> {
    await this.save({ sequence, snapshot: this.core.freeze().begin() });
    await this.compact();
  }

  private async save({ sequence, snapshot }: Due): Promise<void> {
    let size = 0;
    const parts = async function* (): AsyncIterable<string> {
      for await (const text of textsOf(snapshot)) {
        size += text.length;
        yield text;
      }
    };
    try {
      await this.store.saveSnapshot({ sequence, parts: parts() }, this.epoch);
      this.size = size;
      this.mayCompact = true;
    } catch (error) {
      // Without space for it the journal goes on growing; the next one is tried in its time.
      if (!(error instanceof StoreError && error.kind === 'full')) this.failed(error);
    } finally {
      snapshot.end();
    }
  }
}

/** The texts of a snapshot that is being made. Each comes in a turn of its own, so that everybody else gets theirs. */
async function* textsOf(snapshot: FrozenSnapshot): AsyncIterable<string> {
  yield headText(snapshot.head);
  for (const part of snapshot.parts()) {
    for (const text of partTexts(part, snapshot.specRecords)) {
      await setImmediate();
      if (text !== undefined) yield text;
    }
  }
}
