// Makes what is published, in dist/: the declarations as the compiler writes them, and the code of each entry as one
// file. Node takes 20 to 30 times as long to find and open a hundred small files as to read one large one.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const compiled = join(root, '.build', 'package');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** The files that the exports map names, without folder and ending: `testing/index` for `./dist/testing/index.js`. */
const entries = Object.values(manifest.exports)
  .filter((target) => typeof target === 'object')
  .map(({ default: file }) => file.replace(/^\.\/dist\//, '').replace(/\.js$/, ''));

/**
 * Taken into the file, small as they are: to find and open four packages, two of them CommonJS, takes Node a quarter of
 * the whole import. They stay among the dependencies, so that whoever installs the package is told of them and gets
 * their licences.
 */
const INLINED = ['croner', 'eventemitter3', 'heap-js', 'p-limit'];

/** Loaded by threads, each from a file of its own beside the entry that starts them. */
const THREAD_ENTRIES = {
  'thread-entry': 'executors/thread-entry',
  'testing/executor-handlers': 'testing/executor-handlers',
};

function compile() {
  rmSync(compiled, { recursive: true, force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', '.ci/tsconfig.dist.json'], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}

async function bundle() {
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const build = await rolldown({
    input: Object.fromEntries(
      [...entries.map((entry) => [entry, entry]), ...Object.entries(THREAD_ENTRIES)].map(([name, source]) => [
        name,
        join(compiled, `${source}.js`),
      ]),
    ),
    platform: 'node',
    external: [/^node:/, ...installed.filter((name) => !INLINED.includes(name))],
  });
  await build.write({
    dir: join(root, 'dist'),
    format: 'esm',
    sourcemap: true,
    chunkFileNames: 'shared/[name].js',
  });
  await build.close();
}

rmSync(join(root, 'dist'), { recursive: true, force: true });
compile();
await bundle();
cpSync(compiled, join(root, 'dist'), { recursive: true, filter: (file) => !file.endsWith('.js') });
