import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** Makes one file of the child, which starts sooner than two hundred. It is beside the packages that it uses. */
export async function programIn(root: string, source: string): Promise<string> {
  const build = join(root, '.build');
  mkdirSync(build, { recursive: true });
  const program = join(mkdtempSync(join(build, 'crash-')), 'child.mjs');
  const bundle = await rolldown({ input: source, platform: 'node', external: ['better-sqlite3'] });
  await bundle.write({ file: program, format: 'esm' });
  await bundle.close();
  return program;
}
