import { Scheduler } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';

export const title = 'Tenants share a GPU fairly: one floods the queue, the others hardly notice';

/** One GPU, three tenants. Under `fair` channels take turns, however much one of them has piled up. */
export async function run(print: (line: string) => void): Promise<void> {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({
    clock,
    strategy: 'fair',
    resources: { gpu: 1 },
    // Gold pays for twice the turns of the others.
    channels: { weights: { gold: 2 } },
  });
  const order: string[] = [];
  const infer = (tenant: string, count: number): void => {
    for (let i = 0; i < count; i += 1) {
      const work = async (): Promise<void> => {
        order.push(tenant);
        await clock.sleep('1s');
      };
      scheduler.add(work, { channel: tenant, needs: { gpu: 1 } });
    }
  };

  infer('flood', 8);
  infer('gold', 4);
  await clock.advance('3500ms');
  print(`the first four turns: ${order.join(' ')}`);

  // A newcomer begins where the others stand: it gets its turns at once, and none for the time it was away.
  infer('late', 2);
  await clock.advance('3s');
  print(`with a newcomer: ${order.slice(4).join(' ')}`);

  await clock.until(scheduler.onIdle());
  print(`everybody is served after ${clock.now().mono / 1_000} s: ${order.join(' ')}`);
  print(`decided by ${scheduler.describeOrder()}`);
  await scheduler.close();
}
