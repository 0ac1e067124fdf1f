import type { Registry } from './index.js';

type Print = (line: string) => void;

const USAGE = 'npm start -- --list | --all | <name>';

/**
 * Runs what the arguments ask for and returns the exit code: 0, 1 when an example throws, 2 when the arguments name
 * nothing that exists. Without arguments all examples are run, in the order in which they are best read.
 */
export async function runExamples(args: readonly string[], examples: Registry, write: Print): Promise<number> {
  const print: Print = (line) => {
    write(visible(line));
  };
  const [wanted = '--all', ...rest] = args;
  if (rest.length > 0) {
    print(`Expected one argument, got ${args.length}. Usage: ${USAGE}`);
    return 2;
  }
  if (wanted === '--list') return list(examples, print);
  if (wanted === '--all') return runEach([...examples.keys()], examples, print);
  if (examples.has(wanted)) return runEach([wanted], examples, print);
  print(`There is no example named "${wanted}". Usage: ${USAGE}`);
  return 2;
}

async function list(examples: Registry, print: Print): Promise<number> {
  for (const [name, load] of examples) print(`${name}: ${(await load()).title}`);
  print(`${examples.size} example(s). Usage: ${USAGE}`);
  return 0;
}

async function runEach(names: readonly string[], examples: Registry, print: Print): Promise<number> {
  let failed = 0;
  for (const name of names) {
    try {
      const example = await examples.get(name)?.();
      print(`--- ${name}: ${example?.title ?? ''}`);
      await example?.run(print);
    } catch (error) {
      failed += 1;
      print(`Example "${name}" failed.`);
      for (const line of describe(error).split('\n')) print(`  ${line}`);
    }
  }
  return failed > 0 ? 1 : 0;
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/**
 * Shows control characters instead of sending them to the terminal. Task names come from users: a line break in one
 * could forge a line of output, an escape sequence could move the cursor, a direction mark could reverse the text.
 */
function visible(line: string): string {
  return line.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    character === '\t' ? character : `\\u{${character.charCodeAt(0).toString(16)}}`,
  );
}
