import { UnknownHandlerError, parseName, parseTaskOptions, refuseTask, type SchedulerError } from '../model/index.js';
import { ADD_OPTION_NAMES, type AddOptions } from './add-options.js';
import { parseAfter } from './after.js';
import type { Arrivals } from './arrivals.js';
import { Batch } from './batch.js';
import { Definition, Definitions } from './definition.js';
import type { Application } from './entrance.js';
import { Handle, type Handler, type HandleHost } from './handle.js';

/** A task that was asked for properly, and why it cannot come in nevertheless. */
interface Prepared {
  readonly application: Application;
  readonly refusal: SchedulerError | undefined;
}

/** Where whatever is added comes through: what is malformed is refused here, and a handle made of the rest. */
export class Intake {
  readonly definitions = new Definitions();

  constructor(
    private readonly host: HandleHost,
    private readonly arrivals: Arrivals,
  ) {}

  /** A function comes with its options; anything else with its input, and then its options. */
  add(run: unknown, second: unknown, third: unknown): Handle<unknown> {
    return typeof run === 'function'
      ? this.addFunction(run as Handler<unknown>, second as AddOptions | undefined)
      : this.addDefined(run, second, third as AddOptions | undefined);
  }

  private addFunction(run: Handler<unknown>, options: AddOptions | undefined): Handle<unknown> {
    const { host } = this;
    const spec = parseTaskOptions(options, '', ADD_OPTION_NAMES);
    const after = parseAfter(options?.after, host);
    const handle = new Handle(host, run);
    this.arrivals.take(handle, spec, after);
    return handle;
  }

  private addDefined(run: unknown, input: unknown, options: AddOptions | undefined): Handle<unknown> {
    const { application, refusal } = this.prepareDefined(run, input, options, undefined);
    const { handle, spec, after } = application;
    if (refusal === undefined) this.arrivals.take(handle, spec, after);
    else this.arrivals.turnAway([application], refusal);
    return handle;
  }

  /** A task of a batch, from the arguments of `add`. */
  prepare(run: unknown, second: unknown, third: unknown, positions: ReadonlyMap<unknown, number>): Prepared {
    if (typeof run !== 'function') return this.prepareDefined(run, second, third as AddOptions | undefined, positions);
    const options = second as AddOptions | undefined;
    const spec = parseTaskOptions(options, '', ADD_OPTION_NAMES);
    const after = parseAfter(options?.after, this.host, positions);
    const handle = new Handle(this.host, run as Handler<unknown>);
    return { application: { handle, spec, after }, refusal: undefined };
  }

  private prepareDefined(
    run: unknown,
    input: unknown,
    options: AddOptions | undefined,
    positions: ReadonlyMap<unknown, number> | undefined,
  ): Prepared {
    const name = this.nameOf(run);
    const definition = this.definitions.get(name);
    const spec = parseTaskOptions(options, name, ADD_OPTION_NAMES, definition?.spec);
    const after = parseAfter(options?.after, this.host, positions);
    const handle = new Handle(this.host, definition?.run ?? nothing);
    handle.input = input;
    const refusal = definition === undefined ? new UnknownHandlerError({ type: name }) : undefined;
    return { application: { handle, spec, after }, refusal };
  }

  /** Collects tasks and takes them in together; where collecting throws, none. */
  collect<Value>(fill: (batch: Batch) => Value): Value {
    const batch = new Batch((...call) => this.prepare(...call), this.arrivals);
    try {
      const value = fill(batch);
      batch.end();
      return value;
    } catch (error) {
      batch.giveUp();
      throw error;
    }
  }

  private nameOf(run: unknown): string {
    if (run instanceof Definition && this.definitions.get(run.name) === run) return run.name;
    if (typeof run === 'string') return parseName(run, 'name');
    return refuseTask('run', run, 'a function, a definition of this scheduler, or the name of one');
  }
}

const nothing = (): void => undefined;
