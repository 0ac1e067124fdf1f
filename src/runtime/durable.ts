import type { DependencyInput, DependencyRef } from '../core/index.js';
import { InvalidTaskError, Task, refuseTask, type TaskSpec } from '../model/index.js';

/** Whether a store keeps such a task. */
export function isDurable({ rare }: Pick<TaskSpec, 'rare'>): boolean {
  return rare?.durable !== false;
}

/** A function is gone when the process ends. */
export function checkFunction(run: unknown, spec: TaskSpec): void {
  if (!isDurable(spec)) return;
  refuseTask('run', run, 'a definition or its name, as a store cannot keep a function; or add it with durable: false');
}

/** Calls that share a task share what becomes of it: it cannot be kept for one of them and not for another. */
export function checkShared(spec: TaskSpec, shared: TaskSpec | undefined): void {
  if (shared === undefined || isDurable(spec) === isDurable(shared)) return;
  const expected = `${String(isDurable(shared))}, as for the task that this call would share`;
  throw new InvalidTaskError({ field: 'durable', value: isDurable(spec), expected });
}

/** What a store keeps must not wait for what it does not: after a restart that would be nowhere, and its result neither. */
export function checkDependencies(
  spec: TaskSpec,
  after: readonly DependencyInput[],
  specOf: (ref: DependencyRef) => TaskSpec | undefined,
): void {
  if (!isDurable(spec)) return;
  for (const [at, input] of after.entries()) {
    const ref = typeof input === 'object' && !(input instanceof Task) ? input.task : input;
    const dependency = specOf(ref);
    if (dependency === undefined || isDurable(dependency)) continue;
    const value = ref instanceof Task ? ref.id : ref;
    const expected = 'a task that the store keeps, as this one is kept; or add this one with durable: false too';
    throw new InvalidTaskError({ field: `after[${at}]`, value, expected });
  }
}
