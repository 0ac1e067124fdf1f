// Handlers for tests with real threads. Each test module is loaded by the thread as it is.
import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';

export const echo = (input, { id, attempt, channel, dependencies, resumed, metadata }) => ({
  input,
  task: { id, attempt, channel, dependencies, resumed, metadata },
});

export const fail = (message) => {
  throw Object.assign(new TypeError(message), { code: 'E_ON_PURPOSE' });
};

export const throwNothing = () => Promise.reject();

export const throwUnreadable = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  throw proxy;
};

export const unclonable = () => () => 'a function';

/** Stops when it is told to, and says why. */
export const listen = (_, task) =>
  new Promise((resolve) => {
    task.progress('listening');
    task.signal.addEventListener('abort', () => {
      task.progress([task.signal.reason.name, task.signal.reason.code]);
      resolve('stopped');
    });
  });

/** Never looks at anything. */
export const spin = (_, task) => {
  task.progress('spinning');
  for (;;);
};

export const count = async (until, task) => {
  const from = task.resumed ?? 0;
  for (let n = from; n < until; n += 1) task.checkpoint(n + 1);
  if (from === 0) throw new Error('once');
  return from;
};

export const exit = (code, task) => {
  if (task.attempt === 1 || code > 0) process.exit(code);
  return 'survived';
};

export const throwLater = async () => {
  setImmediate(() => {
    throw new Error('nobody catches this');
  });
  await sleep(60_000);
};

export const eatMemory = () => {
  const eaten = [];
  for (;;) eaten.push(new Array(100_000).fill(eaten.length));
};

/** Has done its work when its thread dies. */
export const dieAfter = () => {
  setImmediate(() => {
    throw new Error('too late to harm');
  });
  return threadId;
};

export const thread = () => threadId;
