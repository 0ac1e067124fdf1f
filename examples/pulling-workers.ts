import { Scheduler, type PullingWorker } from '../src/index.js';
import type { Stage } from './stage.js';

export const title = 'Pulling workers: two machines take what suits them, and one of them dies';

/** Nothing runs by itself here: workers ask for tasks when they have room, and hold each under a lease. */
export async function run(print: (line: string) => void, stage: Stage): Promise<void> {
  const scheduler = new Scheduler({ concurrency: 0 });
  stage.watch(scheduler);

  const films = ['trailer', 'teaser', 'credits'].map((id) => {
    return scheduler.add((task) => `${id} rendered at attempt ${task.attempt}`, { id, capabilities: { gpu: true } });
  });
  const mails = ['invoice', 'reminder'].map((id) => scheduler.add(() => `${id} sent`, { id, channel: 'mail' }));

  // A worker with a GPU claims one film and is never heard of again: what happens to the film?
  const dying = scheduler.worker({ id: 'dying', capabilities: { gpu: true }, lease: '50ms' });
  const lost = await dying.next();
  print(`dying took ${lost.task.id} and fell silent`);

  // Each worker is a loop. A slot is free again when its claim is settled, so this one does one thing at a time.
  const work = async (worker: PullingWorker): Promise<void> => {
    for await (const claim of worker) {
      print(`${worker.id} takes ${claim.task.id}`);
      await claim.run();
    }
  };
  // The renderer takes films only. The clerk has no GPU, so mail is all that is left for it.
  const renderer = scheduler.worker({
    id: 'renderer',
    capabilities: { gpu: true },
    slots: 1,
    filter: ({ channel }) => channel !== 'mail',
  });
  const clerk = scheduler.worker({ id: 'clerk', slots: 1 });
  const loops = [work(renderer), work(clerk)];

  // The lease of the dead worker has ended by the time this resolves, and the renderer has had its film as well.
  for (const handle of [...films, ...mails]) print(await handle);
  try {
    await lost.complete('too late');
  } catch (error) {
    print(`dying woke up: ${(error as Error).message}`);
  }

  // Loops end with their workers.
  await Promise.all([dying, renderer, clerk].map((worker) => worker.close()));
  await Promise.all(loops);
  await scheduler.close();
}
