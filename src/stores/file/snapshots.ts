import { removeAll } from './directory.js';
import type { Files } from './files.js';
import { parseName } from './names.js';
import type { SnapshotFile } from './snapshot-file.js';
import type { Holdings } from './survey.js';

/** The snapshots that are kept: the newest, and the one before it in case the newest cannot be read. */
export class Snapshots {
  former: SnapshotFile | undefined;
  private newest: SnapshotFile | undefined;

  constructor(
    private readonly files: Files,
    private readonly directory: string,
    { snapshot, former }: Holdings,
  ) {
    this.newest = snapshot;
    this.former = former;
  }

  /** What the newest one stands for. */
  get sequence(): number {
    return this.newest?.sequence ?? 0;
  }

  add(snapshot: SnapshotFile): void {
    // One that stands for the same takes the place of the other: the one before stays what damage leads back to.
    if (snapshot.sequence !== this.newest?.sequence) this.former = this.newest;
    this.newest = snapshot;
  }

  /** Removes those that are neither; one that is damaged goes when there is a newer one. */
  async forget(): Promise<void> {
    const kept = new Set([this.newest?.name, this.former?.name]);
    const names = await this.files.list(this.directory);
    const superseded = names.filter((name) => {
      const parsed = parseName(name);
      return parsed?.kind === 'snapshot' && parsed.sequence <= this.sequence && !kept.has(name);
    });
    await removeAll(this.files, this.directory, superseded);
  }
}
