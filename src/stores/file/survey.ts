import { join } from 'node:path';
import { CorruptJournalError } from '../../model/index.js';
import { readFully, type Files, type OpenFile } from './files.js';
import { lookInto, readHead, type JournalHead } from './head.js';
import { journalName, parseName, snapshotName } from './names.js';
import { damageIn, type SnapshotFile } from './snapshot-file.js';
import { judgeTail } from './tail.js';
import { RecordWalk } from './walk.js';

/** A segment that nobody writes any more. */
export interface Segment {
  readonly name: string;
  /** The number of its first record, had it one. */
  readonly first: number;
  /** The number of its last record; one less than `first` where it has none. */
  readonly last: number;
  /** Where its records begin and end. */
  readonly begin: number;
  readonly end: number;
}

/** What is in a directory, found whole. */
export interface Holdings {
  /** Those that belong together, oldest first. */
  readonly segments: readonly Segment[];
  /** The newest that is whole. */
  readonly snapshot: SnapshotFile | undefined;
  /** The one before it, should it be there. */
  readonly former: SnapshotFile | undefined;
  /** The number of the last record. */
  readonly sequence: number;
  /** Segments that belong to nothing: of an owner that did not know it was deposed, or whose removal was lost. */
  readonly strays: readonly string[];
  /** What was amiss and could be left out. */
  readonly warnings: readonly string[];
}

/** Looks at everything that is needed to go on. Changes nothing, and refuses what is damaged. */
export async function survey(files: Files, directory: string): Promise<Holdings> {
  return new Survey(files, directory).run();
}

interface FoundSegment {
  readonly name: string;
  readonly head: JournalHead;
  readonly begin: number;
}

class Survey {
  private readonly warnings: string[] = [];

  constructor(
    private readonly files: Files,
    private readonly directory: string,
  ) {}

  async run(): Promise<Holdings> {
    const names = (await this.files.list(this.directory)).map(parseName);
    const journal = names
      .filter((name) => name?.kind === 'journal')
      .sort((a, b) => b.epoch - a.epoch || b.index - a.index);
    const snapshots = names
      .filter((name) => name?.kind === 'snapshot')
      .sort((a, b) => b.sequence - a.sequence || b.epoch - a.epoch)
      .map(({ sequence, epoch }) => ({ name: snapshotName(sequence, epoch), sequence, epoch }));
    const newest = journal[0];
    if (newest === undefined && snapshots.length > 0) {
      throw this.damage(this.directory, 0, 'it has snapshots, but its journal is missing');
    }
    const held = new Set(journal.map(({ epoch, index }) => journalName(epoch, index)));
    const segments = newest === undefined ? [] : await this.segments(journalName(newest.epoch, newest.index), held);
    const { snapshot, former } = await this.choose(snapshots, segments);
    const { warnings } = this;
    for (const { name } of segments) held.delete(name);
    await this.verify(segments, snapshot?.sequence ?? 0);
    const sequence = Math.max(segments.at(-1)?.last ?? 0, snapshot?.sequence ?? 0);
    return { segments, snapshot, former, sequence, strays: [...held], warnings };
  }

  /** The newest segment, and back from it along what each says of the one before. */
  private async segments(newest: string, held: ReadonlySet<string>): Promise<Segment[]> {
    let found = await this.find(newest);
    const segments = [await this.last(found)];
    const others = new Set(held);
    others.delete(newest);
    // Each is taken once, so that heads that name each other lead to an end.
    for (let { previous } = found.head; previous !== null && others.delete(previous.name); { previous } = found.head) {
      found = await this.find(previous.name);
      const { name, begin, head } = found;
      segments.push({ name, begin, first: head.first, last: previous.last, end: previous.end });
    }
    return segments.reverse();
  }

  private async find(name: string): Promise<FoundSegment> {
    const source = join(this.directory, name);
    return this.look(name, async (file) => {
      const { head, end } = await readHead(file, source, 'journal');
      return { name, head, begin: end };
    });
  }

  /** The segment that was not sealed: its end is where its records end. */
  private async last({ name, head, begin }: FoundSegment): Promise<Segment> {
    return this.look(name, async (file) => {
      const size = await file.size();
      const walk = new RecordWalk(file, { kind: 'fact', position: begin, number: head.first, end: size });
      while ((await walk.next()).length > 0);
      if (walk.damage !== undefined) await this.judge(file, name, walk, size);
      return { name, begin, first: head.first, last: walk.number - 1, end: walk.position };
    });
  }

  private async judge(file: OpenFile, name: string, walk: RecordWalk, size: number): Promise<void> {
    const rest = Buffer.allocUnsafe(size - walk.position);
    const source = join(this.directory, name);
    switch (judgeTail(rest.subarray(0, await readFully(file, rest, walk.position)), walk.position)) {
      case 'unused':
        return;
      case 'torn':
        this.warnings.push(
          `${source} ends in a record that was not written to its end, at ${walk.position}. It was never acknowledged and is left out.`,
        );
        return;
      case 'damaged':
        throw this.damage(source, walk.position, walk.damage ?? 'it is not what was written');
    }
  }

  /** The newest snapshot that is whole; those that are damaged are passed over as long as the journal goes back far enough. */
  private async choose(
    snapshots: readonly SnapshotFile[],
    segments: readonly Segment[],
  ): Promise<Pick<Holdings, 'snapshot' | 'former'>> {
    let first: CorruptJournalError | undefined;
    for (const [n, snapshot] of snapshots.entries()) {
      const damage = await damageIn(this.files, this.directory, snapshot.name);
      if (damage === undefined && (first === undefined || reaches(segments, snapshot.sequence))) {
        return { snapshot, former: snapshots[n + 1] };
      }
      first ??= damage;
      if (damage !== undefined)
        this.warnings.push(`${damage.message} An older snapshot and the journal after it serve instead.`);
    }
    if (first !== undefined && !reaches(segments, 0)) throw first;
    return { snapshot: undefined, former: undefined };
  }

  /** Refuses damage in, and gaps between, the segments that hold records after the snapshot. */
  private async verify(segments: readonly Segment[], sequence: number): Promise<void> {
    let reached = sequence;
    for (const segment of segments) {
      if (segment.last <= sequence) continue;
      if (segment.first > reached + 1) {
        const reason = `the records from ${reached + 1} to ${segment.first - 1} are missing before it`;
        throw this.damage(join(this.directory, segment.name), segment.begin, reason);
      }
      // The newest one has been walked through to find its end.
      if (segment !== segments.at(-1)) await this.walkThrough(segment);
      reached = segment.last;
    }
  }

  private async walkThrough({ name, begin, first, last, end }: Segment): Promise<void> {
    await this.look(name, async (file) => {
      // No more is read than there is, whatever the segment after it says.
      const walk = new RecordWalk(file, {
        ...{ kind: 'fact', position: begin, number: first },
        end: Math.min(end, await file.size()),
      });
      while ((await walk.next()).length > 0);
      const isWhole = walk.damage === undefined && walk.number === last + 1;
      if (!isWhole) throw this.damage(join(this.directory, name), walk.position, walk.damage ?? 'records are missing');
    });
  }

  private look<Value>(name: string, look: (file: OpenFile) => Promise<Value>): Promise<Value> {
    return lookInto(this.files, join(this.directory, name), look);
  }

  private damage(source: string, position: number, reason: string): CorruptJournalError {
    return new CorruptJournalError({ source, position, reason });
  }
}

/** Whether all records after that one are there. */
function reaches(segments: readonly Segment[], sequence: number): boolean {
  let reached = sequence;
  for (const { first, last } of segments) {
    if (last <= reached) continue;
    if (first > reached + 1) return false;
    reached = last;
  }
  return segments.length > 0;
}
