import { Scheduler } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';

export const title = 'Model calls under requests and tokens per minute, with retries and a 429';

/** A provider that counts requests and tokens, as most of them do, and that once asks for a pause. */
export async function run(print: (line: string) => void): Promise<void> {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({
    clock,
    concurrency: 4,
    resources: {
      requests: { rate: 60, per: '1m', burst: 3 },
      tokens: { rate: 6_000, per: '1m', burst: 2_000 },
    },
  });
  const say = (what: string): void => {
    print(`${(clock.now().mono / 1_000).toFixed(1).padStart(5)} s  ${what}`);
  };

  let refused = false;
  const ask = (question: string, tokens: number) =>
    scheduler.add(
      async (task) => {
        say(`${question} starts, attempt ${task.attempt}`);
        await clock.sleep('2s');
        if (question === 'summary' && !refused) {
          refused = true;
          // The other side knows best: nothing that needs requests starts before it said so.
          task.report('requests', { retryAfter: '10s' });
          throw new Error('429 Too Many Requests');
        }
        // The estimate was too high: what was not used is free for others at once.
        task.report('tokens', { cost: tokens / 2 });
        return `${question} answered`;
      },
      {
        id: question,
        needs: { requests: 1, tokens },
        retry: { attempts: 3, backoff: 'exponential', base: '1s' },
      },
    );

  const answers = [ask('greeting', 200), ask('summary', 1_500), ask('translation', 1_500), ask('essay', 2_000)];
  // What does not fit is passed over until its tokens have come in; smaller calls do not wait behind it.
  const typo = ask('typo', 100);
  for (const answer of [...answers, typo]) say(await clock.until(answer));
  await scheduler.close();
}
