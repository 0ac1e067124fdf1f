import { join } from 'node:path';
import { StoreError } from '../../model/index.js';
import { removeIfThere } from './directory.js';
import { codeOf } from './failure.js';
import { readFully, writeFully, type Files } from './files.js';
import { lookInto } from './head.js';
import { latestEpoch, ownerName, parseName, unfinishedName, type FileName } from './names.js';

const MOST_RACES = 100;
const MARK_BYTES = 4096;

/**
 * The right to write: the file that names its owner. Only one process can make the file of an epoch, whole from the start; from then
 * on nobody but its successor removes it. So an owner that finds its file after it has written knows that whoever
 * came later has seen what it wrote.
 */
export class Claim {
  private constructor(
    private readonly files: Files,
    private readonly directory: string,
    readonly epoch: number,
  ) {}

  /** Refused while the owner is known to be at work; where that is not known, the owner is deposed. */
  static async take(files: Files, directory: string): Promise<Claim> {
    for (let race = 0; race < MOST_RACES; race++) {
      const names = await namesIn(files, directory);
      await refuseBusy(files, directory, names);
      const claim = new Claim(files, directory, latestEpoch(names) + 1);
      if (!(await claim.make())) continue;
      try {
        if (await claim.deposeOthers()) return claim;
      } catch (thrown) {
        await claim.release().catch(() => undefined);
        throw thrown;
      }
      await claim.release();
    }
    throw new StoreError({ operation: `open ${directory}`, kind: 'busy', cause: 'others kept coming first' });
  }

  isHeld(): Promise<boolean> {
    return this.files.exists(this.path);
  }

  /** The epoch of whoever came after. */
  async successor(): Promise<number> {
    const names = await namesIn(this.files, this.directory).catch(() => []);
    return Math.max(latestEpoch(names), this.epoch + 1);
  }

  async release(): Promise<void> {
    await removeIfThere(this.files, this.path);
  }

  private get path(): string {
    return join(this.directory, ownerName(this.epoch));
  }

  /** Whether nobody else was first. */
  private async make(): Promise<boolean> {
    const { files, directory, epoch } = this;
    const draft = await this.draft();
    try {
      await files.link(draft, join(directory, ownerName(epoch)));
      return true;
    } catch (thrown) {
      // The draft is missing when a successor has already cleared it away.
      if (['EEXIST', 'ENOENT'].includes(codeOf(thrown) ?? '')) return false;
      throw thrown;
    } finally {
      await removeIfThere(files, draft);
    }
  }

  /** Writes the file under a name of its own, so that nobody finds it half written. */
  private async draft(): Promise<string> {
    const { files, directory, epoch } = this;
    const mark = Buffer.from(await files.mark(directory));
    for (let rival = 0; ; rival++) {
      const path = join(directory, unfinishedName(`${ownerName(epoch)}-${rival}`, epoch));
      try {
        const file = await files.create(path);
        try {
          await writeFully(file, mark, 0);
        } finally {
          await file.close();
        }
        return path;
      } catch (thrown) {
        if (codeOf(thrown) === 'EEXIST' && rival < MOST_RACES) continue;
        if (codeOf(thrown) !== 'EEXIST') await removeIfThere(files, path).catch(() => undefined);
        throw thrown;
      }
    }
  }

  /** Whether it is the latest: somebody may have come and gone between the look and the claim, with the same epoch. */
  private async deposeOthers(): Promise<boolean> {
    const others = (await namesIn(this.files, this.directory)).filter(
      ({ kind, epoch }) => kind !== 'unfinished' && !(kind === 'owner' && epoch === this.epoch),
    );
    if (latestEpoch(others) >= this.epoch) return false;
    for (const { kind, epoch } of others) {
      if (kind === 'owner') await removeIfThere(this.files, join(this.directory, ownerName(epoch)));
    }
    return true;
  }
}

/** Refuses a directory whose owner is known to be at work. */
export async function refuseBusy(files: Files, directory: string, names: readonly FileName[]): Promise<void> {
  for (const { kind, epoch } of names) {
    if (kind !== 'owner') continue;
    const path = join(directory, ownerName(epoch));
    const mark = await markIn(files, path);
    if (mark === undefined || !(await files.isAtWork(mark, directory))) continue;
    const cause = `${mark} is at work on it; if that is wrong, remove ${path}`;
    throw new StoreError({ operation: `open ${directory}`, kind: 'busy', cause });
  }
}

async function markIn(files: Files, path: string): Promise<string | undefined> {
  try {
    return await lookInto(files, path, async (file) => {
      const room = Buffer.alloc(MARK_BYTES);
      return room.toString('utf8', 0, await readFully(file, room, 0));
    });
  } catch (thrown) {
    // It has been released since.
    if (codeOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

async function namesIn(files: Files, directory: string): Promise<FileName[]> {
  return (await files.list(directory)).map(parseName).filter((name) => name !== undefined);
}
