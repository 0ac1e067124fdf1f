import { basename } from 'node:path';
import type { Files, OpenFile } from '../../src/index.js';
import type { StoreKind } from './store-kinds.js';

/** The moments before and after each call that a store makes to the machine, counted; at one of them the process dies. */
export class Boundaries {
  passed = 0;

  constructor(
    /** Counted from 1; `undefined`: at none. */
    private readonly deadly: number | undefined,
    private readonly lastWords: (at: string) => void,
  ) {}

  readonly pass = (at: string): void => {
    this.passed += 1;
    if (this.passed !== this.deadly) return;
    this.lastWords(at);
    process.kill(process.pid, 'SIGKILL');
    // Should the signal take a moment, nothing happens in it.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  };
}

type Call = (...given: readonly unknown[]) => unknown;

/** Files with boundaries around all that is asked of them. */
export function filesWithin(boundaries: Boundaries, files: Files): Files {
  return within(files, async (name, given, call) => {
    const path = basename(String(given[0]));
    const value = await around(boundaries, `${name} ${path}`, call);
    return name === 'open' || name === 'create' ? openWithin(boundaries, path, value as OpenFile) : value;
  });
}

function openWithin(boundaries: Boundaries, path: string, file: OpenFile): OpenFile {
  return within(file, (name, _given, call) => around(boundaries, `${name} ${path}`, call));
}

async function around(boundaries: Boundaries, what: string, call: () => unknown): Promise<unknown> {
  boundaries.pass(`before ${what}`);
  const value = await call();
  boundaries.pass(`after ${what}`);
  return value;
}

function within<Target extends object>(
  target: Target,
  through: (name: string, given: readonly unknown[], call: () => unknown) => unknown,
): Target {
  return new Proxy(target, {
    get: (_, name) => {
      const method: unknown = Reflect.get(target, name);
      // A file that has come out of a promise is asked for a `then`.
      if (typeof method !== 'function') return method;
      return (...given: readonly unknown[]) => through(String(name), given, () => Reflect.apply(method, target, given));
    },
  });
}

/** From now on there are boundaries around all that this process asks of stores of that kind, other than files. */
export async function putAround(kind: StoreKind, boundaries: Boundaries): Promise<void> {
  if (kind === 'sqlite') {
    const { default: Database } = await import('better-sqlite3');
    const memory = new Database(':memory:');
    const statements = Object.getPrototypeOf(memory.prepare('SELECT 1')) as object;
    memory.close();
    // Those that begin and end a transaction are statements too.
    for (const name of ['run', 'get', 'all', 'iterate']) surround(boundaries, statements, name);
    for (const name of ['exec', 'close']) surround(boundaries, Database.prototype, name);
  }
  if (kind === 'postgres') {
    const { default: pg } = await import('pg');
    askedWithin(boundaries, pg.Client.prototype, 'query', (asked) => String(asked).trim().split(/\s+/)[0] ?? '');
  }
  if (kind === 'redis') {
    const { Redis } = await import('ioredis');
    askedWithin(boundaries, Redis.prototype, 'sendCommand', (asked) => (asked as { readonly name: string }).name);
  }
}

/** What a server is asked: before it is sent, and when the answer has come. */
function askedWithin(
  boundaries: Boundaries,
  prototype: object,
  name: string,
  nameOf: (asked: unknown) => string,
): void {
  const method = Reflect.get(prototype, name) as Call;
  Reflect.set(prototype, name, function (this: unknown, ...given: readonly unknown[]): unknown {
    const what = nameOf(given[0]);
    boundaries.pass(`before ${what}`);
    const answer = Reflect.apply(method, this, given);
    const after = (): void => {
      boundaries.pass(`after ${what}`);
    };
    if (answer instanceof Promise) answer.then(after, after);
    return answer;
  });
}

function surround(boundaries: Boundaries, prototype: object, name: string): void {
  const method = Reflect.get(prototype, name) as Call;
  Reflect.set(prototype, name, function (this: { readonly source?: string }, ...given: readonly unknown[]): unknown {
    const what = `${name} ${(this.source ?? '').trim().split(/\s+/).slice(0, 3).join(' ')}`.trim();
    boundaries.pass(`before ${what}`);
    const value = Reflect.apply(method, this, given);
    boundaries.pass(`after ${what}`);
    return value;
  });
}
