import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown, type Plugin } from 'rolldown';
import type { Patch, PlantedBug } from './bugs.js';
import type { Hunt } from './hunt.js';

/** How far a hunt goes. */
export interface Reach {
  readonly mostSteps: number;
  readonly stepsPerSeed: number;
}

/** The source with the change made; refused unless what is to be changed is there exactly once. */
export function patched(source: string, { file, find, replace }: Patch): string {
  const parts = source.split(find);
  if (parts.length === 2) return parts.join(replace);
  throw new Error(`src/${file} has "${find}" ${parts.length - 1} times, and a patch must find it once.`);
}

/** The sources of a bug as they are with it. */
export function sourcesOf(root: string, { patches }: PlantedBug): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  for (const patch of patches) {
    const path = join(root, 'src', patch.file);
    sources.set(path, patched(sources.get(path) ?? readFileSync(path, 'utf8'), patch));
  }
  return sources;
}

/** Builds the simulation with the bug in it, and lets it look for that in a process of its own. */
export async function hunt(root: string, planted: PlantedBug, { mostSteps, stepsPerSeed }: Reach): Promise<Hunt> {
  // Beside the packages that it uses.
  const folder = join(root, '.build', 'planted', planted.name.replaceAll(/\W+/g, '-'));
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'hunt.mjs');
  const bundle = await rolldown({
    input: join(root, 'test', 'simulation', 'planted', 'hunt.ts'),
    platform: 'node',
    plugins: [withSources(sourcesOf(root, planted))],
  });
  await bundle.write({ file: program, format: 'esm' });
  await bundle.close();
  const { stdout } = await promisify(execFile)(process.execPath, [program, String(mostSteps), String(stepsPerSeed)]);
  rmSync(folder, { recursive: true });
  return JSON.parse(stdout) as Hunt;
}

function withSources(sources: ReadonlyMap<string, string>): Plugin {
  return { name: 'planted', load: (path) => sources.get(path) };
}
