// npm run mutate -- [--sample 100] [--seed 7] [--only src/core] [--jobs 2] [--all]: makes small mistakes in what decides, one at a time, and
// says which of them no test notices.
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SeededRandom } from '../../src/model/index.js';
import { mutantsIn, shown, type Mutant, type Source } from './mutants.js';
import { Trial, type Fate } from './trial.js';

/** What is mutated: what decides. */
const MUTATED = ['src/model', 'src/ready', 'src/core'];
/** What shows it, in virtual time. */
const TESTS = ['test/model', 'test/ready', 'test/core', 'test/scenarios'];
/** These measure growth, or compare thousands of random runs: they come along with `--all`. */
const SLOW =
  /growth|bad-input|readme|operations|snapshot|apply|telling|core\/(plan|starvation|deduplication|graph)|property|bounds|makespan|weighted|queue/;

const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    all: { type: 'boolean', default: false },
    only: { type: 'string', default: 'src/' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});

const root = join(import.meta.dirname, '../../..');
const sources = new Map<string, Source>();
for (const path of filesIn(MUTATED, '.ts')) {
  if (path.startsWith(values.only)) sources.set(path, { path, text: readFileSync(join(root, path), 'utf8') });
}
const all = [...sources.values()].flatMap(mutantsIn);
const mutants = new Map(sampleOf(all, Number(values.sample), Number(values.seed)).entries());
const trial = new Trial(root, join(root, '.build/mutation'), mutants);
const fates = new Map<Fate, number>();
const waiting = [...mutants];
// Also of one that is broken off it says what it has found by then.
process.once('exit', () => {
  trial.end();
  tell();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
console.log(`Seed ${values.seed}: ${mutants.size} of ${all.length} mutants in ${sources.size} files.`);
await trial.begin(filesIn(TESTS, '.test.ts').filter((test) => values.all || !SLOW.test(test)));
console.log(`${trial.extent.tests} test files take ${seconds(trial.extent.ms)} s by themselves.`);
await Promise.all(Array.from({ length: Number(values.jobs) }, tryOn));

function tell(): void {
  const count = (fate: Fate): number => fates.get(fate) ?? 0;
  const found = count('killed') + count('timed out');
  const tried = found + count('survived') + count('not met');
  if (tried === 0) return;
  console.log(
    `${found} of ${tried} were noticed (${((100 * found) / tried).toFixed(1)} %), ${count('timed out')} of them by taking too long; ` +
      `${count('survived')} survived, ${count('not met')} were not met.`,
  );
}

async function tryOn(): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [number, mutant] = next;
    const fate = await trial.fateOf(number);
    fates.set(fate, (fates.get(fate) ?? 0) + 1);
    if (fate === 'survived' || fate === 'not met') console.log(`${fate}: ${sentenceOf(mutant)}`);
  }
}

function filesIn(folders: readonly string[], end: string): string[] {
  const files = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  return files.filter((file) => file.endsWith(end)).sort();
}

function sentenceOf(mutant: Mutant): string {
  return `${mutant.path}:${mutant.line} ${shown(mutant, sources.get(mutant.path) as Source)}`;
}

function sampleOf<Each>(from: readonly Each[], size: number, seed: number): Each[] {
  const random = new SeededRandom(seed);
  const left = [...from];
  const taken: Each[] = [];
  while (taken.length < size && left.length > 0) taken.push(...left.splice(Math.floor(random.next() * left.length), 1));
  return taken;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
