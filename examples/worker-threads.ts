import { Scheduler, TimeoutError } from '../src/index.js';
import { WorkerThreads, type ThreadTask } from '../src/worker-threads.js';
import * as handlers from './prime-handlers.js';
import type { Stage } from './stage.js';

export const title = 'Worker threads: arithmetic that would stop everything else, and a handler that never ends';

/** The event loop of this process stays free while threads count, and a thread that hangs is replaced. */
export async function run(print: (line: string) => void, stage: Stage): Promise<void> {
  const threads = new WorkerThreads({
    module: new URL('./prime-handlers.js', import.meta.url),
    threads: 2,
    grace: '50ms',
  });
  const scheduler = new Scheduler({ executors: [threads] });
  stage.watch(scheduler);

  // The same function as in the module, so that input and result are typed; asking for a thread is what sends it there.
  const count: (below: number, task: ThreadTask) => number = handlers.primes;
  const primes = scheduler.define('primes', count, { capabilities: { thread: true } });
  const spin = scheduler.define('spin', handlers.spin, { capabilities: { thread: true }, timeout: '200ms' });

  const hanging = scheduler.add(spin, undefined).result.catch((error: unknown) => error);
  const counted = [10_000, 20_000, 50_000].map((below) => scheduler.add(primes, below));
  const here = scheduler.add(() => 'this process answers meanwhile');

  print(await here);
  for (const handle of counted) print(`${await handle} primes`);
  const error = await hanging;
  print(error instanceof TimeoutError ? `spin was ended: ${error.message}` : String(error));
  await scheduler.close();
}
