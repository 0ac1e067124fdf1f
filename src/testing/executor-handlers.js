// The handlers that executors are checked with. Plain JavaScript, so that threads and other processes can load the file.

/** Gives back what it was given. */
export const echo = (input, { attempt, channel, dependencies, resumed, metadata }) => ({
  input,
  attempt,
  channel,
  dependencies,
  resumed,
  metadata,
});

/** Throws an error with the input as its message. */
export const fail = (input) => {
  throw new Error(String(input));
};

/** Tells how far it is three times, keeps that, and then gives it back. */
export const steps = async (input, task) => {
  for (const step of [1, 2, 3]) {
    task.progress({ step });
    task.checkpoint({ input, step });
    await Promise.resolve();
  }
  return input;
};

/** Says that it runs, and ends when its signal aborts. */
export const listen = (input, task) =>
  new Promise((resolve) => {
    if (task.signal.aborted) resolve(input);
    task.signal.addEventListener('abort', () => resolve(input), { once: true });
    task.progress('running');
  });

/** Says that it runs, and never ends. In a function of this process that would be the end of everything. */
export const spin = (_, task) => {
  task.progress('running');
  for (;;);
};

/** Ends the thread or the process that runs it. */
export const die = () => {
  process.exit(1);
};
