import { plainObject, refuseTask, type FailurePolicy } from '../model/index.js';
import { addEntries, type AddAllEntry, type CheckedEntries, type EntryHandles } from './add-all.js';
import type { AddOptions } from './add-options.js';
import type { After, ResultsOf } from './after.js';
import type { DefinedHandler, Definition, DefinitionOptions } from './definition.js';
import type { Handle, Handler } from './handle.js';
import { Mapping, checkSource, itemAdder, parseAhead, type MapOptions, type Source } from './mapping.js';
import { TaskReference } from './reference.js';
import { Steering } from './steering.js';

/** What follows a definition: its input, which may be left out where `undefined` will do, and the options. */
export type InputAndOptions<Input, Options> = undefined extends Input
  ? [input?: Input, options?: Options]
  : [input: Input, options?: Options];

/** Whoever tasks can be added to, by a function and its options, or by a definition, its input and its options. */
export interface Adder {
  /** Adds a function. */
  add<Result, const Tasks extends readonly After[] = readonly [], const Policy extends FailurePolicy = 'fail'>(
    run: Handler<Result, ResultsOf<Tasks, Policy>>,
    options?: AddOptions<Tasks, Policy>,
  ): Handle<Result>;
  /** Adds a task of a definition. */
  add<Input, Result, const Tasks extends readonly After[] = readonly [], const Policy extends FailurePolicy = 'fail'>(
    definition: Definition<Input, Result, ResultsOf<Tasks, Policy>>,
    ...rest: InputAndOptions<Input, AddOptions<Tasks, Policy>>
  ): Handle<Result>;
  /** Adds a task of the definition with this name. */
  add(name: string, input?: unknown, options?: AddOptions): Handle<unknown>;
}

const ignore = (): void => undefined;

/** Adding tasks. */
export abstract class Adding extends Steering implements Adder {
  /**
   * Gives a handler a name, under which its tasks are added, limited and told of. The options count for all its tasks;
   * what a call says itself counts instead. A name is defined once.
   *
   * @example
   * ```ts
   * const resize = scheduler.define('resize', (input: { url: string }, task) => shrink(input.url, task.signal), {
   *   retry: 3,
   *   timeout: '30s',
   * });
   * const small = await scheduler.add(resize, { url }, { priority: 'high' });
   * ```
   */
  define<Input, Result, Dependencies extends readonly unknown[] = readonly unknown[]>(
    name: string,
    handler: DefinedHandler<Input, Result, Dependencies>,
    options?: DefinitionOptions,
  ): Definition<Input, Result, Dependencies> {
    const definition = this.engine.intake.definitions.add(name, handler, options);
    this.engine.keeping?.defined();
    return definition;
  }

  /**
   * Adds a task: a function and its options, or a definition (or its name), its input and its options.
   *
   * What is malformed throws at once. What is refused because of how things stand (a duplicate, an unknown dependency or
   * handler, a cycle, too many tasks, needs that can never be met, a closed channel or scheduler) rejects `accepted` and
   * the result of the handle.
   */
  add<Result, const Tasks extends readonly After[] = readonly [], const Policy extends FailurePolicy = 'fail'>(
    run: Handler<Result, ResultsOf<Tasks, Policy>>,
    options?: AddOptions<Tasks, Policy>,
  ): Handle<Result>;
  add<Input, Result, const Tasks extends readonly After[] = readonly [], const Policy extends FailurePolicy = 'fail'>(
    definition: Definition<Input, Result, ResultsOf<Tasks, Policy>>,
    ...rest: InputAndOptions<Input, AddOptions<Tasks, Policy>>
  ): Handle<Result>;
  add(name: string, input?: unknown, options?: AddOptions): Handle<unknown>;
  add(run: unknown, inputOrOptions?: unknown, options?: unknown): Handle<unknown> {
    return this.engine.intake.add(run, inputOrOptions, options);
  }

  /**
   * Adds a task like {@link add}, and resolves when it was accepted, to a reference that async functions can return: it
   * cannot be awaited itself. It rejects when the task is refused.
   */
  submit<Result, const Tasks extends readonly After[] = readonly [], const Policy extends FailurePolicy = 'fail'>(
    run: Handler<Result, ResultsOf<Tasks, Policy>>,
    options?: AddOptions<Tasks, Policy>,
  ): Promise<TaskReference<Result>>;
  submit<
    Input,
    Result,
    const Tasks extends readonly After[] = readonly [],
    const Policy extends FailurePolicy = 'fail',
  >(
    definition: Definition<Input, Result, ResultsOf<Tasks, Policy>>,
    ...rest: InputAndOptions<Input, AddOptions<Tasks, Policy>>
  ): Promise<TaskReference<Result>>;
  submit(name: string, input?: unknown, options?: AddOptions): Promise<TaskReference<unknown>>;
  submit(run: unknown, inputOrOptions?: unknown, options?: unknown): Promise<TaskReference<unknown>> {
    let isMalformed = true as boolean;
    const submit = async (): Promise<TaskReference<unknown>> => {
      const handle = this.engine.intake.add(run, inputOrOptions, options);
      isMalformed = false;
      await handle.accepted;
      return new TaskReference(handle);
    };
    const reference = submit();
    // A refusal is told as an event too: one that nobody awaits must not end the process.
    if (!isMalformed) reference.catch(ignore);
    return reference;
  }

  /**
   * Adds all tasks of a list or a record, or none of them. They may come after each other, in any order: named by their
   * keys in a record, by their ids in both. The handles are given in the same form.
   *
   * @example
   * ```ts
   * const { page, report } = scheduler.addAll({
   *   page: { run: () => fetchPage(url), priority: 'high' },
   *   report: { run: (task) => publish(task.dependencies), after: ['page'] },
   * });
   * ```
   */
  addAll<const Entries extends readonly AddAllEntry[]>(
    entries: Entries & CheckedEntries<Entries>,
  ): EntryHandles<Entries>;
  addAll<const Entries extends Readonly<Record<string, AddAllEntry>>>(
    entries: Entries & CheckedEntries<Entries>,
  ): EntryHandles<Entries>;
  addAll(entries: unknown): unknown {
    return this.engine.intake.collect((batch) => addEntries(batch, entries));
  }

  /**
   * Makes a task of each item of an iterable and gives the results in the order of the items. The source is read only as
   * fast as results are taken: `ahead` says how many items may be under way, twice the concurrency unless given. A task
   * that fails ends it with its error; then, and when the reader stops early, the tasks that are left are taken back.
   * Aborting its `signal` ends it too, also while the source is silent.
   *
   * @example
   * ```ts
   * for await (const size of scheduler.map(urls, (url) => download(url), { retry: 3 })) total += size;
   * ```
   */
  map<Item, Result>(
    source: Source<Item>,
    run: DefinedHandler<Item, Result> | Definition<Item, Result>,
    options: MapOptions = {},
  ): AsyncGenerator<Result, void, undefined> {
    const { ahead, ...rest } = plainObject(options, 'options', refuseTask) as MapOptions;
    const add = itemAdder<Item, Result>(run, rest, this.engine.intake);
    const most = parseAhead(ahead, this.engine.local.spec.slots);
    return new Mapping(checkSource(source), add, most, rest.signal).results();
  }

  /**
   * Adds all tasks that the function adds to the batch, or none of them, when it returns; gives what it returns. Those
   * that come after each other have the types of each other's results.
   *
   * @example
   * ```ts
   * const sum = scheduler.batch((batch) => {
   *   const one = batch.add(() => 1);
   *   return batch.add((task) => task.dependencies[0] + 1, { after: [one] });
   * });
   * ```
   */
  batch<Value>(fill: (batch: Adder) => Value): Value {
    if (typeof fill !== 'function') refuseTask('fill', fill, 'a function that is given the batch');
    return this.engine.intake.collect((batch) => {
      const value = fill(batch);
      if (value instanceof Promise) refuseTask('fill', value, 'a function that returns when everything is added');
      return value;
    });
  }
}
