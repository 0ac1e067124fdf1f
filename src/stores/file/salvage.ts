import { join, resolve } from 'node:path';
import { CorruptJournalError, StoreError } from '../../model/index.js';
import { refuseBusy } from './claim.js';
import { makeDirectories, withEach } from './directory.js';
import { asStoreError } from './failure.js';
import { FileStore } from './file-store.js';
import { readFully, type Files } from './files.js';
import { laterVersionIn, lookInto } from './head.js';
import { findRecords, type FoundRecord, type Loss } from './found-records.js';
import { journalName, parseName, snapshotName, type FileName } from './names.js';
import { nodeFiles } from './node-files.js';
import { damageIn, partsOf } from './snapshot-file.js';

/** What `salvage` has saved, and what it has not. */
export interface SalvageReport {
  /** The last record whose effect is in the new place. */
  readonly sequence: number;
  /** The record up to which a snapshot stands for the journal; 0 when it was made from the journal alone. */
  readonly snapshot: number;
  /** What could not be read; empty where there was no damage. */
  readonly losses: readonly Loss[];
  /** How many records could be read and are of no use, because one before them is missing. */
  readonly unusable: number;
}

/**
 * Saves what can be read of a damaged directory of a `FileStore` into a new one, and tells what is lost. The damaged one is left as
 * it is. What is saved goes as far as there is no gap: a record means nothing without those before it.
 *
 * @example
 * ```ts
 * const { sequence, losses } = await salvage('./state', './state-salvaged');
 * for (const { source, position, reason } of losses) console.log(`${source} at ${position}: ${reason}`);
 * ```
 */
export async function salvage(
  damaged: string,
  into: string,
  { files = nodeFiles }: { readonly files?: Files | undefined } = {},
): Promise<SalvageReport> {
  const operation = `salvage ${damaged}`;
  try {
    return await new Salvage(files, resolve(damaged), resolve(into)).run();
  } catch (thrown) {
    throw asStoreError(operation, thrown);
  }
}

/** What the salvaged state can be made from, and how far the records after it go. */
interface Base {
  readonly snapshot: { readonly name: string; readonly sequence: number } | undefined;
  readonly sequence: number;
}

class Salvage {
  private readonly losses: Loss[] = [];

  constructor(
    private readonly files: Files,
    private readonly damaged: string,
    private readonly into: string,
  ) {}

  async run(): Promise<SalvageReport> {
    const { files, damaged, losses } = this;
    const names = (await files.list(damaged)).map(parseName).filter((name) => name !== undefined);
    await refuseBusy(files, damaged, names);
    await this.refuseLater(names);
    await this.refuseUsed();
    const records = await this.readable(names);
    const base = await this.base(names, records);
    await this.save(base, records);
    const from = base.snapshot?.sequence ?? 0;
    const unusable = [...records.keys()].filter((number) => number > base.sequence).length;
    return { sequence: base.sequence, snapshot: from, losses, unusable };
  }

  /** One file that claims to be of a later version is damaged; when all do, they are. */
  private async refuseLater(names: readonly FileName[]): Promise<void> {
    const paths = names.map((name) => this.pathOf(name)).filter((path) => path !== undefined);
    const later = await withEach(paths, (path) => laterVersionIn(this.files, path));
    const first = later.find((error) => error !== undefined);
    if (first !== undefined && later.every((error) => error !== undefined)) throw first;
  }

  private async refuseUsed(): Promise<void> {
    await makeDirectories(this.files, this.into);
    const isUsed = (await this.files.list(this.into)).some((name) => parseName(name) !== undefined);
    if (isUsed) throw new StoreError({ operation: `salvage into ${this.into}`, cause: 'there is a store already' });
  }

  /** Every record that is whole and counts, by its number. */
  private async readable(names: readonly FileName[]): Promise<Map<number, FoundRecord>> {
    const journal = names.filter(({ kind }) => kind === 'journal') as Extract<FileName, { kind: 'journal' }>[];
    const records = new Map<number, FoundRecord>();
    for (const { epoch, index } of journal.sort((a, b) => a.epoch - b.epoch || a.index - b.index)) {
      const source = join(this.damaged, journalName(epoch, index));
      const { found, losses, first } = await findRecords(this.files, source);
      this.losses.push(...losses);
      // Whoever began this segment did not know of what others wrote from there on.
      for (const number of [...records.keys()]) if (number >= first) records.delete(number);
      for (const record of found) records.set(record.number, record);
    }
    return records;
  }

  /** The snapshot, or the beginning, from which the records go furthest. */
  private async base(names: readonly FileName[], records: ReadonlyMap<number, FoundRecord>): Promise<Base> {
    let best: Base | undefined = records.has(1) ? { snapshot: undefined, sequence: reachFrom(0, records) } : undefined;
    for (const parsed of names) {
      if (parsed.kind !== 'snapshot') continue;
      const { sequence, epoch } = parsed;
      const name = snapshotName(sequence, epoch);
      const damage = await damageIn(this.files, this.damaged, name);
      if (damage !== undefined) this.losses.push(damage);
      const reach = reachFrom(sequence, records);
      const isBetter = reach > (best?.sequence ?? -1) || sequence > (best?.snapshot?.sequence ?? 0);
      if (damage === undefined && reach >= (best?.sequence ?? 0) && isBetter) {
        best = { snapshot: { name, sequence }, sequence: reach };
      }
    }
    if (best !== undefined) return best;
    const reason = 'neither a snapshot nor the first record can be read';
    throw new CorruptJournalError({ source: this.damaged, position: 0, reason });
  }

  private async save({ snapshot, sequence }: Base, records: ReadonlyMap<number, FoundRecord>): Promise<void> {
    const { files, damaged } = this;
    if (snapshot !== undefined) {
      await this.inNewPlace(async (store, epoch) => {
        const parts = textsOf(partsOf(files, damaged, snapshot.name));
        await store.saveSnapshot({ sequence: snapshot.sequence, parts }, epoch);
      });
    }
    await this.inNewPlace(async (store, epoch) => {
      for (let number = (snapshot?.sequence ?? 0) + 1; number <= sequence; number++) {
        await store.append(number - 1, epoch, await this.bodyOf(records.get(number)));
      }
    });
    // Opening it once more syncs what was written, and looks through all of it.
    await this.inNewPlace(() => Promise.resolve());
  }

  private async inNewPlace(write: (store: FileStore, epoch: number) => Promise<void>): Promise<void> {
    const store = new FileStore(this.into, { durability: 'os', files: this.files });
    const { epoch } = await store.open();
    try {
      await write(store, epoch);
    } finally {
      await store.close();
    }
  }

  private async bodyOf(record: FoundRecord | undefined): Promise<string> {
    if (record === undefined) throw new StoreError({ operation: `salvage ${this.damaged}`, cause: 'it has changed' });
    return lookInto(this.files, record.source, async (file) => {
      const body = Buffer.allocUnsafe(record.length);
      return body.toString('utf8', 0, await readFully(file, body, record.position));
    });
  }

  private pathOf(name: FileName): string | undefined {
    switch (name.kind) {
      case 'journal':
        return join(this.damaged, journalName(name.epoch, name.index));
      case 'snapshot':
        return join(this.damaged, snapshotName(name.sequence, name.epoch));
      case 'owner':
      case 'unfinished':
        return undefined;
    }
  }
}

/** The last of the records that follow that one without a gap. */
function reachFrom(sequence: number, records: ReadonlyMap<number, unknown>): number {
  let reach = sequence;
  while (records.has(reach + 1)) reach += 1;
  return reach;
}

async function* textsOf(stretches: AsyncIterable<readonly Buffer[]>): AsyncIterable<string> {
  for await (const bodies of stretches) {
    for (const body of bodies) yield body.toString();
  }
}
