import type { DependencyInput } from '../core/index.js';
import { fieldsOf, parseChoice, refuseTask, type FailurePolicy } from '../model/index.js';
import { Handle, type HandleHost } from './handle.js';

/** What may be waited for: a handle, an id, or either with what should happen if it does not complete. */
export type After =
  Handle<unknown> | string | { readonly task: Handle<unknown> | string; readonly onFailure: FailurePolicy };

const NONE: readonly DependencyInput[] = [];
const POLICIES = ['fail', 'skip', 'run'] as const;
const EXPECTED = 'a handle of this scheduler, the id of a task, or { task, onFailure }';

/** The tasks to come after, as the core names them. */
export function parseAfter(after: readonly After[] | undefined, host: HandleHost): readonly DependencyInput[] {
  if (after === undefined) return NONE;
  if (!Array.isArray(after)) return refuseTask('after', after, `a list of which each is ${EXPECTED}`);
  return after.map((each: After, i) => parseOne(each, i, host));
}

function parseOne(after: After, index: number, host: HandleHost): DependencyInput {
  if (typeof after === 'string') return after;
  if (after instanceof Handle && after.belongsTo(host)) return after.task;
  const field = `after[${index}]`;
  if (after instanceof Handle) return refuseTask(field, after, EXPECTED);
  const given = new Map(fieldsOf(after, field, (at, value) => refuseTask(at, value, EXPECTED)));
  const onFailure = parseChoice(given.get('onFailure'), POLICIES, `${field}.onFailure`, refuseTask);
  return { task: parseTask(given.get('task'), `${field}.task`, host), onFailure };
}

function parseTask(task: unknown, field: string, host: HandleHost): Handle<unknown>['task'] | string {
  if (typeof task === 'string') return task;
  if (task instanceof Handle && task.belongsTo(host)) return (task as Handle<unknown>).task;
  return refuseTask(field, task, EXPECTED);
}
