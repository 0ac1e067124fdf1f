import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '../..');
const place = join(root, '.build', 'tests', 'examples');

/** What running the examples has come to. */
export interface Run {
  readonly pid: number | undefined;
  readonly code: number | null;
  readonly lines: readonly string[];
}

/** The examples as plain JavaScript, so that they can be run as `npm start` does, and can start processes of their own. */
export async function buildExamples(): Promise<void> {
  const bundle = await rolldown({
    // What is only named, by a URL of a file beside it.
    input: ['run.ts', 'crawl-process.ts', 'prime-handlers.js', '../src/executors/thread-entry.js'].map((file) =>
      join(root, 'examples', file),
    ),
    platform: 'node',
    external: (id) => !/^[./]/.test(id),
  });
  await bundle.write({ dir: place, format: 'esm', preserveModules: true, preserveModulesRoot: root });
  await bundle.close();
}

export async function runBuilt(name: string, environment: Readonly<Record<string, string>> = {}): Promise<Run> {
  const child = spawn(process.execPath, [join(place, 'examples', 'run.js'), name], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { pid: child.pid, code, lines: told.trimEnd().split('\n') };
}
