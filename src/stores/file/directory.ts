import { dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { codeOf, fatal } from './failure.js';
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

/**
 * Makes a directory and those above it, so that they are there after a loss of power. Each is a name in the one above it, which is
 * synced before anything is made below: so of those that are found, only the lowest may have been left by a
 * process that went down before it had come to that.
 */
export async function makeDirectories(files: Files, path: string): Promise<void> {
  const missing: string[] = [];
  let found = path;
  for (; !(await files.exists(found)) && dirname(found) !== found; found = dirname(found)) missing.unshift(found);
  await syncFound(files, dirname(found));
  for (const each of missing) {
    await files.makeDirectory(each).catch((thrown: unknown) => {
      // Somebody else has made it meanwhile.
      if (codeOf(thrown) !== 'EEXIST') throw thrown;
    });
    await files.syncDirectory(dirname(each)).catch(fatal);
  }
}

/** One that may not be looked into is one in which we have made nothing. */
async function syncFound(files: Files, path: string): Promise<void> {
  await files.syncDirectory(path).catch((thrown: unknown) => {
    if (!['EACCES', 'EPERM'].includes(codeOf(thrown) ?? '')) fatal(thrown);
  });
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
