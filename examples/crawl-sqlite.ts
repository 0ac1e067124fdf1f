import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../src/index.js';
import { SqliteStore } from '../src/sqlite.js';
import { crawlTwice } from './killed-crawl.js';

export const title = 'The same crawl, kept in SQLite';

/** What each process keeps its crawl in. */
export function storeAt(file: string): Store {
  return new SqliteStore(file);
}

export async function run(print: (line: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'precedence-crawl-'));
  try {
    await crawlTwice('crawl-sqlite', join(directory, 'crawl.db'), print);
  } finally {
    await rm(directory, { recursive: true });
  }
}
