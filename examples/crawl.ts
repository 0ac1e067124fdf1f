import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileStore, type Store } from '../src/index.js';
import { crawlTwice } from './killed-crawl.js';

export const title = 'A crawl whose process is killed, and that goes on in another one: kept in files';

/** What each process keeps its crawl in. */
export function storeAt(directory: string): Store {
  return new FileStore(directory);
}

export async function run(print: (line: string) => void): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'precedence-crawl-'));
  try {
    await crawlTwice('crawl', directory, print);
  } finally {
    await rm(directory, { recursive: true });
  }
}
