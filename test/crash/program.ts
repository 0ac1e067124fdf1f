import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** Makes a few files of the child, which start sooner than two hundred. They are beside the packages that they use. */
export async function programIn(root: string, source: string): Promise<string> {
  const build = join(root, '.build');
  mkdirSync(build, { recursive: true });
  const folder = mkdtempSync(join(build, 'crash-'));
  const bundle = await rolldown({ input: source, platform: 'node', external: ['better-sqlite3', 'pg', 'ioredis'] });
  await bundle.write({ dir: folder, format: 'esm', entryFileNames: 'child.mjs' });
  await bundle.close();
  return join(folder, 'child.mjs');
}
