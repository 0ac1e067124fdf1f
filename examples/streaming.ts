import { Scheduler } from '../src/index.js';
import type { Stage } from './stage.js';

export const title = 'Streaming a large input: a source is read only as fast as there is room';

/** A source without an end in sight. Reading all of it first would take all the memory there is. */
export async function run(print: (line: string) => void, stage: Stage): Promise<void> {
  const scheduler = new Scheduler({ concurrency: 4 });
  let read = 0;
  async function* lines(): AsyncGenerator<string> {
    while (read < 1_000) {
      read += 1;
      await Promise.resolve();
      yield `line ${read}`;
    }
  }

  let furthest = 0;
  let used = 0;
  // Four run at a time, and no more than eight are read ahead of the one that is being used.
  for await (const words of scheduler.map(lines(), (line) => line.split(' ').length, { ahead: 8 })) {
    used += 1;
    furthest = Math.max(furthest, read - used);
    if (used === 1) await stage.pause();
    if (used === 100) {
      print(`${used} lines of ${words} words each are used, ${read} were read: at most ${furthest} ahead`);
      // Whoever stops reading stops the source as well.
      break;
    }
  }
  await scheduler.close();
}
