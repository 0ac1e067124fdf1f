import type { Patience } from '../patience.js';
import { generation, type Found } from './documents.js';
import { type Answer, type CouchServer, NoRoom, Unanswered, unexpected } from './server.js';

/** How a write went: the document is kept, or somebody else was there first. */
export type Written =
  | {
      readonly kind: 'written';
      readonly rev: string;
      /** Whether there was never a document with this id before, not even one that was deleted. */
      readonly isNew: boolean;
    }
  | { readonly kind: 'taken'; readonly found: Found<object> | undefined };

/** A document as it is asked for by its id; without one it is gone, and `rev` is that of its deletion, if it ever was there. */
export interface Row {
  readonly id: string;
  readonly rev: string | undefined;
  readonly isDeleted: boolean;
  readonly document: Found<object> | undefined;
}

interface RawRow {
  readonly key: string;
  readonly value?: { readonly rev: string; readonly deleted?: boolean };
  readonly doc?: Found<object> | null;
}

/** Documents by their ids. Whatever is asked comes to the same when it is asked twice, so lost answers are asked for again. */
export class CouchDatabase {
  constructor(private readonly server: CouchServer) {}

  async exists(): Promise<boolean> {
    const answer = await this.server.try('GET', '', undefined, this.server.patience());
    if (answer.status === 404) return false;
    return expect(answer, 200) !== undefined;
  }

  /** Makes the database; it is no error when somebody else has. */
  async create(): Promise<void> {
    expect(await this.server.asking('PUT', ''), 201, 202, 412);
  }

  async get(id: string, patience?: Patience): Promise<Found<object> | undefined> {
    const answer = await this.server.asking('GET', encodeURIComponent(id), undefined, patience);
    return answer.status === 404 ? undefined : (expect(answer, 200) as Found<object>);
  }

  /**
   * Writes a document, a new one unless its revision is given. It has a `write` that no other has, by which it is known when
   * its answer was lost.
   *
   * 202 means that fewer servers of a cluster have it than must, and a document that is found after a lost answer may be
   * one of these: it is written again, over itself, until the answer is 201.
   */
  async write(id: string, content: { readonly write: string }, rev?: string): Promise<Written> {
    const patience = this.server.patience();
    let written: { rev: string; isNew: boolean } | undefined;
    const seen = (at: string): { isNew: boolean } => {
      written = { rev: at, isNew: written?.isNew ?? generation(at) === 1 };
      return written;
    };
    for (;;) {
      const answer = await this.put(id, { ...content, _rev: written?.rev ?? rev }, patience);
      let why = answer;
      if (!(answer instanceof Unanswered)) {
        why = new Unanswered('only some servers of the cluster acknowledged it (202)');
        if (answer.status === 409) {
          const found = await this.get(id, patience);
          if (found === undefined || (found as { write?: unknown }).write !== content.write)
            return { kind: 'taken', found };
          seen(found._rev);
        } else {
          const { isNew } = seen((answer.body as { rev: string }).rev);
          if (answer.status === 201) return { kind: 'written', rev: written?.rev ?? '', isNew };
        }
      }
      if (!(await this.server.pause(patience))) throw why as Unanswered;
    }
  }

  /** The documents of these ids, in their order. */
  async rows(ids: readonly string[], read: 'revisions' | 'documents'): Promise<Row[]> {
    const query = read === 'documents' ? '?include_docs=true&conflicts=true' : '';
    const answer = expect(await this.server.asking('POST', `_all_docs${query}`, { keys: ids }), 200);
    return (answer as { rows: RawRow[] }).rows.map(({ key, value, doc }) => ({
      id: key,
      rev: value?.rev,
      isDeleted: value?.deleted === true,
      document: doc ?? undefined,
    }));
  }

  /** The ids and revisions in a range, without its end; from its end on where they are wanted in descending order. */
  async range(
    start: string,
    end: string,
    limit: number,
    order: 'ascending' | 'descending' = 'ascending',
  ): Promise<{ readonly id: string; readonly rev: string }[]> {
    const [from, to] = order === 'ascending' ? [start, end] : [end, start];
    const query = new URLSearchParams({
      startkey: JSON.stringify(from),
      endkey: JSON.stringify(to),
      inclusive_end: 'false',
      descending: String(order === 'descending'),
      limit: String(limit),
    });
    const answer = expect(await this.server.asking('GET', `_all_docs?${query.toString()}`), 200);
    return (answer as { rows: { id: string; value: { rev: string } }[] }).rows.map(({ id, value }) => ({
      id,
      rev: value.rev,
    }));
  }

  /** Writes documents that nobody else writes, again until a server acknowledges all of them. */
  async writeAll(documents: readonly { readonly _id: string }[]): Promise<void> {
    const patience = this.server.patience();
    let revs = new Map<string, string | undefined>();
    for (;;) {
      const docs = documents.map((document) => ({ ...document, _rev: revs.get(document._id) }));
      const answer = await this.bulk(docs, patience);
      if (!(answer instanceof Unanswered) && answer.status === 201) {
        if ((answer.body as { error?: string }[]).every(({ error }) => error === undefined)) return;
      }
      if (!(await this.server.pause(patience))) {
        throw answer instanceof Unanswered ? answer : new Unanswered('not all documents were acknowledged');
      }
      const rows = await this.rows(
        documents.map(({ _id }) => _id),
        'revisions',
      );
      revs = new Map(rows.map(({ id, rev, isDeleted }) => [id, isDeleted ? undefined : rev]));
    }
  }

  /** Deletes what has not changed meanwhile; says how many. */
  async deleteAll(rows: readonly { readonly id: string; readonly rev: string }[]): Promise<number> {
    const docs = rows.map(({ id, rev }) => ({ _id: id, _rev: rev, _deleted: true }));
    const answer = expect(await this.server.asking('POST', '_bulk_docs', { docs }), 201, 202);
    return (answer as { error?: string }[]).filter(({ error }) => error === undefined).length;
  }

  private async put(id: string, document: object, patience: Patience): Promise<Answer | Unanswered> {
    try {
      const answer = await this.server.try('PUT', encodeURIComponent(id), document, patience);
      expect(answer, 201, 202, 409);
      return answer;
    } catch (error) {
      if (error instanceof Unanswered) return error;
      if (!(error instanceof NoRoom)) throw error;
      // Room was lacking for something, which may not have been the document.
      const { write } = document as { write?: unknown };
      const found = (await this.get(id, patience)) as { write?: unknown } | undefined;
      if (found?.write !== write) throw error;
      return new Unanswered(error);
    }
  }

  private async bulk(docs: readonly object[], patience: Patience): Promise<Answer | Unanswered> {
    try {
      const answer = await this.server.try('POST', '_bulk_docs', { docs }, patience);
      expect(answer, 201, 202);
      return answer;
    } catch (error) {
      if (error instanceof Unanswered) return error;
      throw error;
    }
  }
}

function expect(answer: Answer, ...statuses: readonly number[]): unknown {
  if (!statuses.includes(answer.status)) throw unexpected(answer);
  return answer.body;
}
