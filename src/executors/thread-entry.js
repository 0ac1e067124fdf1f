// What runs in a thread. Plain JavaScript, because a thread loads this file as it is, in tests from the sources.

/**
 * Runs one attempt with the function that the user's module exports under the handler's name, and tells how it ended
 * through the port.
 *
 * @param {{ module: string, work: { name: string, input: unknown }, port: import('node:worker_threads').MessagePort }} message
 */
export default async function run({ module, work, port }) {
  const controller = new AbortController();
  port.on('message', (reason) => {
    controller.abort(Object.assign(new Error(reason.message), reason));
  });
  const { name, ...known } = work;
  const task = {
    ...known,
    signal: controller.signal,
    progress: (progress) => port.postMessage({ kind: 'progress', progress }),
    checkpoint: (state) => port.postMessage({ kind: 'checkpoint', state }),
  };
  try {
    const handler = (await import(module))[name];
    if (typeof handler !== 'function') port.postMessage({ kind: 'unknown' });
    else succeed(port, await handler(work.input, task));
  } catch (thrown) {
    port.postMessage({ kind: 'failed', error: describe(thrown) });
  }
  port.close();
}

function succeed(port, value) {
  try {
    port.postMessage({ kind: 'succeeded', value });
  } catch (error) {
    port.postMessage({ kind: 'unclonable', reason: describe(error).message });
  }
}

/** What was thrown may be anything, also something that throws when it is looked at. */
function describe(thrown) {
  try {
    if (!(thrown instanceof Error)) return { name: 'NonError', message: `${String(thrown)} was thrown` };
    const { name, message, stack, code } = thrown;
    const isCode = typeof code === 'string' || typeof code === 'number';
    return { name: String(name), message: String(message), stack: String(stack), ...(isCode ? { code } : {}) };
  } catch {
    return { name: 'NonError', message: 'something that cannot be read was thrown' };
  }
}
