import { join } from 'node:path';
import pLimit from 'p-limit';
import { codeOf } from './failure.js';
import type { Files, OpenFile } from './files.js';

/** A directory may hold thousands of files, and a process may not open as many. */
const AT_ONCE = 8;

/** Does the same with each, several at a time, as most of it is waiting for the disk; gives what came of each, in order. */
export function withEach<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  return pLimit(AT_ONCE).map(items, work);
}

/** Removes files that mean nothing to each other. */
export async function removeAll(files: Files, directory: string, names: readonly string[]): Promise<void> {
  await withEach(names, (name) => removeIfThere(files, join(directory, name)));
}

export async function removeIfThere(files: Files, path: string): Promise<void> {
  await files.remove(path).catch((thrown: unknown) => {
    if (codeOf(thrown) !== 'ENOENT') throw thrown;
  });
}

/** Makes a file in the place of one that was left behind by a try that failed. */
export async function createAnew(files: Files, path: string): Promise<OpenFile> {
  try {
    return await files.create(path);
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST') throw thrown;
    await files.remove(path);
    return files.create(path);
  }
}
