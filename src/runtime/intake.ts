import { parseSeries, type Belonging } from '../core/index.js';
import {
  CancelledError,
  RECURRENCE_OPTION_NAMES,
  UnknownHandlerError,
  checkSharing,
  checkUnshared,
  parseName,
  parseTaskOptions,
  refuseTask,
  type RecurrenceSpec,
  type SchedulerError,
  type Task,
  type TaskSpec,
} from '../model/index.js';
import { ADD_OPTION_NAMES, isDetached, signalIn, type AddOptions } from './add-options.js';
import { parseAfter } from './after.js';
import type { Arrivals } from './arrivals.js';
import { Batch } from './batch.js';
import { Definition, Definitions } from './definition.js';
import { checkFunction, isDurable } from './durable.js';
import type { Application } from './entrance.js';
import { Handle, type Handler, type HandleHost } from './handle.js';
import type { Keeping } from './keeping.js';
import type { RepeatOptions } from './series-handle.js';
import { CancelSignals, SignalledHandle, reasonOf } from './signals.js';

/** Who adds it lets it in above the bound, and does not take it along. */
const DETACHED: Belonging = { origin: 'child' };
/** What may be said about a series that is not the model's to read. */
const REPEAT_OPTION_NAMES: ReadonlySet<string> = new Set([...RECURRENCE_OPTION_NAMES, 'signal']);

/** What the intake needs of its scheduler. */
interface IntakeHost extends HandleHost {
  readonly keeping: Keeping | undefined;
}

/** A task that was asked for properly, and why it cannot come in nevertheless. */
interface Prepared {
  readonly application: Application;
  readonly refusal: SchedulerError | undefined;
}

/** What a series is made of. */
export interface Repeated {
  readonly handler: Handler<unknown>;
  readonly input: unknown;
  readonly spec: TaskSpec;
  readonly recurrence: RecurrenceSpec;
  /** Aborting it cancels the series. */
  readonly signal: AbortSignal | undefined;
}

/** Where whatever is added comes through: what is malformed is refused here, and a handle made of the rest. */
export class Intake {
  readonly definitions = new Definitions();
  readonly signals = new CancelSignals();

  constructor(
    private readonly host: IntakeHost,
    private readonly arrivals: Arrivals,
  ) {}

  /** A function comes with its options; anything else with its input, and then its options. */
  add(run: unknown, second: unknown, third: unknown, parent?: Task): Handle<unknown> {
    const options = (typeof run === 'function' ? second : third) as AddOptions | undefined;
    const isPlain = parent === undefined && options?.signal === undefined && options?.detached === undefined;
    if (isPlain && typeof run === 'function') return this.addFunction(run as Handler<unknown>, options);
    const belonging = parent === undefined ? undefined : isDetached(options) ? DETACHED : { parent };
    const { application, refusal } = this.prepare(run, second, third);
    const { handle, spec, after } = application;
    if (refusal === undefined) this.arrivals.take(handle, spec, after, belonging);
    else this.arrivals.turnAway([application], refusal);
    return handle;
  }

  /** What a series does at each occurrence, from the arguments of `repeat`; a definition nobody has made throws. */
  repeated(run: unknown, second: unknown, third: unknown): Repeated {
    const isFunction = typeof run === 'function';
    const options = (isFunction ? second : third) as RepeatOptions;
    const name = isFunction ? '' : this.nameOf(run);
    const definition = isFunction ? undefined : this.definitions.get(name);
    if (!isFunction && definition === undefined) throw new UnknownHandlerError({ type: name });
    const spec = parseTaskOptions(options, name, REPEAT_OPTION_NAMES, definition?.spec);
    checkUnshared(spec, 'each occurrence of a series is a task of its own');
    if (spec.delayMs > 0) refuseTask('delay', spec.delayMs, 'no delay in a series: say when it begins with eta');
    if (isFunction) this.checkFunction(run, spec);
    if (this.host.keeping !== undefined && spec.id === undefined && isDurable(spec)) {
      refuseTask('id', undefined, 'an id, as the store keeps the series: without one each start would begin it anew');
    }
    const handler = definition?.run ?? (run as Handler<unknown>);
    const signal = signalIn(options);
    if (signal?.aborted === true) throw new CancelledError({ taskId: spec.id ?? '', reason: reasonOf(signal) });
    return {
      handler,
      input: isFunction ? undefined : this.carried(second, spec),
      spec,
      recurrence: parseSeries(options),
      signal,
    };
  }

  private checkFunction(run: unknown, spec: TaskSpec): void {
    if (this.host.keeping !== undefined) checkFunction(run, spec);
  }

  /** The input as the task carries it: with a store, as that has it. */
  private carried(input: unknown, spec: TaskSpec): unknown {
    const { keeping } = this.host;
    return keeping === undefined || !isDurable(spec) ? input : keeping.payloads.input(input, spec);
  }

  /** Refuses what could never be added. */
  check(run: unknown, options: AddOptions): void {
    const name = typeof run === 'function' ? '' : this.nameOf(run);
    const spec = parseTaskOptions(options, name, ADD_OPTION_NAMES, this.definitions.get(name)?.spec);
    checkUnshared(spec, 'each item has a task of its own');
    if (typeof run === 'function') this.checkFunction(run, spec);
    signalIn(options);
  }

  private addFunction(run: Handler<unknown>, options: AddOptions | undefined): Handle<unknown> {
    const { host } = this;
    const spec = parseTaskOptions(options, '', ADD_OPTION_NAMES);
    if (host.keeping !== undefined) checkFunction(run, spec);
    if (spec.rare !== undefined) checkSharing(spec);
    const after = parseAfter(options?.after, host);
    const handle = new Handle(host, run);
    this.arrivals.take(handle, spec, after);
    return handle;
  }

  /** A task from the arguments of `add`; of one in a batch those that it comes after may be named by position. */
  private prepare(run: unknown, second: unknown, third: unknown, positions?: ReadonlyMap<unknown, number>): Prepared {
    const isFunction = typeof run === 'function';
    const options = (isFunction ? second : third) as AddOptions | undefined;
    const name = isFunction ? '' : this.nameOf(run);
    const definition = isFunction ? undefined : this.definitions.get(name);
    const spec = parseTaskOptions(options, name, ADD_OPTION_NAMES, definition?.spec);
    checkSharing(spec);
    const after = parseAfter(options?.after, this.host, positions);
    const signal = signalIn(options);
    // Also where there is no parent, and it means nothing.
    isDetached(options);
    const handler = isFunction ? (run as Handler<unknown>) : (definition?.run ?? nothing);
    const handle =
      signal === undefined || signal.aborted
        ? new Handle(this.host, handler)
        : new SignalledHandle(this.host, handler, signal, this.signals);
    if (isFunction) this.checkFunction(run, spec);
    else handle.input = this.carried(second, spec);
    const application = { handle, spec, after };
    if (!isFunction && definition === undefined) {
      return { application, refusal: new UnknownHandlerError({ type: name }) };
    }
    if (signal?.aborted !== true) return { application, refusal: undefined };
    return { application, refusal: new CancelledError({ taskId: spec.id ?? '', reason: reasonOf(signal) }) };
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
