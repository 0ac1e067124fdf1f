import { SnapshotPuzzle, type CoreSnapshot, type ListName, type SnapshotPart, type TaskRecord } from '../core/index.js';
import { CorruptJournalError, type TaskSpec } from '../model/index.js';
import { payloadField, spliced } from './fact-text.js';
import { Kept } from './kept.js';
import { JOURNAL_VERSION, checkVersion, type SnapshotMigration } from './migrations.js';
import { CHARACTER_BYTES } from './parts.js';
import { isObject } from './shape.js';
import { isListed, misfitOfHead } from './snapshot-shapes.js';

/**
 * What comes first of a snapshot: its version, and what is short. It and the parts that follow, a piece of a list each, are
 * JSON arrays.
 */
export function headText(head: CoreSnapshot): string {
  return `[${JOURNAL_VERSION},${JSON.stringify(head)}]`;
}

/** A text with so many characters has no more entries: where inputs are large, there are more texts instead of longer ones. */
const ENOUGH = 262_144;

/**
 * The texts of a part, where tasks and series name these specs by their places; `undefined` where there is nothing in it. None
 * has more bytes than a store takes: what is there already takes a fifth of them, and the next entry no more than the rest.
 */
export function* partTexts(
  { list, entries }: SnapshotPart,
  specs: CoreSnapshot['specs'],
  maxBytes = Infinity,
): Iterable<string | undefined> {
  const enough = Math.min(ENOUGH, Math.floor(maxBytes / 5 / CHARACTER_BYTES));
  if (entries.length === 0) yield undefined;
  let text = '';
  for (const entry of entries) {
    text += `,${isRecorded(entry) ? recordText(entry, specs) : JSON.stringify(entry)}`;
    if (text.length < enough) continue;
    yield `["${list}"${text}]`;
    text = '';
  }
  if (text !== '') yield `["${list}"${text}]`;
}

/** A task, or a series, which has less of it. */
type Recorded = Pick<TaskRecord, 'spec' | 'payload' | 'value' | 'extra'>;

function isRecorded(entry: SnapshotPart['entries'][number]): entry is SnapshotPart['entries'][number] & Recorded {
  return 'spec' in entry;
}

function recordText(record: Recorded, specs: CoreSnapshot['specs']): string {
  const { payload, value, ...rest } = record;
  const isKept = rest.extra?.checkpoint === undefined || rest.extra.checkpoint instanceof Kept;
  let text = JSON.stringify(isKept ? rest : { ...rest, extra: { ...rest.extra, checkpoint: undefined } });
  if (value instanceof Kept) text = spliced(text, `"value":${value.text}`);
  const carried = payloadField(payload, specs[record.spec] as TaskSpec);
  return carried === '' ? text : spliced(text, carried.slice(1));
}

/** Puts a snapshot together again from its parts. */
export class SnapshotReader {
  private head: CoreSnapshot | undefined = undefined;
  private readonly puzzle = new SnapshotPuzzle();
  private parts = 0;

  constructor(
    private readonly source: string,
    /** Is given each entry as it comes, and may change it: what is not needed any more is gone before there is more of it. */
    private readonly taken: (list: ListName, entry: unknown) => void = () => undefined,
  ) {}

  /** The next part, as whoever wrote it meant it, and as this version would have written it. */
  add(part: string, migration?: SnapshotMigration): void {
    this.parts += 1;
    const isHead = this.head === undefined;
    const written = this.parsed(part);
    if (isHead) {
      checkVersion('snapshot', written[0], () => this.corrupt('its first part has no version'));
      if (!isObject(written[1])) throw this.corrupt('its first part is no snapshot');
    }
    const [first, ...entries] = migration === undefined ? written : migration.part(written);
    if (isHead) {
      const misfit = misfitOfHead(entries[0]);
      if (misfit !== undefined) throw this.corrupt(misfit);
      this.head = entries[0] as CoreSnapshot;
      return;
    }
    if (!this.puzzle.hasList(first)) throw this.corrupt('it has a part that nobody knows');
    const at = entries.findIndex((entry) => !isListed(first, entry));
    if (at >= 0) throw this.corrupt(`entry ${at} of its list ${first} is not what can stand there`);
    for (const entry of entries) this.taken(first, entry);
    this.puzzle.add({ list: first, entries } as SnapshotPart);
  }

  /** The whole, once all parts are there; `undefined` when there was none. */
  get snapshot(): CoreSnapshot | undefined {
    return this.head === undefined ? undefined : this.puzzle.whole(this.head);
  }

  private parsed(part: string): unknown[] {
    let parsed: unknown;
    try {
      parsed = JSON.parse(part);
    } catch {
      throw this.corrupt('it is no JSON');
    }
    return Array.isArray(parsed) ? parsed : [];
  }

  corrupt(reason: string, cause?: unknown): CorruptJournalError {
    const error = new CorruptJournalError({ source: `${this.source}, snapshot`, position: this.parts, reason });
    return cause === undefined ? error : Object.assign(error, { cause });
  }
}
