import { InvalidTaskError, fieldsOf, pathTo, refuseTask } from '../model/index.js';
import type { AddOptions } from './add-options.js';
import type { Batch } from './batch.js';
import type { Definition } from './definition.js';
import type { Handle, Handler } from './handle.js';

/** One of the tasks that `addAll` adds: a function, or a definition (or its name) and an input; and the options. */
export interface AddAllEntry extends AddOptions {
  readonly run?: Handler<unknown> | Definition<never, unknown, never> | undefined;
  /** Of a definition, in place of `run`. */
  readonly name?: string | undefined;
  readonly input?: unknown;
}

/** What comes of one entry. */
export type EntryResult<Entry> = Entry extends { readonly run: infer Run } ? RunResult<Run> : unknown;

/** What comes of a definition, or of a function. */
export type RunResult<Run> =
  Run extends Definition<never, infer Result, never>
    ? Result
    : Run extends (task: never) => infer Result
      ? Awaited<Result>
      : unknown;

/** The same entries, of which each has the input that its definition asks for. */
export type CheckedEntries<Entries> = {
  readonly [At in keyof Entries]: Entries[At] extends { readonly run: Definition<infer Input, unknown, never> }
    ? undefined extends Input
      ? { readonly input?: Input }
      : { readonly input: Input }
    : unknown;
};

/** A handle for each entry, in the same form. */
export type EntryHandles<Entries> = { -readonly [At in keyof Entries]: Handle<EntryResult<Entries[At]>> };

/** Adds the entries to the batch, and gives their handles in the same form. */
export function addEntries(batch: Batch, entries: unknown): unknown {
  if (Array.isArray(entries)) {
    return entries.map((entry: unknown, at) => addEntry(batch, entry, `tasks[${at}]`));
  }
  const given = fieldsOf(entries, 'tasks', (field, value) => refuseTask(field, value, 'a list or a record of tasks'));
  batch.expect(given.map(([key]) => key));
  return Object.fromEntries(given.map(([key, entry]) => [key, addEntry(batch, entry, pathTo('tasks', key))]));
}

function addEntry(batch: Batch, entry: unknown, path: string): Handle<unknown> {
  const options = Object.fromEntries(fieldsOf(entry, path, refuseTask));
  const { run, name, input, ...rest } = options;
  if ((run === undefined) === (name === undefined)) {
    return refuseTask(path, entry, 'either run, a function or a definition, or the name of a definition');
  }
  try {
    return typeof run === 'function' ? batch.add(run, rest) : batch.add(run ?? name, input, rest);
  } catch (error) {
    // Which of them was meant is known here only.
    if (!(error instanceof InvalidTaskError)) throw error;
    return refuseTask(`${path}.${error.field}`, error.value, error.expected);
  }
}
