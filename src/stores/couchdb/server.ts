import { StoreError, refuseConfig } from '../../model/index.js';
import { Patience } from '../patience.js';

/** What the server said. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** There was no answer, or one that leaves open what has happened; trying again may help. */
export class Unanswered extends Error {
  constructor(cause: unknown) {
    super(textOf(cause), { cause });
    this.name = 'Unanswered';
  }
}

/** There is no room on the server's disk. */
export class NoRoom extends Error {}

/** Of the time for a call, what a single try may take. */
const SHARE_OF_A_TRY = 1 / 3;

/** A server with CouchDB's protocol, and one database in it. */
export class CouchServer {
  private closing = new AbortController();

  /** The URL is that of the database; without a name and a password, which are among the headers. */
  constructor(
    private readonly url: URL,
    private readonly headers: Readonly<Record<string, string>>,
    readonly timeoutMs: number,
  ) {}

  /** What a server says of itself. */
  async welcome(): Promise<Answer> {
    return this.ask('GET', new URL('.', this.url), undefined, this.timeoutMs);
  }

  /** Asks once; `path` is below the database. */
  async try(method: string, path: string, body: unknown, patience: Patience): Promise<Answer> {
    const limitMs = Math.min(patience.leftMs, this.timeoutMs * SHARE_OF_A_TRY);
    const url = path === '' ? this.url : new URL(`${this.url.pathname}/${path}`, this.url);
    return this.ask(method, url, body, limitMs);
  }

  /** Asks until there is an answer, or time is up; only for what comes to the same when it is asked twice. */
  async asking(method: string, path: string, body?: unknown, patience = this.patience()): Promise<Answer> {
    for (;;) {
      try {
        return await this.try(method, path, body, patience);
      } catch (error) {
        if (!(error instanceof Unanswered) || !(await this.pause(patience))) throw error;
      }
    }
  }

  patience(): Patience {
    return new Patience(this.timeoutMs);
  }

  /** Waits before the next try; `false` when there is none. */
  async pause(patience: Patience): Promise<boolean> {
    return !this.closing.signal.aborted && (await patience.pause());
  }

  open(): void {
    this.closing = new AbortController();
  }

  close(): void {
    this.closing.abort(new Error('the store was closed'));
  }

  private async ask(method: string, url: URL, body: unknown, limitMs: number): Promise<Answer> {
    const text = body === undefined ? null : JSON.stringify(body);
    let status: number;
    let answer: unknown;
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(Math.max(1, Math.ceil(limitMs))), this.closing.signal]);
      // A redirection could drop what is sent, or send the password to somebody else.
      const response = await fetch(url, { method, headers: this.headers, body: text, signal, redirect: 'error' });
      status = response.status;
      const said = await response.text();
      answer = isJson(said) ? JSON.parse(said) : { error: 'no JSON', reason: said.slice(0, 200) };
    } catch (error) {
      throw new Unanswered(error instanceof TypeError && error.cause !== undefined ? error.cause : error);
    }
    if (status === 507 || (status >= 500 && /enospc|no space left/i.test(reasonOf(answer)))) {
      throw new NoRoom(`HTTP ${status}: ${reasonOf(answer)}`);
    }
    if (status >= 500 || status === 429 || status === 408) throw new Unanswered(`HTTP ${status}: ${reasonOf(answer)}`);
    if (status === 413) {
      const length = Buffer.byteLength(text ?? '');
      throw new Error(
        `${length} bytes are too many for the server; raise its max_document_size, or lower maxRecordBytes`,
      );
    }
    return { status, body: answer };
  }
}

/** The error for an answer that nothing can be done about here. */
export function unexpected({ status, body }: Answer): Error {
  return new Error(`HTTP ${status}: ${reasonOf(body)}`);
}

export function storeError(operation: string, error: unknown): StoreError {
  return new StoreError({ operation, kind: error instanceof NoRoom ? 'full' : 'failed', cause: error });
}

/** The URL of a database, without a name and a password, and the headers that every request carries. */
export function parseUrl(
  given: unknown,
  more: unknown,
): { readonly url: URL; readonly headers: Readonly<Record<string, string>> } {
  const url =
    given instanceof URL
      ? new URL(given)
      : typeof given === 'string' && URL.canParse(given)
        ? new URL(given)
        : undefined;
  const expected = 'a URL with the name of a database, such as "http://localhost:5984/precedence"';
  // It may hold a password, so what was given is not shown.
  if (url === undefined || !/^https?:$/.test(url.protocol)) return refuseConfig('url', 'something else', expected);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.pathname = url.pathname.replace(/\/$/, '');
  const name = decoded(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
  if (!/^[a-z][a-z0-9_$()+/-]*$/.test(name) || url.search !== '' || url.hash !== '') {
    return refuseConfig('url', url.href, expected);
  }
  const headers = new Headers({ accept: 'application/json', 'content-type': 'application/json' });
  // Old servers answer before the disk has it, unless they are told.
  headers.set('x-couch-full-commit', 'true');
  if (username !== '') headers.set('authorization', `Basic ${basic(username, password)}`);
  try {
    new Headers(more as Record<string, string>).forEach((value, key) => {
      headers.set(key, value);
    });
  } catch {
    return refuseConfig('headers', more, 'names with texts that HTTP allows');
  }
  return { url, headers: Object.fromEntries(headers) };
}

function basic(username: string, password: string): string {
  return Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
}

/** What cannot be decoded is taken as it stands. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function reasonOf(body: unknown): string {
  const { error, reason } = (body ?? {}) as { error?: unknown; reason?: unknown };
  return [error, reason].filter((text) => typeof text === 'string').join(', ');
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
