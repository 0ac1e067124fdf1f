import type { CoreSnapshot, TaskRecord } from '../core/index.js';
import { CorruptJournalError, type TaskSpec } from '../model/index.js';
import { payloadField, spliced } from './fact-text.js';
import { Kept } from './kept.js';
import { JOURNAL_VERSION, checkVersion } from './migrations.js';

/** So many entries come in one part: enough to be worth a write, few enough that nobody waits for it. */
const ENTRIES = 2_000;

/** What may be long, and is told in parts. */
const LISTS = ['specs', 'tasks', 'strays', 'edges', 'kept', 'series'] as const;
export type ListName = (typeof LISTS)[number];

/**
 * A snapshot as parts, each of them a JSON array: first its version and what is short, then the lists, by name. They are
 * made one by one, so that whoever else wants a turn gets it in between.
 */
export function* snapshotTexts(snapshot: CoreSnapshot): Iterable<string> {
  const lists = new Set<string>(LISTS);
  const head = Object.fromEntries(Object.entries(snapshot).filter(([name]) => !lists.has(name)));
  yield `[${JOURNAL_VERSION},${JSON.stringify(head)}]`;
  for (const name of LISTS) {
    const entries: readonly unknown[] = snapshot[name];
    for (let from = 0; from < entries.length; from += ENTRIES) {
      const texts = entries.slice(from, from + ENTRIES).map((entry) => entryText(name, entry, snapshot));
      yield `["${name}",${texts.join(',')}]`;
    }
  }
}

function entryText(name: ListName, entry: unknown, snapshot: CoreSnapshot): string {
  switch (name) {
    case 'tasks':
    case 'strays':
    case 'series':
      return recordText(entry as Recorded, snapshot);
    default:
      return JSON.stringify(entry);
  }
}

/** A task, or a series, which has less of it. */
type Recorded = Pick<TaskRecord, 'spec' | 'payload' | 'value' | 'extra'>;

function recordText(record: Recorded, { specs }: CoreSnapshot): string {
  const { payload, value, ...rest } = record;
  const isKept = rest.extra?.checkpoint === undefined || rest.extra.checkpoint instanceof Kept;
  let text = JSON.stringify(isKept ? rest : { ...rest, extra: { ...rest.extra, checkpoint: undefined } });
  if (value instanceof Kept) text = spliced(text, `"value":${value.text}`);
  const carried = payloadField(payload, specs[record.spec] as TaskSpec);
  return carried === '' ? text : spliced(text, carried.slice(1));
}

/** Puts a snapshot together again from its parts. */
export class SnapshotReader {
  private head: object | undefined = undefined;
  private readonly lists = new Map<ListName, unknown[]>(LISTS.map((name) => [name, []]));
  private parts = 0;

  constructor(
    private readonly source: string,
    /** Is given each entry as it comes, and may change it: what is not needed any more is gone before there is more of it. */
    private readonly taken: (list: ListName, entry: unknown) => void = () => undefined,
  ) {}

  add(part: string): void {
    const entries = this.parsed(part);
    const [first] = entries;
    this.parts += 1;
    if (this.head === undefined) {
      checkVersion('snapshot', first, () => this.corrupt('its first part has no version'));
      this.head = entries[1] as object;
      return;
    }
    const list = this.lists.get(first as ListName);
    if (list === undefined) throw this.corrupt('it has a part that nobody knows');
    for (let at = 1; at < entries.length; at++) {
      this.taken(first as ListName, entries[at]);
      list.push(entries[at]);
    }
  }

  /** The whole, once all parts are there; `undefined` when there was none. */
  get snapshot(): CoreSnapshot | undefined {
    if (this.head === undefined) return undefined;
    return { ...this.head, ...Object.fromEntries(this.lists) } as unknown as CoreSnapshot;
  }

  private parsed(part: string): readonly unknown[] {
    let parsed: unknown;
    try {
      parsed = JSON.parse(part);
    } catch {
      throw this.corrupt('it is no JSON');
    }
    return Array.isArray(parsed) ? parsed : [];
  }

  private corrupt(reason: string): CorruptJournalError {
    return new CorruptJournalError({ source: `${this.source}, snapshot`, position: this.parts, reason });
  }
}
