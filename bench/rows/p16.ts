import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { findPeer, packageRoot } from '../peers.js';
import { atMost, growth, type Row } from '../row.js';

// What is published is measured, not the sources: each sample builds it if it is not there, before the clock starts.
function published(): string {
  const file = join(packageRoot, 'dist', 'index.js');
  const { status } = spawnSync(process.execPath, [join(packageRoot, '.ci', 'build.mjs')], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The package could not be built.');
  return file;
}

/** In a process of its own that has loaded nothing else yet. */
function importMilliseconds(file: string): number {
  const script = `const start = process.hrtime.bigint();
    await import(${JSON.stringify(pathToFileURL(file).href)});
    console.log(Number(process.hrtime.bigint() - start) / 1e6);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  const figure = Number.parseFloat(stdout);
  if (Number.isNaN(figure)) throw new Error(stderr);
  return figure;
}

/** Minified and gzipped, with everything that it loads. */
async function bundledKilobytes(file: string): Promise<number> {
  const build = await rolldown({ input: file, platform: 'node' });
  const { output } = await build.generate({ format: 'esm', minify: true });
  return output.reduce((sum, part) => sum + (part.type === 'chunk' ? gzipSync(part.code).length : 0), 0) / 1000;
}

const time: Row = {
  id: 'P16 import',
  group: 'api',
  work: 'importing the package',
  unit: 'ms',
  better: 'lower',
  candidates: [
    { name: 'precedence', measure: () => importMilliseconds(published()), bars: [growth('p-queue', 2)] },
    { name: 'p-queue', measure: () => importMilliseconds(findPeer('p-queue')) },
    { name: 'async', measure: () => importMilliseconds(findPeer('async')) },
  ],
};

const size: Row = {
  id: 'P16 size',
  group: 'api',
  work: 'the package with its dependencies in one file, minified and gzipped',
  unit: 'kB',
  better: 'lower',
  candidates: [
    { name: 'precedence', measure: () => bundledKilobytes(published()), bars: [atMost(40)] },
    { name: 'p-queue', measure: () => bundledKilobytes(findPeer('p-queue')) },
  ],
};

export const rows = [time, size];
