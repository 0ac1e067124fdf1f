import { Scheduler, type Strategy } from '../src/index.js';

export const title = 'A strategy of your own: the shortest first';

/** A strategy is a rank and a sentence about it. Aging, channels and resources go on as before. */
export async function run(print: (line: string) => void): Promise<void> {
  const pages = new Map([
    ['thesis', 300],
    ['letter', 1],
    ['flyer', 2],
    ['brochure', 12],
    ['novel', 220],
  ]);
  const shortestFirst: Strategy = {
    name: 'shortest-first',
    rank: (task) => pages.get(task.id) ?? Infinity,
    describe: () => 'pages → FIFO',
  };

  const scheduler = new Scheduler({ concurrency: 1, strategy: shortestFirst });
  const printed: string[] = [];
  for (const id of pages.keys()) scheduler.add(() => printed.push(id), { id });
  await scheduler.onIdle();
  print(`${scheduler.describeOrder()}: ${printed.join(', ')}`);
  await scheduler.close();
}
