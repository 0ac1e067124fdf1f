import type { DependencyInput } from '../core/index.js';
import { Task, fieldsOf, parseChoice, refuseTask, type FailurePolicy } from '../model/index.js';
import { Handle, type HandleHost } from './handle.js';
import { TaskReference } from './reference.js';

/** A task as it may be named: by its handle, a reference to it, or its id. */
export type TaskName = Handle<unknown> | TaskReference<unknown> | string;

/** What may be waited for: a task, or one with what should happen if it does not complete. */
export type After = TaskName | { readonly task: TaskName; readonly onFailure: FailurePolicy };

/**
 * What a handler finds as the results of the tasks it comes after, in the order they were named. Where one may fail
 * without stopping the task, there may be nothing in its place.
 */
export type ResultsOf<Tasks extends readonly After[], Policy extends FailurePolicy = FailurePolicy> = {
  readonly [At in keyof Tasks]: ResultOf<Tasks[At], Policy>;
};

/** What a handler finds as the result of one task; of one that was named by its id, nothing is known. */
export type ResultOf<Each, Policy> = Each extends Handle<infer Result> | TaskReference<infer Result>
  ? Result | ('run' extends Policy ? undefined : never)
  : Each extends { readonly task: Handle<infer Result> | TaskReference<infer Result>; readonly onFailure: infer Own }
    ? Result | ('run' extends Own ? undefined : never)
    : unknown;

const NONE: readonly DependencyInput[] = [];
const NO_GAPS: readonly number[] = [];
const POLICIES = ['fail', 'skip', 'run'] as const;
const NAMED = 'a handle of this scheduler, or the id of a task';
const EXPECTED = 'a handle of this scheduler, the id of a task, or { task, onFailure }';

/** The tasks to come after, as the core names them; those of the same batch by their positions. */
export function parseAfter(
  after: readonly After[] | undefined,
  host: HandleHost,
  positions?: ReadonlyMap<unknown, number>,
): readonly DependencyInput[] {
  if (after === undefined) return NONE;
  if (!Array.isArray(after)) return refuseTask('after', after, `a list of which each is ${EXPECTED}`);
  // Loops, here and below: this is done for every task with dependencies, and a closure costs it a tenth.
  const parsed = new Array<DependencyInput>(after.length);
  for (let i = 0; i < after.length; i += 1) parsed[i] = parseOne(after[i] as After, i, host, positions);
  return parsed;
}

/** The id of a task that is named in any of the ways. */
export function idOf(task: TaskName, field: string, host: HandleHost): string {
  if (typeof task === 'string') return task;
  const handle: unknown = task instanceof TaskReference ? task.handle : task;
  if (handle instanceof Handle && handle.belongsTo(host)) return handle.id;
  return refuseTask(field, task, NAMED);
}

/** The places of those that have ended and been forgotten: the core links nothing there. */
export function forgottenIn(after: readonly DependencyInput[], isKnown: (id: string) => boolean): readonly number[] {
  let gaps: number[] | undefined;
  for (let at = 0; at < after.length; at += 1) {
    const each = after[at];
    // Most are tasks themselves, which are known.
    if (each instanceof Task) continue;
    const task = typeof each === 'object' ? each.task : each;
    if (typeof task === 'string' && !isKnown(task)) (gaps ??= []).push(at);
  }
  return gaps ?? NO_GAPS;
}

function parseOne(
  after: After,
  index: number,
  host: HandleHost,
  positions: ReadonlyMap<unknown, number> | undefined,
): DependencyInput {
  // Most are one of these, and need no words for a refusal.
  if (typeof after === 'string') return positions?.get(after) ?? after;
  if (after instanceof Handle && after.belongsTo(host)) return positions?.get(after) ?? refOf(after);
  const field = `after[${index}]`;
  if (after instanceof Handle || after instanceof TaskReference) {
    return parseTask(after, field, host, positions);
  }
  const given = new Map(fieldsOf(after, field, (at, value) => refuseTask(at, value, EXPECTED)));
  const onFailure = parseChoice(given.get('onFailure'), POLICIES, `${field}.onFailure`, refuseTask);
  return { task: parseTask(given.get('task'), `${field}.task`, host, positions), onFailure };
}

function parseTask(
  task: unknown,
  field: string,
  host: HandleHost,
  positions: ReadonlyMap<unknown, number> | undefined,
): Task | string | number {
  if (typeof task === 'string') return positions?.get(task) ?? task;
  const handle: unknown = task instanceof TaskReference ? task.handle : task;
  if (!(handle instanceof Handle && handle.belongsTo(host))) return refuseTask(field, task, EXPECTED);
  return positions?.get(handle) ?? refOf(handle as Handle<unknown>);
}

/** One that waits to be let in is known by its id until it is in, which is before whoever came after it. */
function refOf(handle: Handle<unknown>): Task | string {
  return handle.task ?? handle.id;
}
