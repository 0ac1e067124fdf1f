import { Scheduler } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';

export const title = 'A media pipeline: deadlines, and long work that makes way for what is urgent';

/** One encoder. A film takes an hour of it; breaking news cannot wait for that, and the film must not start over. */
export async function run(print: (line: string) => void): Promise<void> {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({
    clock,
    resources: { encoder: 1 },
    aging: false,
    // The film looks up once a minute, so that is how long it may take to make way.
    preemption: { minRun: '1s', grace: '2m', maxPerTask: 3 },
  });
  const say = (what: string): void => {
    print(`${String(clock.now().mono / 60_000).padStart(5)} min  ${what}`);
  };
  const minutes = (count: number): number => clock.now().wall + count * 60_000;

  const film = scheduler.add(
    async (task) => {
      const from = typeof task.resumed === 'number' ? task.resumed : 0;
      say(`film: encoding from minute ${from}`);
      for (let minute = from; minute < 60; minute += 1) {
        await clock.sleep('1m');
        // What is done so far is kept, so that it need not be done again.
        task.checkpoint(minute + 1);
        task.signal.throwIfAborted();
      }
      return 'film encoded';
    },
    { id: 'film', priority: 'low', preemptible: true, needs: { encoder: 1 } },
  );
  scheduler.on('preempted', ({ taskId }) => {
    say(`${taskId} is asked to make way`);
  });
  scheduler.on('deadlineMissed', ({ taskId }) => {
    say(`${taskId} is late`);
  });

  await clock.advance('20m');
  const encode = (id: string, deadline: number, priority: 'critical' | 'high' | 'low'): void => {
    const work = async (): Promise<void> => {
      say(`${id}: encoding`);
      await clock.sleep('5m');
    };
    scheduler.add(work, { id, priority, needs: { encoder: 1 }, deadline });
  };
  // The trailer is no more urgent than the film, so nobody makes way for it; but it has a deadline, and so goes before it.
  encode('interview', minutes(30), 'high');
  encode('headline', minutes(10), 'critical');
  encode('trailer', minutes(40), 'low');

  say(await clock.until(film));
  await clock.until(scheduler.onIdle());
  await scheduler.close();
}
