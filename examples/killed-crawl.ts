import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SMALL_WEB } from './small-web.js';

/** What a process said of itself before it ended. */
interface Told {
  readonly fetched: string[];
  /** The pages that the store had when this was told. */
  readonly kept: string[];
}

/**
 * Crawls a small web in a process that is killed in the middle, then in another one on the same place. Both are real, and so
 * is the kill: nothing in the first one gets to do anything about it.
 */
export async function crawlTwice(example: string, place: string, print: (line: string) => void): Promise<void> {
  const first = await crawl(example, place, print, 5);
  print('(the first process was killed)');
  const second = await crawl(example, place, print);

  const again = second.fetched.filter((page) => first.fetched.includes(page));
  const needlessly = again.filter((page) => first.kept.includes(page));
  const lost = [...SMALL_WEB.keys()].filter((page) => !first.kept.includes(page) && !second.kept.includes(page));
  print(`fetched again, as their process was killed meanwhile: ${again.join(', ') || 'none'}`);
  print(`${SMALL_WEB.size} pages: ${lost.length} lost, ${needlessly.length} fetched again needlessly`);
}

/** Runs one process to its end, or until it has told of so many pages that the store has them. */
async function crawl(example: string, place: string, print: (line: string) => void, pages = Infinity): Promise<Told> {
  const program = fileURLToPath(new URL('./crawl-process.js', import.meta.url));
  const child = spawn(process.execPath, [program, example, place], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const told: Told = { fetched: [], kept: [] };
  for await (const line of createInterface({ input: child.stdout })) {
    print(`process ${pages === Infinity ? 2 : 1} ${line}`);
    const [what, page = ''] = line.split(' ');
    (what === 'fetches' ? told.fetched : told.kept).push(page);
    if (told.kept.length === pages) child.kill('SIGKILL');
  }
  const [code, signal] = (await ended) as [number | null, string | null];
  if (code !== 0 && signal !== 'SIGKILL') throw new Error(`The crawl ended with ${String(code ?? signal)}`);
  return told;
}
