import { parseName, parseTaskOptions, refuseTask, type TaskOptions, type TaskSpec } from '../model/index.js';
import type { Given } from './given.js';
import type { Handler, TaskContext } from './handle.js';
import { showAs } from './shown.js';

/** The function behind a definition: what it does with one input. */
export type DefinedHandler<Input, Result, Dependencies extends readonly unknown[] = readonly unknown[]> = (
  input: Input,
  task: TaskContext<Dependencies, Input>,
) => Given<Result>;

/** What may be said about all tasks of a definition; what a call says itself counts instead. */
export type DefinitionOptions = Omit<TaskOptions, 'id'>;

/**
 * A handler with a name: tasks of it are added with an input, and limits, means and the critical path know them by the
 * name. It belongs to the scheduler that made it with `define`.
 */
export class Definition<Input, Result, in Dependencies extends readonly unknown[] = readonly unknown[]> {
  static {
    showAs(Definition, 'Definition', ({ name }) => ({ name }));
  }

  /** What it takes, comes after and gives. Only types know it: there is no such field, but without it any function would do. */
  declare readonly types: (input: Input, dependencies: Dependencies) => Result;
  /** @internal One function for all tasks, each of which brings its input. */
  readonly run: Handler<Result>;

  /** @internal */
  constructor(
    readonly name: string,
    handler: DefinedHandler<Input, Result, Dependencies>,
    /** @internal Where options were given; the others share one spec for their name. */
    readonly spec: TaskSpec | undefined,
  ) {
    const byInput = handler as DefinedHandler<unknown, Result>;
    this.run = (task) => byInput(task.input, task);
  }
}

/** The definitions of a scheduler, by name. */
export class Definitions {
  private readonly byName = new Map<string, Definition<unknown, unknown>>();

  add<Input, Result, Dependencies extends readonly unknown[]>(
    given: string,
    handler: DefinedHandler<Input, Result, Dependencies>,
    options: DefinitionOptions | undefined,
  ): Definition<Input, Result, Dependencies> {
    const name = parseName(given, 'name');
    if (this.byName.has(name)) refuseTask('name', name, 'a name that is not defined yet');
    if (typeof handler !== 'function') refuseTask('handler', handler, 'a function of the input and the task');
    const id = (options as TaskOptions | undefined)?.id;
    if (id !== undefined) refuseTask('id', id, 'no id in a definition: each of its tasks has its own');
    const spec = options === undefined ? undefined : parseTaskOptions(options, name);
    const definition = new Definition<Input, Result, Dependencies>(name, handler, spec);
    this.byName.set(name, definition as Definition<unknown, unknown>);
    return definition;
  }

  get(name: string): Definition<unknown, unknown> | undefined {
    return this.byName.get(name);
  }
}
