import { Scheduler, describeExplanation, type TaskContext } from '../src/index.js';
import type { Stage } from './stage.js';

export const title = 'A first queue: priorities, a resource, dependencies, a retry';

/** The public API in real time: a few tasks that take some milliseconds each, two at a time. */
export async function run(print: (line: string) => void, stage: Stage): Promise<void> {
  const scheduler = new Scheduler({ concurrency: 2, resources: { oven: 1 } });
  stage.watch(scheduler);
  const work =
    (name: string) =>
    async (task: TaskContext): Promise<string> => {
      print(`${name} starts`);
      for (const fraction of [0.25, 0.5, 0.75, 1]) {
        await stage.pause();
        task.progress(fraction);
      }
      return name;
    };

  // All of this is added in one go, so the order of starts follows from the priorities alone.
  scheduler.add(work('sweeping'), { id: 'sweeping', priority: 'idle' });
  const dough = scheduler.add(work('dough'), { id: 'dough', priority: 'high' });
  const sauce = scheduler.add(work('sauce'), { id: 'sauce' });
  // The oven takes one thing at a time.
  const bread = scheduler.add(work('bread'), { id: 'bread', needs: { oven: 1 } });
  // Urgent itself, it makes dough and sauce urgent too: they would otherwise keep it waiting.
  const pizza = scheduler.add((task) => `pizza of ${task.dependencies.join(' and ')}`, {
    id: 'pizza',
    after: [dough, sauce],
    needs: { oven: 1 },
    priority: 'critical',
  });
  const phone = scheduler.add(
    (task) => {
      if (task.attempt === 1) throw new Error('line busy');
      return `got through at attempt ${task.attempt}`;
    },
    { id: 'phone', retry: { attempts: 3, backoff: 'fixed', base: 5 } },
  );

  print(`why does bread not run yet? ${describeExplanation(scheduler.explain('bread'))}`);
  print(await pizza);
  print(await phone);
  print(`${await bread} is done`);
  await scheduler.onIdle();
  await scheduler.close();
}
