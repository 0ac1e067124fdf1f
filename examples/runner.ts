import type { Registry } from './index.js';
import type { Theatre } from './stage.js';

const USAGE = 'npm start -- --list | --all | <name>';

/**
 * Runs what the arguments ask for and returns the exit code: 0, 1 when an example throws, 2 when the arguments name
 * nothing that exists. Without arguments all examples are run, in the order in which they are best read.
 */
export async function runExamples(args: readonly string[], examples: Registry, theatre: Theatre): Promise<number> {
  const { print } = theatre;
  const [wanted = '--all', ...rest] = args;
  if (rest.length > 0) {
    print(`Expected one argument, got ${args.length}. Usage: ${USAGE}`);
    return 2;
  }
  if (wanted === '--list') return list(examples, theatre);
  if (wanted === '--all') return runEach([...examples.keys()], examples, theatre);
  if (examples.has(wanted)) return runEach([wanted], examples, theatre);
  print(`There is no example named "${wanted}". Usage: ${USAGE}`);
  return 2;
}

async function list(examples: Registry, { print }: Theatre): Promise<number> {
  for (const [name, load] of examples) print(`${name}: ${(await load()).title}`);
  print(`${examples.size} example(s). Usage: ${USAGE}`);
  return 0;
}

async function runEach(names: readonly string[], examples: Registry, theatre: Theatre): Promise<number> {
  const { print } = theatre;
  let failed = 0;
  for (const name of names) {
    try {
      const example = await examples.get(name)?.();
      print(`--- ${name}: ${example?.title ?? ''}`);
      await example?.run(print, theatre);
    } catch (error) {
      failed += 1;
      print(`Example "${name}" failed.`);
      for (const line of describe(error).split('\n')) print(`  ${line}`);
    } finally {
      theatre.end();
    }
  }
  return failed > 0 ? 1 : 0;
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
