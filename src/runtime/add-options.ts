import type { FailurePolicy, TaskOptions } from '../model/index.js';
import type { After } from './after.js';

/** What may be said about a task when it is added. */
export interface AddOptions<
  Tasks extends readonly After[] = readonly After[],
  Policy extends FailurePolicy = FailurePolicy,
> extends TaskOptions {
  /** The tasks to come after. */
  readonly after?: Tasks | undefined;
  readonly onDependencyFailure?: Policy | undefined;
}

/** What is not the model's to read. */
export const ADD_OPTION_NAMES: ReadonlySet<string> = new Set(['after']);
