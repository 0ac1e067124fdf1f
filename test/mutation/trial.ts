import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { switched, type Mutant } from './mutants.js';

/** What came of a mutant. */
export type Fate =
  /** A test failed. */
  | 'killed'
  /** The tests took so long that they were ended, as those of a loop that never does. */
  | 'timed out'
  /** All tests passed that come by it. */
  | 'survived'
  /** No test comes by it. */
  | 'not met';

/** What a test file comes by, and how long it takes. */
export interface Visit {
  readonly test: string;
  readonly met: readonly number[];
  readonly ms: number;
}

/** What the copy needs of the tree. */
const COPIED = ['src', 'test', 'package.json', 'tsconfig.json'];
/** Beyond this and four times what the tests take by themselves, they do not end. */
const PATIENCE_MS = 20_000;

/** Tests the tests on a copy of the tree, in which mutants are switched on one by one; the tree itself is left alone. */
export class Trial {
  private visits: readonly Visit[] = [];
  /** The groups of processes that are at work. */
  private readonly groups = new Set<number>();

  constructor(
    private readonly root: string,
    private readonly copy: string,
    /** By the numbers that they are switched on with. */
    private readonly mutants: ReadonlyMap<number, Mutant>,
  ) {}

  /** Makes the copy, and runs the tests on it with all mutants off, to see what they come by. */
  async begin(tests: readonly string[]): Promise<void> {
    const { root, copy, mutants } = this;
    rmSync(copy, { recursive: true, force: true });
    mkdirSync(copy, { recursive: true });
    for (const name of COPIED) cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
    writeFileSync(join(copy, 'vitest.config.ts'), CONFIG);
    for (const path of new Set([...mutants.values()].map((mutant) => mutant.path))) {
      const here = new Map([...mutants].filter(([, mutant]) => mutant.path === path));
      writeFileSync(join(copy, path), switched({ path, text: readFileSync(join(root, path), 'utf8') }, here));
    }
    const report = join(copy, 'met.jsonl');
    const code = await this.run(tests, { MUTANTS_MET: report }, Infinity, []);
    if (code !== 0) throw new Error(`The tests fail on a copy without any mutant: look at them in ${copy}.`);
    this.visits = visitsIn(report, copy);
  }

  /** How many tests come by the mutants, and how long all of them take. */
  get extent(): { readonly tests: number; readonly ms: number } {
    return { tests: this.visits.length, ms: this.visits.reduce((sum, { ms }) => sum + ms, 0) };
  }

  /** Runs the tests that come by the mutant, the short ones first, until one of them fails. */
  async fateOf(number: number): Promise<Fate> {
    const visits = visitsOf(number, this.visits);
    if (visits.length === 0) return 'not met';
    const most = PATIENCE_MS + 4 * visits.reduce((sum, { ms }) => sum + ms, 0);
    const tests = visits.map(({ test }) => test);
    const code = await this.run(tests, { MUTANT: String(number), ORDER: JSON.stringify(tests) }, most, ['--bail=1']);
    if (code === undefined) return 'timed out';
    return code === 0 ? 'survived' : 'killed';
  }

  /** Also in the middle of it: nothing is left behind that runs. */
  end(): void {
    for (const group of this.groups) kill(group);
    rmSync(this.copy, { recursive: true, force: true });
  }

  /** The exit code of the tests; `undefined` where they were ended. */
  private run(
    tests: readonly string[],
    env: Readonly<Record<string, string>>,
    mostMs: number,
    options: readonly string[],
  ): Promise<number | undefined> {
    const { root, copy } = this;
    const runner = join(root, 'node_modules/vitest/vitest.mjs');
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [runner, 'run', '--reporter=dot', ...options, ...tests], {
        cwd: copy,
        env: { ...process.env, ...env },
        stdio: 'ignore',
        // A group of its own, so that a thread that never ends goes with it.
        detached: true,
      });
      if (child.pid !== undefined) this.groups.add(child.pid);
      const timer = setTimeout(
        () => {
          if (child.pid !== undefined) kill(child.pid);
        },
        Math.min(mostMs, 0x7fffffff),
      );
      child.on('error', reject);
      child.on('exit', (code) => {
        clearTimeout(timer);
        if (child.pid !== undefined) this.groups.delete(child.pid);
        resolve(code ?? undefined);
      });
    });
  }
}

function kill(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** The tests that come by a mutant, the short ones first. */
function visitsOf(number: number, visits: readonly Visit[]): readonly Visit[] {
  return visits.filter(({ met }) => met.includes(number)).sort((x, y) => x.ms - y.ms);
}

function visitsIn(report: string, copy: string): readonly Visit[] {
  if (!existsSync(report)) return [];
  const lines = readFileSync(report, 'utf8').trim().split('\n');
  const told = lines.map((line) => JSON.parse(line) as Visit & { readonly loaded: readonly number[] });
  const loaded = told.flatMap((visit) => visit.loaded);
  return told.map(({ test, met, ms }) => ({ test: relative(copy, test), met: [...new Set([...met, ...loaded])], ms }));
}

/** One thread, as several trials may be under way; the tests come in the order that they are given in. */
const CONFIG = `
import { BaseSequencer } from 'vitest/node';
import { defineConfig } from 'vitest/config';

const order = JSON.parse(process.env.ORDER ?? '[]');
const placeOf = ({ moduleId }) => order.findIndex((test) => moduleId.endsWith(test));

class InOrder extends BaseSequencer {
  async sort(files) {
    return [...files].sort((x, y) => placeOf(x) - placeOf(y));
  }
}

export default defineConfig({
  cacheDir: '.vite',
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/mutation/switch.ts', 'test/setup.ts'],
    pool: 'threads',
    maxWorkers: 1,
    isolate: false,
    testTimeout: 60_000,
    sequence: { sequencer: InOrder },
  },
});
`;
