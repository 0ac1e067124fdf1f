import type { Steps } from './given.js';
import { runPayload, type Payload } from './payload.js';
import type { RunningTask } from './running-task.js';

/** Runs what a task does; a generator is taken from yield to yield. */
export function runHandler(payload: Payload, task: RunningTask): unknown {
  const result = runPayload(payload, task);
  return isSteps(result) ? takeSteps(result, payload, task) : result;
}

/** Only what an `async function*` gives: a handler may well return something else that can be iterated. */
function isSteps(result: unknown): result is Steps<unknown> {
  if (typeof result !== 'object' || result === null) return false;
  return (result as { readonly [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === 'AsyncGenerator';
}

async function takeSteps(steps: Steps<unknown>, { context }: Payload, task: RunningTask): Promise<unknown> {
  const next = (): Promise<IteratorResult<unknown, unknown>> => steps.next();
  task.yields();
  for (;;) {
    // A generator runs in the context of whoever asks for its next step, not in that of whoever made it.
    const step = await (context === undefined ? next() : context.runInAsyncScope(next));
    if (step.done === true) return step.value;
    try {
      await task.atYield();
    } catch (error) {
      // It ends where it is, and tidies up after itself.
      await steps.return(undefined as never);
      throw error;
    }
  }
}
