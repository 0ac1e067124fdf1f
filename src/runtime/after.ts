import type { DependencyInput } from '../core/index.js';
import { fieldsOf, parseChoice, refuseTask, type FailurePolicy, type Task } from '../model/index.js';
import { Handle, type HandleHost } from './handle.js';

/** What may be waited for: a handle, an id, or either with what should happen if it does not complete. */
export type After =
  Handle<unknown> | string | { readonly task: Handle<unknown> | string; readonly onFailure: FailurePolicy };

/**
 * What a handler finds as the results of the tasks it comes after, in the order they were named. Where one may fail
 * without stopping the task, there may be nothing in its place.
 */
export type ResultsOf<Tasks extends readonly After[], Policy extends FailurePolicy = FailurePolicy> = {
  readonly [At in keyof Tasks]: ResultOf<Tasks[At], Policy>;
};

/** What a handler finds as the result of one task; of one that was named by its id, nothing is known. */
export type ResultOf<Each, Policy> =
  Each extends Handle<infer Result>
    ? Result | ('run' extends Policy ? undefined : never)
    : Each extends { readonly task: Handle<infer Result>; readonly onFailure: infer Own }
      ? Result | ('run' extends Own ? undefined : never)
      : unknown;

const NONE: readonly DependencyInput[] = [];
const NO_GAPS: readonly number[] = [];
const POLICIES = ['fail', 'skip', 'run'] as const;
const EXPECTED = 'a handle of this scheduler, the id of a task, or { task, onFailure }';

/** The tasks to come after, as the core names them. */
export function parseAfter(after: readonly After[] | undefined, host: HandleHost): readonly DependencyInput[] {
  if (after === undefined) return NONE;
  if (!Array.isArray(after)) return refuseTask('after', after, `a list of which each is ${EXPECTED}`);
  // Loops, here and below: this is done for every task with dependencies, and a closure costs it a tenth.
  const parsed = new Array<DependencyInput>(after.length);
  for (let i = 0; i < after.length; i += 1) parsed[i] = parseOne(after[i] as After, i, host);
  return parsed;
}

/** The places of those that have ended and been forgotten: the core links nothing there. */
export function forgottenIn(after: readonly DependencyInput[], isKnown: (id: string) => boolean): readonly number[] {
  let gaps: number[] | undefined;
  for (let at = 0; at < after.length; at += 1) {
    const each = after[at];
    const task = typeof each === 'object' && 'onFailure' in each ? each.task : each;
    if (typeof task === 'string' && !isKnown(task)) (gaps ??= []).push(at);
  }
  return gaps ?? NO_GAPS;
}

function parseOne(after: After, index: number, host: HandleHost): DependencyInput {
  if (typeof after === 'string') return after;
  if (after instanceof Handle && after.belongsTo(host)) return refOf(after);
  const field = `after[${index}]`;
  if (after instanceof Handle) return refuseTask(field, after, EXPECTED);
  const given = new Map(fieldsOf(after, field, (at, value) => refuseTask(at, value, EXPECTED)));
  const onFailure = parseChoice(given.get('onFailure'), POLICIES, `${field}.onFailure`, refuseTask);
  return { task: parseTask(given.get('task'), `${field}.task`, host), onFailure };
}

/** One that waits to be let in is known by its id until it is in, which is before whoever came after it. */
function refOf(handle: Handle<unknown>): Task | string {
  return handle.task ?? handle.id;
}

function parseTask(task: unknown, field: string, host: HandleHost): Task | string {
  if (typeof task === 'string') return task;
  if (task instanceof Handle && task.belongsTo(host)) return refOf(task as Handle<unknown>);
  return refuseTask(field, task, EXPECTED);
}
