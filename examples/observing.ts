import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Scheduler, describeExplanation, type EventMessage, type Logger } from '../src/index.js';

export const title = 'Observing: events, a log, a diagnostics channel, statistics, a timeline';

/** Two channels share one slot; everything is looked at in every way there is. */
export async function run(print: (line: string) => void): Promise<void> {
  const scheduler = new Scheduler({ concurrency: 1, strategy: 'fair', logger: loggerTo(print), timeline: true });

  scheduler.on('started', ({ taskId, attempt, workerId }) => {
    print(`${taskId}#${attempt} starts on ${workerId}`);
  });
  scheduler.on('retrying', ({ taskId, delayMs }) => {
    print(`${taskId} is tried again in ${delayMs} ms`);
  });
  scheduler.on('progress', ({ taskId, progress }) => {
    print(`${taskId} has come to ${String(progress)}`);
  });
  // A listener may do whatever it likes: what comes of it is told afterwards.
  scheduler.once('completed', ({ taskId }) => {
    scheduler.add(() => `thanks for ${taskId}`, { id: 'thanks', priority: 'idle' });
  });
  // One that throws disturbs nobody.
  scheduler.once('added', () => {
    throw new Error('a broken listener');
  });
  scheduler.on('error', ({ eventName, error }) => {
    print(`a listener to ${eventName} failed: ${String(error)}`);
  });

  let published = 0;
  const count = (message: unknown): void => {
    const { name } = message as EventMessage;
    if (name === 'completed') published += 1;
  };
  subscribe('precedence:event', count);

  const fetched = scheduler.add(
    (task) => {
      task.progress(0.5);
      if (task.attempt === 1) throw new Error('line busy');
      return 'a page';
    },
    { id: 'fetch', channel: 'acme', retry: { attempts: 2, backoff: 'fixed', base: 5, jitter: false } },
  );
  const parsed = scheduler.add((task) => `parsed ${task.dependencies[0]}`, {
    id: 'parse',
    channel: 'acme',
    after: [fetched],
  });
  scheduler.add(() => 'mail', { id: 'mail', channel: 'other' });

  print(`the order is ${scheduler.describeOrder()}`);
  for (const { id, state, channel } of scheduler.pending()) print(`${id} of ${channel} is ${state}`);
  print(describeExplanation(scheduler.explain('parse')));

  print(await parsed);
  await scheduler.onIdle();

  const { ended, claims, retries, channels } = scheduler.stats();
  print(`${ended.completed} completed in ${claims} attempts, ${retries} of them tried again`);
  for (const { channel, claimed, pending } of channels) print(`${channel}: ${claimed} claimed, ${pending} pending`);
  print(`${published} ends were published`);

  const trace = JSON.stringify(scheduler.timeline());
  print(`a trace of ${trace.length} characters, for ui.perfetto.dev`);

  unsubscribe('precedence:event', count);
  await scheduler.close();
}

/** What pino would do, in short: failures and warnings, with whom they are about. */
function loggerTo(print: (line: string) => void): Logger {
  const silent = (): void => undefined;
  const write = (record: object, message: string): void => {
    print(`log: ${message} ${JSON.stringify(record)}`);
  };
  return { debug: silent, info: silent, warn: write, error: write };
}
