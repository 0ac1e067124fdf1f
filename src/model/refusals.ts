import { SchedulerError } from './scheduler-error.js';
import { cut, show } from './show.js';
import type { CapabilityValue } from './spec.js';

// Names are set on the prototypes because the engine writes the first line of a stack from there.

/** The path of a field is told up to so many characters. */
const FIELD_CHARACTERS = 200;

/** What an argument was, and what it should have been. */
export interface InvalidValue {
  /** The option, with its path where it is nested: `retry.base`, `needs.gpu`. */
  readonly field: string;
  readonly value: unknown;
  /** Completes the sentence "expected ...". */
  readonly expected: string;
}

/** A task's option, name or argument is malformed; nothing was added. */
export class InvalidTaskError extends SchedulerError {
  static {
    InvalidTaskError.prototype.name = 'InvalidTaskError';
  }
  readonly code = 'INVALID_TASK';
  readonly field: string;
  readonly value: unknown;
  readonly expected: string;

  constructor(data: InvalidValue) {
    super(`Invalid task: ${cut(data.field, FIELD_CHARACTERS)} is ${show(data.value)}; expected ${data.expected}.`);
    this.field = data.field;
    this.value = data.value;
    this.expected = data.expected;
  }
}

/** An option of the scheduler, a worker or a store is malformed. */
export class InvalidConfigError extends SchedulerError {
  static {
    InvalidConfigError.prototype.name = 'InvalidConfigError';
  }
  readonly code = 'INVALID_CONFIG';
  readonly field: string;
  readonly value: unknown;
  readonly expected: string;

  constructor(data: InvalidValue) {
    super(
      `Invalid configuration: ${cut(data.field, FIELD_CHARACTERS)} is ${show(data.value)}; expected ${data.expected}.`,
    );
    this.field = data.field;
    this.value = data.value;
    this.expected = data.expected;
  }
}

/** The id is already taken by a task the scheduler still knows. */
export class DuplicateTaskError extends SchedulerError {
  static {
    DuplicateTaskError.prototype.name = 'DuplicateTaskError';
  }
  readonly code = 'DUPLICATE_TASK';
  readonly taskId: string;

  constructor(data: { readonly taskId: string }) {
    super(
      `Task ${show(data.taskId)} was already added. Use another id, or wait until it has ended and retain forgets it.`,
    );
    this.taskId = data.taskId;
  }
}

/** No task with this id is known: not yet, or not any more. */
export class UnknownTaskError extends SchedulerError {
  static {
    UnknownTaskError.prototype.name = 'UnknownTaskError';
  }
  readonly code = 'UNKNOWN_TASK';
  readonly taskId: string;
  /** Whether it was added, and waits to be let in. */
  readonly isOutside: boolean;

  constructor(data: { readonly taskId: string; readonly isOutside?: boolean }) {
    const { taskId, isOutside = false } = data;
    super(
      isOutside
        ? `Task ${show(taskId)} waits to be let in, and is not known before. Await its handle's accepted first.`
        : `No task ${show(taskId)} is known. It was never added, or it finished and is no longer retained.`,
    );
    this.taskId = taskId;
    this.isOutside = isOutside;
  }
}

/** A task depends on an id that nobody added. */
export class UnknownDependencyError extends SchedulerError {
  static {
    UnknownDependencyError.prototype.name = 'UnknownDependencyError';
  }
  readonly code = 'UNKNOWN_DEPENDENCY';
  readonly taskId: string;
  readonly dependencyId: string;

  constructor(data: { readonly taskId: string; readonly dependencyId: string }) {
    super(
      `Task ${show(data.taskId)} depends on ${show(data.dependencyId)}, which was never added or is no longer ` +
        'retained. Add the dependency before, or both together with addAll().',
    );
    this.taskId = data.taskId;
    this.dependencyId = data.dependencyId;
  }
}

/** A task is of a type that no handler was defined for. */
export class UnknownHandlerError extends SchedulerError {
  static {
    UnknownHandlerError.prototype.name = 'UnknownHandlerError';
  }
  readonly code = 'UNKNOWN_HANDLER';
  readonly type: string;
  /** How many tasks and series wait for it that have come back after a restart. */
  readonly waiting: number;

  constructor(data: { readonly type: string; readonly waiting?: number }) {
    const { type, waiting = 0 } = data;
    super(
      waiting === 0
        ? `No handler is defined for ${show(type)}. Call define() with that name before adding its tasks.`
        : `No handler is defined for ${show(type)}, for which ${waiting} recovered tasks wait. Call define() with that name.`,
    );
    this.type = type;
    this.waiting = waiting;
  }
}

const SHOWN_PATH = 12;

/** Tasks would wait for each other in a circle. */
export class CycleError extends SchedulerError {
  static {
    CycleError.prototype.name = 'CycleError';
  }
  readonly code = 'CYCLE';
  /** Each task depends on the one after it, and the last is the first again. */
  readonly path: readonly string[];

  constructor(data: { readonly path: readonly string[] }) {
    const shown = data.path.slice(0, SHOWN_PATH).map(show);
    if (data.path.length > SHOWN_PATH) shown.push(`… (${data.path.length - SHOWN_PATH} more)`);
    super(`These tasks would wait for each other: ${shown.join(' → ')}. Remove one of these dependencies.`);
    this.path = data.path;
  }
}

/** What a task needs and cannot get: more of a resource than there is, or capabilities that no worker offers. */
export type Unschedulable = { readonly taskId: string } & (
  | {
      readonly resource: string;
      readonly need: number;
      readonly capacity: number;
      /** The resources there are, where this is none of them. */
      readonly known?: Iterable<string>;
    }
  | { readonly capabilities: readonly (readonly [name: string, value: CapabilityValue])[] }
);

/** A task needs more of a resource than there is, or what no worker offers, so that it could never start. */
export class UnschedulableError extends SchedulerError {
  static {
    UnschedulableError.prototype.name = 'UnschedulableError';
  }
  readonly code = 'UNSCHEDULABLE';
  readonly taskId: string;
  /** The resource, with the need and the capacity; `undefined` where capabilities are missing. */
  readonly resource: string | undefined = undefined;
  readonly need: number | undefined = undefined;
  readonly capacity: number | undefined = undefined;
  /** What no worker offers, or not together; empty where a resource is short. */
  readonly capabilities: readonly (readonly [name: string, value: CapabilityValue])[] = [];

  constructor(data: Unschedulable) {
    super(`Task ${show(data.taskId)} ${'resource' in data ? tellShortage(data) : tellMissing(data.capabilities)}`);
    this.taskId = data.taskId;
    if ('resource' in data) {
      this.resource = data.resource;
      this.need = data.need;
      this.capacity = data.capacity;
    } else {
      this.capabilities = data.capabilities;
    }
  }
}

function tellShortage({ need, resource, capacity, known }: Extract<Unschedulable, { resource: string }>): string {
  if (known !== undefined) {
    const names = [...known].slice(0, SHOWN_PATH).map(show).join(', ');
    return (
      `needs ${need} of ${show(resource)}, which is no resource; ${names === '' ? 'there are none' : `known are ${names}`}. ` +
      'Correct the name, or declare it first: in resources, or by setCapacity().'
    );
  }
  return (
    `needs ${need} of ${show(resource)}, but the capacity is ${capacity}. ` +
    'Lower the need, or raise the capacity (of a rate: its burst) first.'
  );
}

function tellMissing(capabilities: Extract<Unschedulable, { capabilities: unknown }>['capabilities']): string {
  const asked = capabilities.slice(0, SHOWN_PATH).map(([name, value]) => `${show(name)} = ${show(value)}`);
  return (
    `asks for ${asked.join(', ')}, which no worker offers, and none may come. ` +
    'Attach a worker that does first, or let workers come later.'
  );
}

/** The bound on pending tasks is reached. */
export class SaturatedError extends SchedulerError {
  static {
    SaturatedError.prototype.name = 'SaturatedError';
  }
  readonly code = 'SATURATED';
  readonly pending: number;
  readonly maxPending: number;
  /** How many were to be added together. */
  readonly adding: number;
  /** How many more waited to be let in. */
  readonly waiting: number;

  constructor(data: SaturatedData) {
    super(saturatedText(data));
    this.pending = data.pending;
    this.maxPending = data.maxPending;
    this.adding = data.adding ?? 1;
    this.waiting = data.waiting ?? 0;
  }
}

/** How many tasks are pending, and how many may be. */
export interface SaturatedData {
  readonly pending: number;
  readonly maxPending: number;
  readonly adding?: number;
  readonly waiting?: number;
}

function saturatedText({ pending, maxPending, adding = 1, waiting = 0 }: SaturatedData): string {
  const bound = `the bound is ${maxPending}`;
  if (adding > maxPending) return `A batch of ${adding} can never come in: ${bound}. Split it, or raise maxPending.`;
  const present = `${pending} tasks are pending and ${bound}`;
  if (waiting > 0) return `${present}; ${waiting} more wait to be added. Add more slowly, or raise maxWaiting.`;
  return `${present}. Try again later, raise maxPending, or let add() wait with whenFull: 'wait'.`;
}

/** An input or a result cannot be stored: it is too large, or not data. */
export class PayloadError extends SchedulerError {
  static {
    PayloadError.prototype.name = 'PayloadError';
  }
  readonly code = 'PAYLOAD';
  /** `undefined` for a task that has no id yet. */
  readonly taskId: string | undefined;
  /** Which payload it was, such as `input` or `result`. */
  readonly part: string;
  readonly reason: string;

  constructor(data: {
    readonly taskId: string | undefined;
    /** What kind of task it is, for one without an id. */
    readonly type?: string;
    readonly part: string;
    readonly reason: string;
  }) {
    const whose = data.taskId === undefined ? `a task of ${show(data.type ?? '')}` : `task ${show(data.taskId)}`;
    super(
      `The ${data.part} of ${whose} cannot be stored: ${data.reason}. ` +
        'Keep large or live objects elsewhere and pass a reference.',
    );
    this.taskId = data.taskId;
    this.part = data.part;
    this.reason = data.reason;
  }
}
