import { refuseTask, type FailurePolicy, type TaskOptions } from '../model/index.js';
import type { After } from './after.js';

/** What may be said about a task when it is added. */
export interface AddOptions<
  Tasks extends readonly After[] = readonly After[],
  Policy extends FailurePolicy = FailurePolicy,
> extends TaskOptions {
  /** The tasks to come after. */
  readonly after?: Tasks | undefined;
  readonly onDependencyFailure?: Policy | undefined;
  /** Aborting it takes the task back. */
  readonly signal?: AbortSignal | undefined;
  /** Whether a child stays when its parent is taken back; without a parent it means nothing. */
  readonly detached?: boolean | undefined;
}

/** What is not the model's to read. */
export const ADD_OPTION_NAMES: ReadonlySet<string> = new Set(['after', 'signal', 'detached']);

/** The signal that takes a task or a series back. */
export function signalIn(options: Pick<AddOptions, 'signal'> | undefined): AbortSignal | undefined {
  const signal: unknown = options?.signal;
  if (signal === undefined || signal instanceof AbortSignal) return signal;
  return refuseTask('signal', signal, 'an AbortSignal');
}

/** Whether a child stays when its parent is taken back. */
export function isDetached(options: AddOptions | undefined): boolean {
  const detached: unknown = options?.detached;
  if (detached === undefined || typeof detached === 'boolean') return detached === true;
  return refuseTask('detached', detached, 'true or false');
}
