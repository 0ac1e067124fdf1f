import { codeOf } from './failure.js';
import type { Files, OpenFile } from './files.js';

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
