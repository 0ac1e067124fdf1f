import { dirname } from 'node:path';
import { codeOf, fatal } from './failure.js';
import type { Files, OpenFile } from './files.js';

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
